"""What a user may ask about turns without running anything: why one counts as rejected, accepted or neutral. Reads only."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from dagster_project.engines.reading import where
from dagster_project.lake.lake import Lake
from dagster_project.systems.conversations.source import DATED

SHOWN = tuple(
    """
    turn_key turn_id user_id session_id occurred_at feedback_status feedback_confidence nominal_confidence correction_type
    user_said planner_note reason rejection_chance detected_in_turn detected_at similarity source_status validation_outcome quality_score
    satisfaction_score ranking_score is_reusable consecutive_rejections
""".split()
)


def facts(lake: Lake, ids: Sequence[str]) -> list[dict[str, Any]]:
    """Turns by their keys, or every user's turn of an id (turn_000012)."""
    is_meant = pl.col("turn_key").is_in(ids) | pl.col("turn_id").is_in(ids)
    rows = where(lake, "core__turns", is_meant).sort("turn_key")
    return [_facts_of(lake, row) for row in rows.rows(named=True)]


def dated(lake: Lake, wanted: str) -> Any:
    """When a turn is dated that was read but is not before as_of; null if there is none."""
    for table in DATED:
        rows = where(lake, table, pl.col("turn_key") == wanted)
        if rows.height:
            return rows["occurred_at"][0]
    return None


def _facts_of(lake: Lake, row: dict[str, Any]) -> dict[str, Any]:
    key = row["turn_key"]
    pair = where(lake, "core__turn_pairs", pl.col("turn_key") == key).row(0, named=True)
    following = _source(lake, pair["next_turn_key"])
    is_about = (pl.col("message_turn_key") == key) | (pl.col("target_turn_key") == key)
    signals = where(lake, "core__machine_signals", is_about).sort("message_turn_key")
    return {
        "source_row": {name: value for name, value in (_source(lake, key) or {}).items() if value not in (None, [])},
        "derived": {name: row[name] for name in SHOWN},
        "rules_alone": {name: pair[name] for name in ("feedback_status", "feedback_confidence", "reason")},
        "next_message": following["query"] if following else None,
        "labels": where(lake, "core__label_verdicts", pl.col("turn_key") == key).rows(named=True),
        "machine_signals": signals.rows(named=True),
    }


def _source(lake: Lake, turn_key: str | None) -> dict[str, Any] | None:
    if turn_key is None:
        return None
    for table in DATED:
        rows = where(lake, table, pl.col("turn_key") == turn_key)
        if rows.height:
            return rows.row(0, named=True)
    return None
