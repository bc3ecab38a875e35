"""A session's feedback as seed 0's GET /api/feedback/session/{session_id} gives it, from what is published."""

from typing import Any

import polars as pl

from dagster_project.engines import reading
from dagster_project.errors import GristmillError
from dagster_project.lake.lake import Lake

# What a row of each type says, beside what every row has.
SAID = {"rating": "rating", "correction": "correction", "preference": "preferred_response", "flag": "flag_type"}


def feedback_session(lake: Lake, session_id: str) -> dict[str, Any]:
    """Every feedback row of a known session before as_of, oldest first, and the session's quality (F11)."""
    quality = _rows(lake, "core__feedback_sessions", session_id, ["session_quality"])
    if quality.is_empty():
        raise GristmillError(f"no session {session_id!r} with feedback is published")
    known = _rows(lake, "core__feedback", session_id, ["feedback_id", "event_date"])
    days = [f"event_date={day}" for day in known["event_date"].unique().sort()]
    raw = reading.scan(lake, "raw_feedback__entries", days)
    columns = ["feedback_id", "response_id", "feedback_type", *SAID.values(), "timestamp"]
    meant = raw.filter(pl.col("feedback_id").is_in(known["feedback_id"].implode())).select(columns)
    found = meant.sort("timestamp", "feedback_id").collect()
    return {
        "success": True,
        "session_id": session_id,
        "feedback": [_entry(row) for row in found.iter_rows(named=True)],
        "session_quality": quality["session_quality"].item(),
    }


def _entry(row: dict[str, Any]) -> dict[str, Any]:
    kind = row["feedback_type"].strip().lower()
    said = SAID[kind]
    start = {"feedback_id": row["feedback_id"], "response_id": row["response_id"], "feedback_type": kind}
    return start | {said: row[said], "timestamp": row["timestamp"]}


def _rows(lake: Lake, table: str, session_id: str, columns: list[str]) -> pl.DataFrame:
    return reading.scan(lake, table).filter(pl.col("session_id") == session_id).select(columns).collect()
