"""Find a .sql file, bind its inputs and parameters, run it in DuckDB, write or fetch the result.

A file's header says what one row is, its grain, its inputs and its parameters; assets take their dependencies from
there, so a query cannot read what it does not declare.

Every file ends in an order by its whole grain, so that the rows of a table, and with them its bytes, do not depend on
how many threads or how much memory the engine has.
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
from dagster_project.errors import GristmillError
from dagster_project.lake.lake import PLACES, Lake
from dagster_project.lake.parquet import as_pattern

SQL_FOLDER = Path(__file__).parent.parent / "sql"
THREADS = 1  # the bytes of a table do not depend on it
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
        words = (word.strip() for word in header[field].split(","))
        return tuple(word for word in words if word != "none")

    return Query(name, sql, header["what"], names("grain"), names("inputs"), names("params"))


def checks_of(table: str) -> list[str]:
    """The claims that are checked about a table: files that return the offending rows."""
    return sorted(path.stem for path in (SQL_FOLDER / "checks").glob(f"{table}__*.sql"))


@contextmanager
def engine(lake: Lake, memory_limit_mb: int) -> Iterator[duckdb.DuckDBPyConnection]:
    """An in-memory DuckDB that spills under staging and reaches neither the network nor a file outside the home."""
    lake.staging.mkdir(parents=True, exist_ok=True)
    settings = {"memory_limit": f"{memory_limit_mb}MB", "temp_directory": str(lake.staging / "duckdb")}
    try:
        with duckdb.connect(config={**settings, "threads": THREADS}) as connection:
            fence_in(connection, lake.home)
            yield connection
    except duckdb.OutOfMemoryException as error:
        raise GristmillError(
            f"memory_limit_mb = {memory_limit_mb} is too little for this much data: set it higher "
            "(gristmill.toml or GRISTMILL_MEMORY_LIMIT_MB); nothing was published"
        ) from error


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


def relation(connection: duckdb.DuckDBPyConnection, lake: Lake, table: str) -> duckdb.DuckDBPyRelation:
    """A table of the lake: its files, or an empty table of the contract's shape."""
    files = [as_pattern(path) for path in lake.files(table)]
    empty = TABLES[table].empty().to_arrow()
    return connection.read_parquet(files, hive_partitioning=False) if files else connection.from_arrow(empty)


def bind(connection: duckdb.DuckDBPyConnection, lake: Lake, table: str) -> None:
    """Make a table of the lake visible under its name."""
    relation(connection, lake, table).create_view(table, replace=True)


def write(
    lake: Lake, name: str, params: Mapping[str, Any], columns: str, file: Path, memory_limit_mb: int = 300
) -> int:
    """Run a query straight into a Parquet file with these `columns`; returns its rows."""
    chosen = query(name)
    with engine(lake, memory_limit_mb) as connection:
        for table in chosen.inputs:
            bind(connection, lake, table)
        target = str(file).replace("'", "''")
        copy = f"copy (select {columns} from ({chosen.sql})) to '{target}' ({PARQUET})"
        found = connection.execute(copy, {key: params[key] for key in chosen.params}).fetchone()
    return found[0] if found else 0


def fetch(lake: Lake, name: str, params: Mapping[str, Any], memory_limit_mb: int = 300) -> pl.DataFrame:
    """The rows of a query that gives few."""
    chosen = query(name)
    with engine(lake, memory_limit_mb) as connection:
        for table in chosen.inputs:
            bind(connection, lake, table)
        return connection.sql(chosen.sql, params={key: params[key] for key in chosen.params}).pl()
