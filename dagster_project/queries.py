"""Find a .sql file, bind its inputs and parameters, run it in DuckDB, stream the result.

A file's header says what one row is, its grain, its inputs and its parameters; assets take their dependencies from
there, so a query cannot read what it does not declare.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from dagster_project.contracts import TABLES
from dagster_project.lake import Lake

SQL_FOLDER = Path(__file__).parent.parent / "sql"
BATCH_ROWS = 100_000


@dataclass(frozen=True)
class Query:
    """One SELECT and what its header declares."""

    name: str
    sql: str
    what: str
    grain: tuple[str, ...]
    inputs: tuple[str, ...]
    params: tuple[str, ...]

    @property
    def hash(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()[:16]


@cache
def query(name: str) -> Query:
    """The query of a table or check, by its name."""
    (path,) = SQL_FOLDER.glob(f"*/{name}.sql")
    sql = path.read_text(encoding="utf-8")
    header = re.match(r"-- (?P<what>.+)\n-- grain: (?P<grain>.*)\n-- inputs: (?P<inputs>.*)\n-- params: (?P<params>.*)\n", sql)
    if header is None:
        raise ValueError(f"{path.name}: the header must be four comment lines: what, grain, inputs, params")

    def names(field: str) -> tuple[str, ...]:
        return tuple(word for word in re.split(r"[,\s]+", header[field]) if word not in ("", "none"))

    return Query(name, sql, header["what"], names("grain"), names("inputs"), names("params"))


def checks_of(table: str) -> list[str]:
    """The claims that are checked about a table: files that return the offending rows."""
    return sorted(path.stem for path in (SQL_FOLDER / "checks").glob(f"{table}__*.sql"))


@contextmanager
def engine(lake: Lake, memory_limit_mb: int) -> Iterator[duckdb.DuckDBPyConnection]:
    """An in-memory DuckDB that spills under staging and cannot reach the network."""
    lake.staging.mkdir(parents=True, exist_ok=True)
    settings = {"memory_limit": f"{memory_limit_mb}MB", "temp_directory": str(lake.staging / "duckdb"), "threads": 2}
    with duckdb.connect(config=settings) as connection:
        connection.execute("set TimeZone = 'UTC'")
        yield connection


def bind(connection: duckdb.DuckDBPyConnection, lake: Lake, tables: tuple[str, ...]) -> None:
    """Make the tables visible under their names: the lake's files, or an empty table of the contract's shape."""
    for table in tables:
        files = [str(path) for path in lake.files(table)]
        if files:
            connection.read_parquet(files, hive_partitioning=False).create_view(table)
        else:
            connection.register(table, TABLES[table].empty().to_arrow())


def stream(
    lake: Lake, name: str, params: Mapping[str, Any], memory_limit_mb: int = 512
) -> Iterator[pl.DataFrame]:
    """The rows of a query, in batches."""
    chosen = query(name)
    with engine(lake, memory_limit_mb) as connection:
        bind(connection, lake, chosen.inputs)
        result = connection.execute(chosen.sql, {key: params[key] for key in chosen.params})
        for batch in result.to_arrow_reader(BATCH_ROWS):
            frame = pl.from_arrow(batch)
            assert isinstance(frame, pl.DataFrame)
            yield frame
