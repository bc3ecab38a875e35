"""Reading a table of the lake as a frame: its files as this run sees them, its query if it is a view, or an empty table of the
contract's shape."""

from collections.abc import Iterable

import polars as pl

from dagster_project.contracts import TABLES
from dagster_project.engines import queries
from dagster_project.lake import parquet
from dagster_project.lake.lake import Lake


def scan(lake: Lake, table: str, partitions: Iterable[str] | None = None) -> pl.LazyFrame:
    if table in lake.catalog.views:
        return queries.view(lake, table)
    files = lake.files(table, partitions)
    return parquet.scan(files) if files else TABLES[table].empty().lazy()


def read(lake: Lake, table: str, partitions: Iterable[str] | None = None) -> pl.DataFrame:
    if table in lake.catalog.views:
        return queries.view(lake, table).collect()
    files = lake.files(table, partitions)
    return parquet.read(files) if files else TABLES[table].empty()


def where(lake: Lake, table: str, condition: pl.Expr) -> pl.DataFrame:
    """The rows of a table that meet a condition."""
    return scan(lake, table).filter(condition).collect(engine="streaming")


def columns(lake: Lake, table: str, *names: str) -> pl.DataFrame:
    """Some columns of all rows of a table."""
    return scan(lake, table).select(*names).collect(engine="streaming")
