"""Writes made-up feedback databases: `feedback.db`, and beside it the file used while the external disk is away."""

import gc
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import date
from pathlib import Path

from dagster_project.demo.database import NewDatabase
from dagster_project.demo.feedback.batches import COUNTS, FALLBACK, MAIN, Tables, make_batches_beside
from dagster_project.demo.feedback.exchanges import Demand
from dagster_project.demo.feedback.votes import COLUMNS
from dagster_project.demo.timeline import LAST_DAY

WIDTHS = {"feedback": len(COLUMNS), "feedback_aggregates": 13, "feedback_sessions": 12, "responses": 7}
RAW_TEXT = "update feedback set original_query = cast(original_query as text) where feedback_id = ?"


def write_feedback(
    path: Path,
    rows: int,
    seed: int,
    *,
    days: int = 90,
    last_day: date = LAST_DAY,
    hazards: bool = True,
    text_bytes: int | None = None,
) -> dict[str, int]:
    """Write one feedback database with exactly `rows` rows and say how often each hazard was planted."""
    return _write({MAIN: path}, Demand(rows, seed, days, last_day, hazards, text_bytes))


def write_feedback_files(
    folder: Path,
    rows: int,
    seed: int,
    *,
    days: int = 90,
    last_day: date = LAST_DAY,
    hazards: bool = True,
    text_bytes: int | None = None,
) -> dict[str, int]:
    """Write `feedback.db` and `feedback_fallback.db`, which together hold `rows` different feedback ids.

    About 2 % of the rows fall into an outage and go to the fallback file. Part of them stand in the main file as well.
    """
    paths = {name: folder / name for name in (MAIN, FALLBACK)}
    return _write(paths, Demand(rows, seed, days, last_day, hazards, text_bytes))


def _write(paths: dict[str, Path], demand: Demand) -> dict[str, int]:
    counts: dict[str, int] = {}
    with ExitStack() as stack:
        stack.enter_context(_without_cycle_search())
        files = {
            name: stack.enter_context(closing(NewDatabase(path, "feedback/tables.sql"))) for name, path in paths.items()
        }
        for name, content in make_batches_beside(demand, two_files=FALLBACK in paths):
            if name == COUNTS:
                counts = content
            elif name in files:
                _insert(files[name], content)
    return counts


def _insert(file: NewDatabase, tables: Tables) -> None:
    for table, width in WIDTHS.items():
        # `default` is the session of many, and a row carried over from the other file was counted before
        file.insert(table, tables[table], width, or_ignore=table.startswith("feedback_"))
    for key in tables["raw_texts"]:
        file.execute(RAW_TEXT, key)


@contextmanager
def _without_cycle_search() -> Iterator[None]:
    """Rows never refer to each other, so looking for cycles among millions of them only costs time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
