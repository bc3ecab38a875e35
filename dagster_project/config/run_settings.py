"""The settings of a run: each is declared here, as a field of `Config`, unless it is one of a source (`source_settings.py`)."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dagster_project.columns.masking_kinds import KINDS
from dagster_project.config.evaluation_sets import EvaluationSet, evaluation_sets
from dagster_project.config.masks import allowed_items, masked_kinds
from dagster_project.config.recipes import Recipe, recipes
from dagster_project.config.settings import SHARE, about, check_bounds, deciding, declared, derived, settings_of, typed
from dagster_project.config.source_settings import SYSTEMS, SourceFile
from dagster_project.errors import GristmillError

SHARES_TOLERANCE = 1e-6
MEMORY_OF_A_THREAD_MB = 128  # DuckDB asks for so much where it joins and sorts


def _satisfaction_shares(said: Any) -> Mapping[str, float]:
    """A table of system = share; in the environment as `feedback=0.5,sessions=0.5`. Systems not named have none."""
    if not said:
        return {}
    if isinstance(said, str):
        parts = [part.partition("=") for part in said.split(",")]
        said = {system.strip(): share.strip() for system, _, share in parts}
    if not isinstance(said, dict):
        raise GristmillError("satisfaction_shares must be a table such as { feedback = 0.5, sessions = 0.5 }")
    shares = {}
    for system, share in said.items():
        if system not in SYSTEMS:
            raise GristmillError(f"satisfaction_shares: {system!r} is none of {', '.join(SYSTEMS)}")
        shares[system] = typed(float, share, f"satisfaction_shares.{system}")
        check_bounds(f"satisfaction_shares.{system}", shares[system], SHARE)
    if abs(sum(shares.values()) - 1) > SHARES_TOLERANCE:
        raise GristmillError(f"satisfaction_shares must add up to 1, not {sum(shares.values()):g}")
    return shares


@dataclass(frozen=True)
class Config:
    """Everything a run may depend on besides its sources, its state and as_of.

    Each setting says whether it decides what outputs hold; the manifest's `config_hash` covers those that do.
    """

    home: Path = field(metadata=about("Where everything is written.", decides_outputs=False, default="data"))
    sources: Mapping[str, tuple[SourceFile, ...]] = derived(decides_outputs=True, default_factory=dict)
    # Default sources that are not there: missing if the lake holds rows of them, else nobody ever had them (G13).
    absent: Mapping[str, tuple[SourceFile, ...]] = derived(decides_outputs=False, default_factory=dict, compare=False)
    # Systems the user wants nothing of.
    taken_out: frozenset[str] = derived(decides_outputs=False, default=frozenset(), compare=False)
    min_weight: float = declared(0.3, "Nothing lighter leaves for training.", bounds=SHARE, is_sql_parameter=True)
    low_tier: str = declared(  # F5
        "augmentation",
        "Where light training records go: into a file of their own, with the others, or nowhere.",
        words=("augmentation", "train", "exclude"),
        is_sql_parameter=True,
    )
    split_key: str = declared("gristmill", "Change it and every prompt is dealt to train, validation and test anew.")
    ready_score: float = declared(  # D6
        0.7, "A distilled example nobody judged leaves with at least this score.", bounds=SHARE, is_sql_parameter=True
    )
    auto_ready: bool = declared(
        True, "Whether examples leave that nobody judged; else only what a person approved.", is_sql_parameter=True
    )
    synthetic_pairs: bool = declared(  # D2
        False, "Whether pairs leave that the teacher wrote both sides of.", is_sql_parameter=True
    )
    recipe: Mapping[str, Recipe] = declared(  # T1
        {}, "What of a format's candidates leaves, `[recipe.<format>]` with rules; see below.", reader=recipes
    )
    decontaminate: tuple[EvaluationSet, ...] = declared(  # T1
        (),
        "Evaluation sets whose items no record may hold, `[[decontaminate]]` with `name` and `files`; see below.",
        reader=evaluation_sets,
        is_placed=True,
    )
    near_duplicates: bool = declared(  # T6
        True, "Whether of records that say nearly the same only the heaviest leaves."
    )
    split_by: str = declared(  # T3
        "prompt",
        "What a record's split is drawn by; evaluation records alike to training ones do not leave whatever it is.",
        words=("prompt", "session", "user"),
    )
    eval_set: str = declared(  # T3
        "hash",
        "Which prompts are for evaluation: those the hash says, or besides them those of pinned releases for ever.",
        words=("hash", "pin"),
    )
    mask: tuple[str, ...] = declared(  # T8
        KINDS, "Which kinds of secrets and personal data leave as placeholders.", reader=masked_kinds
    )
    mask_allow: tuple[str, ...] = declared(  # T8
        (),
        "What is neither: whole items in any case, or `@example.com` for all addresses of a domain.",
        reader=allowed_items,
    )
    review_corrections: bool = declared(  # D8
        False, "Whether a user's correction waits for a reviewer.", is_sql_parameter=True
    )
    second_review_share: float = declared(
        0.1, "Of judged items, how many a second reviewer is asked to judge blind.", bounds=SHARE, decides_outputs=False
    )
    review_batch: int = declared(500, "How many items a batch file for reviewers holds at most.", bounds=(1, 1_000_000))
    similarity_model: str = declared(
        "wordllama", "What tells how alike two texts are; or `package.module:factory`, a model of your own."
    )
    similarity_threshold: float = declared(  # C2
        0.8, "A message more alike than this to the query before repeats it.", bounds=SHARE
    )
    sample_rate: float = declared(  # S7
        1.0,
        "Share of AI sessions that are looked at, by hash of their id.",
        bounds=SHARE,
        not_zero_because="a sample of nothing tells nothing",
        is_sql_parameter=True,
    )
    satisfaction_shares: Mapping[str, float] = declared(  # N
        {},
        "What each system counts in the overall satisfaction, `feedback=0.5,sessions=0.5`; equal if nothing is said.",
        reader=_satisfaction_shares,
        is_sql_parameter=True,
    )
    anonymity_k: int = declared(  # S6
        5, "So many users must share all that leaves of a session in the anonymised export.", bounds=(1, 1_000_000)
    )
    release_every: str = declared(  # T5
        "run",
        "When runs make a release: each of them, the first after a week's end, or none (`gristmill release` does).",
        words=("run", "week", "never"),
        decides_outputs=False,
    )
    keep_releases: int = declared(  # T5
        0,
        "How many releases are kept, the newest, and all that were pinned or written back; 0: all of them.",
        bounds=(0, 1_000_000),
        decides_outputs=False,
    )
    licence: str = declared(
        "", "Under what terms releases may be used, for their card: `cc-by-4.0`, or words of your own."
    )
    consent: str = declared("", "What the people behind the feedback agreed to, for the card of releases.")
    token_budget: int = declared(  # S6
        8000, "Tokens a context may have; utilisation is a share of it.", bounds=(1, 2**40)
    )
    busy_timeout_seconds: float = declared(
        30.0, "How long to wait for a database somebody writes to.", bounds=(0, 86_400), decides_outputs=False
    )
    memory_limit_mb: int = declared(
        300,
        "Memory a query may take; one that cannot do with it takes up to eight times as much.",
        bounds=(64, 2**24),
        decides_outputs=False,
    )
    workers: int = declared(
        0,
        "How many days, or other parts of a table, are worked on at once; 0: as many as there are cores.",
        bounds=(0, 1024),
        decides_outputs=False,
    )
    min_free_mb: int = declared(
        200, "Space that must be free on the home's disk before a run begins.", bounds=(0, 2**30), decides_outputs=False
    )
    owner: str = declared(
        "team:data-engineering",
        "Who answers for the tables, for Dagster to show: an e-mail address, or a team.",
        decides_outputs=False,
    )
    on_failure: str = declared(
        "",
        "Called when a run fails, is stopped or was killed: a command, given JSON on its input, or an address it is posted to.",
        decides_outputs=False,
    )
    on_alert: str = declared(
        "",
        "Called likewise when the last days of a source are unusual.",
        decides_outputs=False,
    )
    on_alert_format: str = declared(
        "json",
        "What both are given: all there is to say, or the one sentence a Slack webhook takes.",
        words=("json", "slack"),
        decides_outputs=False,
    )

    @property
    def worker_count(self) -> int:
        """How many `workers` that is on this machine: at least one. It decides how long a run takes, and nothing else."""
        if self.workers:
            return self.workers
        # those this process may use, where the system can tell them from those there are
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

    @property
    def query_threads(self) -> int:
        """As many of a query's parts are worked on at once, if its memory is enough for so many."""
        return max(1, min(self.worker_count, self.memory_limit_mb // MEMORY_OF_A_THREAD_MB))

    def rules_hash(self) -> str:
        """Identity of the settings that decide what outputs hold (G12)."""
        return hashlib.sha256(json.dumps(deciding(self), sort_keys=True).encode()).hexdigest()[:16]

    def sql_parameters(self) -> dict[str, Any]:
        """The settings SQL files may bind."""
        return {name: getattr(self, name) for name, setting in OF_A_RUN.items() if setting.is_sql_parameter}


OF_A_RUN = settings_of(Config)
