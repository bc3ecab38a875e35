"""Find a .sql file, bind its inputs and parameters, run it in DuckDB, stream the result.

A file's header says what one row is, its grain, its inputs and its parameters; assets take their dependencies from
there, so a query cannot read what it does not declare.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from dagster_project.contracts import TABLES
from dagster_project.lake import Lake

SQL_FOLDER = Path(__file__).parent.parent / "sql"
BATCH_ROWS = 100_000
CHUNK_ROWS = 100_000


@dataclass(frozen=True)
class Query:
    """One SELECT and what its header declares."""

    name: str
    sql: str
    what: str
    grain: tuple[str, ...]
    inputs: tuple[str, ...]
    by_day: str | None  # the input that is taken some days at a time; rows of other days do not matter to the result
    params: tuple[str, ...]

    @property
    def hash(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()[:16]


@cache
def query(name: str) -> Query:
    """The query of a table or check, by its name."""
    (path,) = SQL_FOLDER.glob(f"*/{name}.sql")
    sql = path.read_text(encoding="utf-8")
    header = re.match(
        r"-- (?P<what>.+)\n-- grain: (?P<grain>.*)\n-- inputs: (?P<inputs>.*)\n-- params: (?P<params>.*)\n", sql
    )
    if header is None:
        raise ValueError(f"{path.name}: the header must be four comment lines: what, grain, inputs, params")

    def names(field: str) -> tuple[str, ...]:
        words = (word.strip().removesuffix(" by day") for word in header[field].split(","))
        return tuple(word for word in words if word != "none")

    by_day = re.search(r"(\w+) by day", header["inputs"])
    return Query(
        name, sql, header["what"], names("grain"), names("inputs"), by_day[1] if by_day else None, names("params")
    )


def checks_of(table: str) -> list[str]:
    """The claims that are checked about a table: files that return the offending rows."""
    return sorted(path.stem for path in (SQL_FOLDER / "checks").glob(f"{table}__*.sql"))


@contextmanager
def engine(lake: Lake, memory_limit_mb: int) -> Iterator[duckdb.DuckDBPyConnection]:
    """An in-memory DuckDB that spills under staging and cannot reach the network."""
    lake.staging.mkdir(parents=True, exist_ok=True)
    settings = {"memory_limit": f"{memory_limit_mb}MB", "temp_directory": str(lake.staging / "duckdb"), "threads": 1}
    with duckdb.connect(config=settings) as connection:
        connection.execute("set TimeZone = 'UTC'")
        yield connection


def bind(connection: duckdb.DuckDBPyConnection, lake: Lake, table: str, days: tuple[date, date] | None = None) -> None:
    """Make a table of the lake visible under its name: its files, or an empty table of the contract's shape.

    With `days` only the rows of these days: by their files where the table is kept by day, else by a filter.
    """
    partitions = list(lake.partitions(table))
    if days and TABLES[table].is_by_day:
        partitions = [p for p in partitions if str(days[0]) <= p.removeprefix("event_date=") <= str(days[1])]
    files = [str(path) for path in lake.files(table, partitions)]
    if not files:
        relation = connection.from_arrow(TABLES[table].empty().to_arrow())
    else:
        relation = connection.read_parquet(files, hive_partitioning=False)
    if days and not TABLES[table].is_by_day:
        relation = relation.filter(f"event_date between date '{days[0]}' and date '{days[1]}'")
    relation.create_view(table, replace=True)


def stream(lake: Lake, name: str, params: Mapping[str, Any], memory_limit_mb: int = 512) -> Iterator[pl.DataFrame]:
    """The rows of a query, in batches.

    A query that takes an input by day runs once for every few days, so its memory does not grow with the history; as it
    orders its rows by day, the parts are in order too.
    """
    chosen = query(name)
    values = {key: params[key] for key in chosen.params}
    with engine(lake, memory_limit_mb) as connection:
        for table in chosen.inputs:
            bind(connection, lake, table)
        if chosen.by_day is None:
            yield from _run(connection, chosen.sql, values)
            return
        for days in list(_day_ranges(connection, chosen.by_day)):
            bind(connection, lake, chosen.by_day, days)
            yield from _run(connection, chosen.sql, values)


def _run(connection: duckdb.DuckDBPyConnection, sql: str, values: Mapping[str, Any]) -> Iterator[pl.DataFrame]:
    for batch in connection.execute(sql, values).to_arrow_reader(BATCH_ROWS):
        frame = pl.from_arrow(batch)
        assert isinstance(frame, pl.DataFrame)
        yield frame


def _day_ranges(connection: duckdb.DuckDBPyConnection, table: str) -> Iterator[tuple[date, date]]:
    """Neighbouring days with about CHUNK_ROWS rows together."""
    counts = connection.sql(
        f"select event_date, count(*) from {table} group by event_date order by event_date"
    ).fetchall()
    first, rows = None, 0
    for day, count in counts:
        first, rows = first or day, rows + count
        if rows >= CHUNK_ROWS:
            yield first, day
            first, rows = None, 0
    if first is not None:
        yield first, counts[-1][0]
