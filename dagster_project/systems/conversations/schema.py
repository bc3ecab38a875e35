"""What a turn of PandaAI must be: it needs its number and its time; everything else may be unknown."""

import polars as pl

from dagster_project.columns.instants import INSTANT
from dagster_project.contracts.checks import Schema, holds, not_null, source_schema
from dagster_project.contracts.source_table import TableSpec
from dagster_project.systems.conversations import source as conversations


def _schema(spec: TableSpec) -> Schema:
    """Both generations call the time `timestamp` once they are canonical; the source's own column is blamed."""
    time, has_time = spec.event_time, pl.col("timestamp").is_not_null()
    return source_schema(
        spec,
        [
            not_null("turn_number"),
            holds(f"missing:{time}", has_time, "timestamp"),
            holds(f"out_of_range:{time}", ~has_time | pl.col("occurred_at").is_not_null(), "timestamp"),
        ],
        derived={"timestamp": pl.Float64, "occurred_at": INSTANT},
        without=["created_at"],
    )


DATED = {asset: _schema(spec) for asset, spec in conversations.DATED.items()}
