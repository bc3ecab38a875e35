"""Reading a table of the lake as a frame: its files as this run sees them, or an empty table of the contract's shape."""

from collections.abc import Iterable

import polars as pl

from dagster_project.contracts import TABLES
from dagster_project.lake import parquet
from dagster_project.lake.lake import Lake


def scan(lake: Lake, table: str, partitions: Iterable[str] | None = None) -> pl.LazyFrame:
    files = lake.files(table, partitions)
    return parquet.scan(files) if files else TABLES[table].empty().lazy()


def read(lake: Lake, table: str, partitions: Iterable[str] | None = None) -> pl.DataFrame:
    files = lake.files(table, partitions)
    return parquet.read(files) if files else TABLES[table].empty()


def where(lake: Lake, table: str, condition: pl.Expr) -> pl.DataFrame:
    """The rows of a table that meet a condition."""
    return scan(lake, table).filter(condition).collect(engine="streaming")
