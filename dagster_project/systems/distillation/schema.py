"""What a row of SAM distillation must be (D1). JSON that cannot be read is mended, not refused."""

import polars as pl

from dagster_project.columns.instants import INSTANT
from dagster_project.contracts.checks import Named, Schema, between, filled, holds, not_null, source_schema
from dagster_project.contracts.source_table import TableSpec
from dagster_project.systems.distillation import source as distillation

RANGES = {"sam_confidence": (0, 1), "complexity": (1, 10), "approved": (0, 1), "success": (0, 1)}


def _schema(spec: TableSpec) -> Schema:
    checks: list[Named] = [filled(column) if column == "id" else not_null(column) for column in spec.required]
    if spec.event_time:
        is_valid = pl.col("created_at").is_null() | pl.col("occurred_at").is_not_null()
        checks.append(holds("out_of_range:created_at", is_valid))
    ranges = {**RANGES, "human_reviewed": (-1, 1) if spec is distillation.EXAMPLES else (0, 1)}
    checks += [between(column, *ends) for column, ends in ranges.items() if column in spec.columns]
    return source_schema(spec, checks, {"occurred_at": INSTANT} if spec.event_time else None)


DATED = {asset: _schema(spec) for asset, spec in distillation.DATED.items()}
UNDATED = {asset: _schema(spec) for asset, spec in distillation.UNDATED.items()}
