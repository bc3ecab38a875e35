"""`gristmill query`: one SELECT asked of the warehouse, within limits of time and memory, and its answer as text.

Rows are handed on as they come, so an answer may be larger than memory; only a table for the terminal is held whole, and cut.
"""

import csv
import io
import itertools
import json
import math
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import polars as pl

from dagster_project.config import Config
from dagster_project.engines.queries import fence_in
from dagster_project.engines.warehouse_file import own_warehouse, write_portable
from dagster_project.engines.warehouse_folder import HOME, quoted
from dagster_project.errors import GristmillError
from dagster_project.lake.lake import WAREHOUSE, published

MEMORY_MB, SPILL_MB = 1_000, 10_000  # what one question may take of memory, and of a temporary folder beyond that
DEFAULT_SECONDS = 300.0
ROWS_AT_ONCE = 2_000
MOST_TABLE_ROWS = 10_000
T = TypeVar("T")


@dataclass(frozen=True)
class Answer:
    """Column names, and rows as Python values as they come."""

    columns: list[str]
    rows: Iterable[tuple[Any, ...]]


@contextmanager
def answer(config: Config, sql: str, seconds: float = DEFAULT_SECONDS) -> Iterator[Answer]:
    """One SELECT. Anything that could write is refused before it runs; so is EXPLAIN, which can run what it explains."""
    try:
        with _warehouse(config) as connection:
            statements = connection.extract_statements(sql)
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                raise GristmillError("only a single SELECT can be asked")
            clock = _Clock(connection, seconds)
            result = clock.within(lambda: connection.execute(sql))
            names = [column[0] for column in result.description or []]
            unique = [name if names.count(name) == 1 else f"{name} ({place})" for place, name in enumerate(names)]
            yield Answer(unique, _rows(result, clock))
    except duckdb.InterruptException as error:
        raise GristmillError(
            f"the answer took longer than {seconds:g} seconds: ask for less, or allow more with --timeout SECONDS"
        ) from error
    except duckdb.OutOfMemoryException as error:
        raise GristmillError(f"the answer needs more than {MEMORY_MB} MB of memory: ask for less at once") from error
    except duckdb.Error as error:
        raise GristmillError(" ".join(str(error).split())) from error


@contextmanager
def _warehouse(config: Config) -> Iterator[duckdb.DuckDBPyConnection]:
    """The warehouse, read-only, blind to everything outside the home."""
    lake = published(config.home)
    places = (lake.folder / WAREHOUSE, lake.home / WAREHOUSE)  # an earlier version had none in the snapshot
    path = next((place for place in places if place.exists()), None)
    if path is None:
        raise GristmillError(f"there is no {places[0]}: `gristmill run` makes it again")
    with tempfile.TemporaryDirectory(prefix="gristmill-query-") as spill:
        limits: dict[str, Any] = {
            "memory_limit": f"{MEMORY_MB}MB",
            "temp_directory": spill,
            "max_temp_directory_size": f"{SPILL_MB}MB",
        }
        with duckdb.connect(str(path), read_only=True, config=limits) as connection:
            connection.execute(f"set variable {HOME} = {quoted(lake.home)}")  # its temporary folder is not the file's
            fence_in(connection, config.home)
            yield connection


def carry_away(config: Config, file: Path) -> int:
    """Write what is published into one file that needs no other; returns its bytes."""
    lake = published(config.home)
    if not own_warehouse(lake).exists():
        raise GristmillError(f"there is no {own_warehouse(lake)}: `gristmill run` makes it again")
    write_portable(lake, file.absolute())
    return file.stat().st_size


class _Clock:
    """Counts the time the engine takes, not the time whoever reads the answer does."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, seconds: float) -> None:
        self.connection, self.left = connection, seconds

    def within(self, work: Callable[[], T]) -> T:
        began = time.monotonic()
        timer = threading.Timer(max(self.left, 0.001), self.connection.interrupt)
        timer.daemon = True
        timer.start()
        try:
            return work()
        finally:
            timer.cancel()
            self.left -= time.monotonic() - began


def _rows(result: duckdb.DuckDBPyConnection, clock: _Clock) -> Iterator[tuple[Any, ...]]:
    while rows := clock.within(lambda: result.fetchmany(ROWS_AT_ONCE)):
        yield from rows


# --- as text -----------------------------------------------------------------------------------------------------


def as_text(found: Answer, form: str) -> Iterator[str]:
    """An answer as csv, json or a table for a terminal, piece by piece."""
    rows = ([_plain(value) for value in row] for row in found.rows)
    if form == "json":
        yield from _json(found.columns, rows)
    elif form == "csv":
        yield from _csv(found.columns, rows)
    else:
        yield _table(found.columns, rows)


def _json(columns: list[str], rows: Iterator[list[Any]]) -> Iterator[str]:
    """An array of objects."""
    separator = "[\n"
    for row in rows:
        record = json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False, indent=2)
        yield separator + "\n".join(f"  {line}" for line in record.split("\n"))
        separator = ",\n"
    yield "[]\n" if separator == "[\n" else "\n]\n"


def _csv(columns: list[str], rows: Iterator[list[Any]]) -> Iterator[str]:
    for row in itertools.chain([columns], rows):
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow([_cell(value) for value in row])
        yield line.getvalue()


def _table(columns: list[str], rows: Iterator[list[Any]]) -> str:
    texts = [[_cell(value) for value in row] for row in itertools.islice(rows, MOST_TABLE_ROWS + 1)]
    is_cut = len(texts) > MOST_TABLE_ROWS
    texts = texts[:MOST_TABLE_ROWS]
    cells = {str(place): [row[place] for row in texts] for place in range(len(columns))}
    frame = pl.DataFrame(cells, schema=dict.fromkeys(cells, pl.String))
    frame.columns = columns
    with pl.Config(
        tbl_rows=-1,
        tbl_cols=-1,
        tbl_width_chars=-1,
        fmt_str_lengths=80,
        tbl_hide_dataframe_shape=True,
        tbl_hide_column_data_types=True,
    ):
        count = f"the first {len(texts)} rows; --format csv or json gives all" if is_cut else f"{len(texts)} rows"
        return f"{frame}\n{count}\n"


def _plain(value: Any) -> Any:
    """A value as JSON can say it."""
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, bytes):
        return value.hex()
    return value if value is None or isinstance(value, str | int | bool) else str(value)


def _cell(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
