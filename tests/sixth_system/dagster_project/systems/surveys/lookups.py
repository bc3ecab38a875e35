"""What a user may ask about surveys without running anything: what became of an answer, and figures. Reads only."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import polars as pl
from dagster_project.systems.surveys.schema import WORDS

from dagster_project.columns.words import counts
from dagster_project.engines.reading import columns, where
from dagster_project.lake.lake import Lake


def facts(lake: Lake, ids: Sequence[str]) -> list[dict[str, Any]]:
    return where(lake, "core__surveys", pl.col("id").is_in(ids)).sort("id").rows(named=True)


def tell(facts: dict[str, Any]) -> list[str]:
    who = facts["user_id"] or "an unknown user"
    return [f"  {facts['id']}: {facts['answer']} by {who}, {facts['occurred_at']:%Y-%m-%d %H:%M:%S} UTC"]


def dated(lake: Lake, wanted: str) -> datetime | None:
    rows = where(lake, "raw_surveys__answers", pl.col("id") == wanted)
    return rows["occurred_at"][0] if rows.height else None


def figures(lake: Lake) -> dict[str, Any]:
    answers = columns(lake, "core__surveys", "answer")
    return {"total_answers": answers.height, "by_answer": counts(answers["answer"], WORDS)}
