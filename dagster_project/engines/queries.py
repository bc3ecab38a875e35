"""Find a .sql file, bind its inputs and parameters, run it in DuckDB, write or fetch the result.

A file's header says what one row is, its grain, its inputs and its parameters; assets take their dependencies from
there, so a query cannot read what it does not declare. What is asked about some rows of a table alone finds those in its place,
also behind the views it reads (`instead`).

Every file of a stored table ends in an order by its whole grain, so that its rows, and with them its bytes, do not depend on
how many threads or how much memory the engine has. A view has no order: nothing is written.
"""

import hashlib
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar
from uuid import uuid4

import duckdb
import polars as pl

from dagster_project.contracts import TABLES
from dagster_project.engines.sql_functions import expanded
from dagster_project.errors import GristmillError
from dagster_project.lake.lake import PLACES, Lake
from dagster_project.lake.parquet import as_pattern

Result = TypeVar("Result")
SQL_FOLDER = Path(__file__).parent.parent / "sql"
NOTHING: Mapping[str, Path] = MappingProxyType({})
PARQUET = "format parquet, compression zstd, compression_level 1, row_group_size 61440"


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

    def filled_in(self, params: Mapping[str, Any]) -> str:
        """Its text with the parameters' values in their places: a view cannot have any."""
        return re.sub(r"\$([a-z_]+)", lambda found: _literal(params[found[1]]), self.sql)


@cache
def query(name: str) -> Query:
    """The query of a table or check, by its name."""
    return parsed(name, expanded(file_of(name).read_text(encoding="utf-8")))


def parsed(name: str, sql: str) -> Query:
    """A query from its text."""
    header = re.match(
        r"-- (?P<what>.+)\n-- grain: (?P<grain>.*)\n-- inputs: (?P<inputs>.*)\n-- params: (?P<params>.*)\n", sql
    )
    if header is None:
        raise ValueError(f"{name}.sql: the header must be four comment lines: what, grain, inputs, params")

    def names(field: str) -> tuple[str, ...]:
        words = (word.strip() for word in header[field].split(","))
        return tuple(word for word in words if word != "none")

    return Query(name, sql, header["what"], names("grain"), names("inputs"), names("params"))


def _literal(value: Any) -> str:
    """A value as portable SQL writes it."""
    if isinstance(value, datetime):
        return f"timestamptz '{value.isoformat(sep=' ')}'"
    if isinstance(value, date):
        return f"date '{value}'"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value!r}::double"
    return str(value) if isinstance(value, int) else "'{}'".format(str(value).replace("'", "''"))


def file_of(name: str) -> Path:
    (path,) = SQL_FOLDER.glob(f"*/{name}.sql")
    return path


def checks_of(table: str) -> list[str]:
    """The claims that are checked about a table: files that return the offending rows."""
    return sorted(path.stem for path in (SQL_FOLDER / "checks").glob(f"{table}__*.sql"))


class MemoryIsShort(GristmillError):
    """A query cannot do with the memory it was given."""


MORE_MEMORY = (1, 2, 4, 8)  # times the limit: first as asked, then so much as a query cannot do without


def _with_enough(
    lake: Lake, memory_limit_mb: int, threads: int, work: Callable[[duckdb.DuckDBPyConnection], Result]
) -> Result:
    """What `work` makes of a connection. Most queries spill what is beyond their memory; a join of several large tables needs a
    part of each in memory at once, and then gets more instead of failing: bytes do not depend on it."""
    for times in MORE_MEMORY[:-1]:
        try:
            with engine(lake, memory_limit_mb * times, threads) as connection:
                return work(connection)
        except MemoryIsShort:
            continue
    with engine(lake, memory_limit_mb * MORE_MEMORY[-1], threads) as connection:
        return work(connection)


@contextmanager
def engine(lake: Lake, memory_limit_mb: int, threads: int = 1) -> Iterator[duckdb.DuckDBPyConnection]:
    """An in-memory DuckDB that spills under staging and reaches neither the network nor a file outside the home.

    The bytes of a table do not depend on `threads`."""
    lake.staging.mkdir(parents=True, exist_ok=True)
    try:
        with _connection(lake, memory_limit_mb, lake.staging / "duckdb", threads) as connection:
            yield connection
    except duckdb.OutOfMemoryException as error:
        raise MemoryIsShort(
            f"{memory_limit_mb} MB of memory are too little for this much data: set memory_limit_mb higher "
            "(gristmill.toml or GRISTMILL_MEMORY_LIMIT_MB); nothing was published"
        ) from error


def _connection(lake: Lake, memory_limit_mb: int, spill: Path, threads: int = 1) -> duckdb.DuckDBPyConnection:
    """`spill` is made when memory is full, and removed with the connection; the folder above it must be there."""
    settings = {"memory_limit": f"{memory_limit_mb}MB", "temp_directory": str(spill), "threads": threads}
    connection = duckdb.connect(config=settings)
    fence_in(connection, lake.home)
    return connection


