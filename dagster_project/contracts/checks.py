"""What schemas of source rows are made of: checks named by their reasons. And what a schema says of a frame.

A check stands on the column it blames, may look at every column of the row, and passes where its condition is null.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from dagster_project.contracts.pandera import SchemaErrors, ValidationDepth, config_context, pa
from dagster_project.contracts.source_table import POLARS_TYPES, TableSpec
from dagster_project.errors import GristmillError

# The check of what a column could not even hold; its failure cases are the reader's lists of reasons (G5).
READABLE = "readable"
CASES = {"index": pl.Int32, "column": pl.String, "check": pl.String, "failure_case": pl.String}

Schema = pa.DataFrameSchema
Named = tuple[str, pa.Check]  # a check and the column it stands on


def holds(reason: str, condition: pl.Expr, column: str | None = None) -> Named:
    """A row that fails the condition is refused for `reason`, `<kind>:<column>`; our name of the column if it differs."""
    check = pa.Check(lambda data: data.lazyframe.select(condition), name=reason)
    return column or reason.split(":")[1], check


def not_null(column: str) -> Named:
    return holds(f"missing:{column}", pl.col(column).is_not_null())


def filled(column: str) -> Named:
    """Neither null nor the empty text."""
    return holds(f"missing:{column}", pl.col(column).is_not_null() & (pl.col(column) != ""))


def between(column: str, least: float, most: float) -> Named:
    return holds(f"out_of_range:{column}", pl.col(column).is_between(least, most))


def source_schema(
    spec: TableSpec, checks: Sequence[Named], derived: Mapping[str, Any] | None = None, without: Sequence[str] = ()
) -> Schema:
    """The schema of a source table's rows once they are canonical; `derived` columns are new or of another type then.

    Nulls are left to the checks, so that each is named by its reason. A row's reasons come in the order of `checks`.
    """
    types = {name: POLARS_TYPES[kind] for name, kind in spec.columns.items() if name not in without} | dict(
        derived or {}
    )
    by_column: dict[str, list[pa.Check]] = {}
    for column, check in checks:
        by_column.setdefault(column, []).append(check)
    if unknown := by_column.keys() - types.keys():
        raise ValueError(f"checks of {spec.reading} on columns it does not have: {sorted(unknown)}")
    readable = pa.Check(lambda data: data.lazyframe.select(pl.col("problems").list.len() == 0), name=READABLE)
    return Schema(
        {name: pa.Column(dtype, checks=by_column.get(name), nullable=True) for name, dtype in types.items()}
        | {"problems": pa.Column(pl.List(pl.String), checks=readable)},
        name=f"{spec.system}.{spec.reading}",
        metadata={"reasons": [check.name for _, check in checks]},
    )


def failure_cases(schema: Schema, rows: pl.DataFrame) -> pl.DataFrame:
    """Pandera's failure cases, none where all is well: `index` of the row, `column`, `check` and `failure_case`.

    Columns or types that are not the schema's have no row to blame: they are our own mistake, and end the run.
    """
    try:
        # the environment can switch checks off (PANDERA_VALIDATION_ENABLED), but not ours
        with config_context(validation_enabled=True, validation_depth=ValidationDepth.SCHEMA_AND_DATA):
            schema.validate(rows, lazy=True)
    except SchemaErrors as error:
        found = error.failure_cases.select(*CASES)
    else:
        return pl.DataFrame(schema=CASES)
    for column, check, value in (
        found.filter(pl.col("index").is_null()).select("column", "check", "failure_case").iter_rows()
    ):
        # where the frame as a whole is blamed, it is the value that names the column
        blamed, more = (value, "") if column == schema.name else (column, f", found {value}")
        raise GristmillError(
            f"{schema.name} does not have its columns: {blamed!r}, check {check!r}{more}; nothing was published"
        )
    return found
