"""From feedback and distilled examples to what leaves for training, through the queries a run makes of it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dagster_project.contracts import TABLES
from tests.sql.harness import run_one_after_another

Rows = Sequence[dict[str, Any]]
Outcome = dict[tuple[str, str, str], str | None]
FROM_FEEDBACK, FROM_DISTILLATION = "core__feedback_candidates", "core__distillation_candidates"
FEEDBACK_TRAITS, DISTILLED_TRAITS = "core__feedback_traits", "core__distilled_traits"
SETTLED = ("core__recipe_exclusions", "core__duplicates", "core__near_duplicates", "core__leaks")
QUERIES = (
    "core__possible_partners",
    "core__rating_partners",
    FROM_FEEDBACK,
    FROM_DISTILLATION,
    "core__pair_votes",
    "core__candidate_rivals",
    "core__contenders",
    "core__duplicates",
    "train__excluded",
)


def judge(folder: Path, feedback: Rows = (), examples: Rows = (), **params: Any) -> Outcome:
    """(format, source, origin_id) of every candidate -> its reason, null where it leaves."""
    made = tables(folder, feedback, examples, **params)
    reasons = {row["id"]: row["reason"] for row in made["train__excluded"]}
    candidates = made[FROM_FEEDBACK] + made[FROM_DISTILLATION]
    assert len({candidate["id"] for candidate in candidates}) == len(candidates)
    assert reasons.keys() <= {candidate["id"] for candidate in candidates}
    return {(c["format"], c["source"], c["origin_id"]): reasons.get(c["id"]) for c in candidates}


def tables(
    folder: Path,
    feedback: Rows = (),
    examples: Rows = (),
    reviews: Rows = (),
    condemned: Rows = (),
    traits: Mapping[str, Mapping[str, Any]] | None = None,
    prompts: Rows = (),
    more: Mapping[str, Rows] | None = None,
    **params: Any,
) -> dict[str, list[dict[str, Any]]]:
    """Every table on the way, as the queries make them one after the other. `traits` are of rows by their id, where they have
    some that are not plain; `more` are tables no query makes."""
    known = TABLES["core__feedback_keys"].columns
    inputs = {
        "core__feedback": list(feedback),
        "core__feedback_keys": [{name: value for name, value in row.items() if name in known} for row in feedback],
        "core__reviews": list(reviews),
        "core__distillation": list(examples),
        "core__condemned_answers": list(condemned),
        FEEDBACK_TRAITS: [traits_of(row.get("feedback_id", "f1"), traits) for row in feedback],
        DISTILLED_TRAITS: [traits_of(row.get("example_id", "e1"), traits) for row in examples],
        "core__prompts": prompts or prompts_of([*feedback, *examples]),
        **(more or {}),
    }
    made: dict[str, Any] = run_one_after_another(folder, QUERIES, inputs, **params)
    excluded = {row["id"] for name in SETTLED for row in made.get(name, ())}
    survivors = {row["duplicate_of"] for row in made["core__duplicates"]}
    assert not survivors & excluded
    return made


def traits_of(origin_id: str, known: Mapping[str, Mapping[str, Any]] | None) -> dict[str, Any]:
    return {"origin_id": origin_id, **(known or {}).get(origin_id, {})}


def prompts_of(rows: Rows) -> list[dict[str, Any]]:
    """Every prompt is alone, and in the split its own hash says."""
    splits = {row.get("prompt_key", "p1"): row.get("split", "train") for row in rows}
    return [
        {"prompt_key": key, "component": key, "split": split, "own_split": split, "alike_group": key}
        for key, split in splits.items()
    ]
