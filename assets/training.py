"""What leaves for training: candidates with their reasons, then one release of records per format and split."""

import json
from collections.abc import Iterator

import dagster as dg

from dagster_project.orchestration.steps import step
from dagster_project.orchestration.tables import spec, sql_table, table_result
from dagster_project.run.mill_run import MillRun
from dagster_project.training.anonymised_export import bring_anonymised_up_to_date
from dagster_project.training.release import FORMATS, bring_release_up_to_date

SESSION_INPUTS = ("sessions", "feedback", "outputs", "context_nodes")

core__rating_partners = sql_table("core__rating_partners")
core__feedback_candidates = sql_table("core__feedback_candidates")
core__distillation_candidates = sql_table("core__distillation_candidates")
core__pair_votes = sql_table("core__pair_votes")
core__candidate_rivals = sql_table("core__candidate_rivals")
train__excluded = sql_table("train__excluded")


@step(
    "train__anonymised",
    [
        spec(
            "train__anonymised",
            deps=["core__sessions", "core__retired_sessions", *(f"raw_sessions__{n}" for n in SESSION_INPUTS)],
            kinds=("polars",),
        )
    ],
    [
        dg.AssetCheckSpec(
            "sessions_add_up",
            asset="train__anonymised",
            blocking=True,
            description="sessions with feedback in time = exported + suppressed (G3, S6)",
        )
    ],
)
def train__anonymised(mill: MillRun) -> Iterator[dg.MaterializeResult]:
    export, is_current = bring_anonymised_up_to_date(mill)
    told = {name: json.dumps(value) for name, value in export.summary().items()}
    added_up = dg.AssetCheckResult(
        asset_key="train__anonymised", check_name="sessions_add_up", passed=export.adds_up, metadata=told
    )
    yield table_result(mill, "train__anonymised", [added_up], is_current, told)


@step(
    "train__release",
    [
        spec(
            f"train__{format}",
            deps=[
                core__feedback_candidates,
                core__distillation_candidates,
                core__pair_votes,
                core__candidate_rivals,
                train__excluded,
                train__anonymised,
                "raw_feedback__entries",
                "core__distillation_sources",
            ],
            kinds=("polars",),
        )
        for format in FORMATS
    ],
    [
        dg.AssetCheckSpec(
            "candidates_add_up",
            asset=f"train__{format}",
            blocking=True,
            description="candidates = exported + excluded (G3)",
        )
        for format in FORMATS
    ],
)
def train__release(mill: MillRun) -> Iterator[dg.MaterializeResult]:
    for outcome in bring_release_up_to_date(mill):
        sums = {"candidates": outcome.candidates, "exported": outcome.exported, "excluded": outcome.excluded}
        added_up = dg.AssetCheckResult(
            asset_key=outcome.table, check_name="candidates_add_up", passed=outcome.adds_up, metadata=sums
        )
        yield table_result(mill, outcome.table, [added_up], outcome.is_current, sums)
