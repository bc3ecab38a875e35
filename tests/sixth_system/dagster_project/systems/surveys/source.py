"""Surveys: what the one table of its database holds, and how a row becomes one of ours."""

import polars as pl

from dagster_project.columns.instants import instant, repair_milliseconds
from dagster_project.contracts.source_table import TableSpec

ANSWERS = TableSpec(
    system="surveys",
    name="survey_answers",
    columns={"id": "id", "user_id": "id", "session_id": "id", "answer": "text", "answered_at": "time"},
    required=("id", "answer", "answered_at"),
    key="id",
    event_time="answered_at",
    edited=("id", "user_id", "session_id", "answer", "answered_at"),
)
DATED = {"raw_surveys__answers": ANSWERS}


def canonical(rows: pl.DataFrame, language: str | None) -> pl.DataFrame:
    rows = repair_milliseconds(rows, ("answered_at",)).with_columns(occurred_at=instant(pl.col("answered_at")))
    return rows.with_columns(event_date=pl.col("occurred_at").dt.date(), language=pl.lit(language, dtype=pl.String))
