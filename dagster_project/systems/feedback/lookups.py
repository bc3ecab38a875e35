"""What a user may ask about a feedback row without running anything: why it counts, or not. Reads only."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import polars as pl

from dagster_project.engines.reading import read, where
from dagster_project.lake.lake import Lake


def facts(lake: Lake, ids: Sequence[str]) -> list[dict[str, Any]]:
    """Feedback rows by their ids."""
    rows = where(lake, "core__feedback", pl.col("feedback_id").is_in(ids))
    return [_facts_of(lake, row) for row in rows.rows(named=True)]


def dated(lake: Lake, wanted: str) -> datetime | None:
    """When a row is dated that was read but is not before as_of; null if there is none."""
    rows = where(lake, "core__feedback_keys", pl.col("feedback_id") == wanted)
    return rows["occurred_at"][0] if rows.height else None


def fates(lake: Lake, ids: pl.Series) -> pl.DataFrame:
    """What became of feedback rows, and which they silence (F3)."""
    wanted = ids.implode()
    rows = where(lake, "core__feedback", pl.col("feedback_id").is_in(wanted)).select(
        pl.col("feedback_id").alias("origin_id"),
        pl.col("status").alias("fate"),
        pl.col("status_ref").alias("fate_ref"),
        pl.col("occurred_at").alias("given_at"),
    )
    is_silenced = (pl.col("status") == "superseded") & pl.col("status_ref").is_in(wanted)
    silenced = where(lake, "core__feedback", is_silenced).select(
        pl.col("status_ref").alias("origin_id"), pl.col("feedback_id").alias("replaces"), "occurred_at"
    )
    last = silenced.sort("occurred_at", "replaces").group_by("origin_id").agg(pl.col("replaces").last())
    return rows.join(last, on="origin_id", how="left")


def _facts_of(lake: Lake, row: dict[str, Any]) -> dict[str, Any]:
    partition = f"event_date={row['event_date']}"
    entries = read(lake, "raw_feedback__entries", [partition])
    source = entries.filter(pl.col("feedback_id") == row["feedback_id"]).drop_nulls("feedback_id").row(0, named=True)
    rivals = where(lake, "core__feedback", pl.col("status_ref") == row["feedback_id"])
    hidden = ("thread_key", "answer_key", "answer_hash", "correction_hash", "preferred_hash", "record_hash")
    return {
        "source_row": {name: value for name, value in source.items() if value not in (None, [])},
        "derived": {name: value for name, value in row.items() if name not in hidden and value is not None},
        "silences": rivals["feedback_id"].to_list(),
    }