def fence_in(connection: duckdb.DuckDBPyConnection, home: Path) -> None:
    """From here on the connection sees the home and what its folders link to, and its settings stay as they are."""
    home = home.absolute()
    places = [home, *(home / name for name in PLACES if (home / name).is_symlink())]
    folders = [f"{folder}/".replace("'", "''") for place in places for folder in (place, as_pattern(place))]
    for setting in (
        "TimeZone = 'UTC'",
        "autoinstall_known_extensions = false",
        "autoload_known_extensions = false",
        "python_enable_replacements = false",  # variables of ours are no tables
        "allowed_directories = [{}]".format(", ".join(f"'{folder}'" for folder in folders)),
        "enable_external_access = false",
        "lock_configuration = true",
    ):
        connection.execute(f"set {setting}")


def bind(
    connection: duckdb.DuckDBPyConnection, lake: Lake, tables: Iterable[str], instead: Mapping[str, Path] = NOTHING
) -> None:
    """Make tables of the lake visible; for views, what they are made of. `instead`: tables of which a file has the rows meant."""
    tables = [*tables]
    views = views_behind(lake, tables)
    for table in dict.fromkeys([*tables, *(name for view in views for name in _view(lake, view).inputs)]):
        if table in instead:
            connection.read_parquet(as_pattern(instead[table]), hive_partitioning=False).create_view(
                table, replace=True
            )
        elif table not in views:
            relation(connection, lake, table).create_view(table, replace=True)
    for view in views:
        connection.execute(f"create or replace view {view} as {view_query(lake, view)}")


def views_behind(lake: Lake, tables: Iterable[str]) -> list[str]:
    """Those of the tables that are views, and the views they are made of, which come first."""
    found: dict[str, None] = {}

    def add(table: str) -> None:
        if table in lake.catalog.views and table not in found:
            for below in _view(lake, table).inputs:
                add(below)
            found[table] = None

    for table in tables:
        add(table)
    return list(found)


def _view(lake: Lake, view: str) -> Query:
    return parsed(view, lake.catalog.views[view])


def view_query(lake: Lake, view: str) -> str:
    return f"select {TABLES[view].select_list} from ({lake.catalog.views[view]})"


def relation(
    connection: duckdb.DuckDBPyConnection, lake: Lake, table: str, partitions: Iterable[str] | None = None
) -> duckdb.DuckDBPyRelation:
    """The files of a table, or of some partitions of it, or an empty table of the contract's shape."""
    files = [as_pattern(path) for path in lake.files(table, partitions)]
    if not files:
        return connection.from_arrow(TABLES[table].empty().to_arrow())
    return connection.read_parquet(files, hive_partitioning=False)


def write(
    lake: Lake,
    name: str,
    params: Mapping[str, Any],
    columns: str,
    file: Path,
    memory_limit_mb: int = 300,
    threads: int = 1,
    instead: Mapping[str, Path] = NOTHING,
    untouched: str = "",
) -> int:
    """Run a query straight into a Parquet file with these `columns`; returns its rows. `untouched` is a query, too: of rows that
    stay as they are, beside those that are asked for."""
    chosen = query(name)
    target = str(file).replace("'", "''")
    rows = f"select {columns} from ({chosen.sql})"
    if untouched:
        rows = f"select * from ({untouched} union all {rows}) order by {', '.join(chosen.grain)}"
    copy = f"copy ({rows}) to '{target}' ({PARQUET})"

    def work(connection: duckdb.DuckDBPyConnection) -> tuple[int] | None:
        bind(connection, lake, chosen.inputs, instead)
        return connection.execute(copy, {key: params[key] for key in chosen.params}).fetchone()

    found = _with_enough(lake, memory_limit_mb, threads, work)
    return found[0] if found else 0


def fetch(
    lake: Lake,
    name: str,
    params: Mapping[str, Any],
    memory_limit_mb: int = 300,
    threads: int = 1,
    instead: Mapping[str, Path] = NOTHING,
) -> pl.DataFrame:
    """The rows of a query that gives few."""
    chosen = query(name)

    def work(connection: duckdb.DuckDBPyConnection) -> pl.DataFrame:
        bind(connection, lake, chosen.inputs, instead)
        return connection.sql(chosen.sql, params={key: params[key] for key in chosen.params}).pl()

    return _with_enough(lake, memory_limit_mb, threads, work)


def stream(
    lake: Lake,
    name: str,
    params: Mapping[str, Any],
    memory_limit_mb: int = 300,
    threads: int = 1,
    batch_rows: int = 50_000,
) -> Iterator[pl.DataFrame]:
    """The rows of a query that gives many, some at a time."""
    chosen = query(name)
    with engine(lake, memory_limit_mb, threads) as connection:
        bind(connection, lake, chosen.inputs)
        found = connection.sql(chosen.sql, params={key: params[key] for key in chosen.params})
        for batch in found.to_arrow_reader(batch_rows):
            yield pl.DataFrame(batch)


def view(lake: Lake, table: str, memory_limit_mb: int = 300) -> pl.LazyFrame:
    """The rows of a view, computed when they are collected; what is asked of them goes into its query.

    It spills where nobody sweeps: a run beside a reader sweeps staging, and a reader may not write to the home at all.
    """
    spill = Path(tempfile.gettempdir()) / f"gristmill-view-{uuid4().hex}"
    connection = _connection(lake, memory_limit_mb, spill)  # lives as long as the frame does
    bind(connection, lake, [table])
    return connection.table(table).pl(lazy=True)
