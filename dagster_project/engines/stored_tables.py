"""Storing a table: every row passes its contract, then goes to Parquet; frames batch by batch, queries by DuckDB itself.

A call of Pandera costs the same for a row as for thousands: rows of several small days are checked together.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from dagster_project.contracts import TABLES
from dagster_project.contracts.table import Table
from dagster_project.engines import queries
from dagster_project.engines.checked_tables import check_file, checked
from dagster_project.engines.touched_rows import Touched
from dagster_project.lake.lake import Lake
from dagster_project.lake.parquet import TableWriter

CHECKED_TOGETHER = 50_000  # rows, where they come in smaller pieces


def fit(table: str, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with exactly the contract's columns and types, checked."""
    return checked(TABLES[table], shaped(table, rows))


def shaped(table: str, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with exactly the contract's columns and types."""
    return rows.select(
        pl.col(name).cast(dtype) + 0.0 if dtype == pl.Float64 else pl.col(name).cast(dtype)  # no -0.0 (G2)
        for name, dtype in TABLES[table].polars_schema.items()
    )


def without_long_texts(table: Table, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with their long texts empty: what can be held of many, to be checked or counted."""
    long_texts = {name: meaning.dtype for name, meaning in table.meanings.items() if meaning.is_long_text}
    return rows.with_columns(
        pl.when(pl.col(name).is_not_null()).then(pl.lit("" if dtype == pl.String else [], dtype=dtype)).alias(name)
        for name, dtype in long_texts.items()
    )


class CheckedTogether:
    """Checks rows that are written in small pieces once there are many. Of long texts, which have no rule but not to be
    null, it keeps just whether they are."""

    def __init__(self, table: str) -> None:
        self._table = TABLES[table]
        self._waiting: list[pl.DataFrame] = []

    def add(self, rows: pl.DataFrame) -> None:
        self._waiting.append(without_long_texts(self._table, rows))
        if sum(some.height for some in self._waiting) >= CHECKED_TOGETHER:
            self.finish()

    def finish(self) -> None:
        """Check what waits; nothing is published before."""
        if self._waiting:
            checked(self._table, pl.concat(self._waiting))
        self._waiting = []


def store(lake: Lake, table: str, batches: Iterable[pl.DataFrame], partition: str = "") -> int:
    """Check and write a partition; returns its rows. An empty partition of a partitioned table has no file."""
    with lake.replacing(table, partition, TABLES[table].file_layout) as writer:
        for batch in batches:
            if batch.height:
                writer.write(fit(table, batch).to_arrow())
    return writer.rows


@dataclass(frozen=True)
class WrittenFile:
    """A finished file of a partition that the catalogue does not know yet."""

    table: str
    partition: str
    file: Path
    rows: int


def store_days(lake: Lake, table: str, rows: pl.DataFrame) -> None:
    """Check rows of several whole days once, and write each day."""
    take_over(lake, write_days(lake, table, rows))


def write_days(lake: Lake, table: str, rows: pl.DataFrame) -> list[WrittenFile]:
    """The same, but for the catalogue: that is not for many threads at once, and `take_over` tells it afterwards."""
    written = []
    for (day,), day_rows in fit(table, rows).partition_by("event_date", as_dict=True, maintain_order=True).items():
        partition = f"event_date={day}"
        with writer(lake, table, partition) as file:
            file.write(day_rows.to_arrow())
        written.append(WrittenFile(table, partition, file.path, file.rows))
    return written


def writer(lake: Lake, table: str, partition: str) -> TableWriter:
    """Writes the file of a partition; rows must have been checked, and the catalogue must be told."""
    return TableWriter(lake.staged_file(table, partition), TABLES[table].file_layout)


def take_over(lake: Lake, written: Iterable[WrittenFile]) -> None:
    """Make finished files the content of their partitions."""
    for found in written:
        lake.adopt(found.table, found.partition, found.file, found.rows)


def write(lake: Lake, table: str, fitted: pl.DataFrame, partition: str) -> None:
    """Write rows that were checked with others."""
    with lake.replacing(table, partition, TABLES[table].file_layout) as writer:
        writer.write(fitted.to_arrow())


def store_query(
    lake: Lake,
    table: str,
    params: Mapping[str, Any],
    memory_limit_mb: int,
    partition: str = "",
    threads: int = 1,
    touched: Touched | None = None,
) -> int:
    """Let the table's query write its partition, and check the file; returns its rows. With `touched` rows it is asked about
    those alone, and what is published of untouched keys stays (only where the table is kept by key)."""
    file = lake.staged_file(table, partition)
    more = touched.kept(lake, table) if touched else {}
    rows = queries.write(lake, table, params, TABLES[table].select_list, file, memory_limit_mb, threads, **more)
    check_file(TABLES[table], file)
    lake.adopt(table, partition, file, rows)
    return rows
