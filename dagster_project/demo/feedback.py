"""Writes made-up feedback databases: `feedback.db`, and beside it the file used while the external disk is away."""

import gc
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import date
from pathlib import Path

from dagster_project.demo.batches import COUNTS, FALLBACK, MAIN, Tables, make_batches_beside
from dagster_project.demo.conversations import Demand
from dagster_project.demo.votes import COLUMNS

HERE = Path(__file__).parent
LAST_DAY = date(2026, 1, 31)
INSERTS = {
    "feedback": f"insert into feedback values ({', '.join('?' * len(COLUMNS))})",
    "feedback_aggregates": "insert or ignore into feedback_aggregates"
    " values (?, ?, ?, null, ?, ?, ?, null, null, ?, ?, null, ?)",
    "feedback_sessions": "insert or ignore into feedback_sessions values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, null)",
    "responses": "insert into responses values (?, ?, ?, ?, ?, ?, ?)",
    "raw_texts": "update feedback set original_query = cast(original_query as text) where feedback_id = ?",
}
# Eight indexes mean eight scans of the table; mapped, they need no copy of every page.
MAPPED_BYTES = 16 << 30
SETTINGS = (
    "journal_mode = off",
    "synchronous = off",
    "locking_mode = exclusive",
    "cache_size = -400000",
    "threads = 4",
)


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
        files = {name: stack.enter_context(closing(FeedbackFile(path))) for name, path in paths.items()}
        for name, content in make_batches_beside(demand, two_files=FALLBACK in paths):
            if name == COUNTS:
                counts = content
            elif name in files:
                files[name].insert(content)
    return counts


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


class FeedbackFile:
    """A feedback database under construction; it is complete when it is closed."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        for stale in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
            stale.unlink(missing_ok=True)
        self._database = sqlite3.connect(path, isolation_level=None)
        for setting in SETTINGS:
            self._database.execute(f"pragma {setting}")
        self._run("feedback.sql")
        self._database.execute("begin")

    def insert(self, tables: Tables) -> None:
        for name, rows in tables.items():
            self._database.executemany(INSERTS[name], rows)

    def close(self) -> None:
        """Add the indexes, then the trigger, which must not run for rows that are already accounted for."""
        self._database.execute("commit")
        self._database.execute(f"pragma mmap_size = {MAPPED_BYTES}")
        self._run("feedback_indexes.sql")
        self._database.execute("pragma locking_mode = normal")
        self._database.execute("pragma journal_mode = wal")
        self._database.close()

    def _run(self, script: str) -> None:
        self._database.executescript((HERE / script).read_text(encoding="utf-8"))
