"""Storing a table: every row passes its contract, then goes to Parquet; frames batch by batch, queries by DuckDB itself."""

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from dagster_project import queries
from dagster_project.contracts import TABLES
from dagster_project.errors import GristmillError
from dagster_project.lake import Lake


def fit(table: str, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with exactly the contract's columns and types, checked."""
    contract = TABLES[table]
    rows = rows.select(pl.col(name).cast(dtype) for name, dtype in contract.polars_schema.items())
    try:
        return contract.validate(rows)
    except Exception as error:
        raise _broken_contract(table, error) from error


def _broken_contract(table: str, error: Exception) -> Exception:
    """What Pandera found, in one line. A violation here is our own mistake."""
    from pandera.errors import SchemaErrors

    if not isinstance(error, SchemaErrors):
        return error
    first = error.failure_cases.row(0, named=True)
    return GristmillError(
        f"{table} does not meet its contract: column {first.get('column')!r}, check {first.get('check')!r}, "
        f"value {first.get('failure_case')!r} ({error.failure_cases.height} violations); nothing was published"
    )


def store(lake: Lake, table: str, batches: Iterable[pl.DataFrame], partition: str = "") -> int:
    """Validate and write a partition; returns its rows. An empty partition of a partitioned table has no file."""
    contract = TABLES[table]
    with lake.replacing(table, partition, contract.file_layout) as writer:
        for batch in batches:
            if batch.height:
                writer.write(fit(table, batch).to_arrow())
    return writer.rows


def store_days(lake: Lake, table: str, rows: pl.DataFrame) -> None:
    """Validate rows of several whole days once, and write each day."""
    contract = TABLES[table]
    for (day,), day_rows in fit(table, rows).partition_by("event_date", as_dict=True, maintain_order=True).items():
        with lake.replacing(table, f"event_date={day}", contract.file_layout) as writer:
            writer.write(day_rows.to_arrow())


def store_query(lake: Lake, table: str, params: Mapping[str, Any], memory_limit_mb: int, partition: str = "") -> int:
    """Let the table's query write its partition, and check the file; returns its rows."""
    file = lake.staged_file(table, partition)
    rows = queries.write(lake, table, params, TABLES[table].select_list, file, memory_limit_mb)
    try:
        TABLES[table].validate_file(file)
    except Exception as error:
        raise _broken_contract(table, error) from error
    lake.adopt(table, partition, file, rows)
    return rows
