"""A demo database under construction: tables, then rows, then what is better made at the end.

It is always a new file, and it carries a mark, so that a later demo can tell its own files from anybody else's.
"""

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
# `pragma application_id`, which SQLite keeps in bytes 68 to 71 of the file: "GMdm".
MARK = 0x474D646D
MARK_PLACE = slice(68, 72)
# What stands below this line of a script runs once the rows are in: an index is faster to build at once, and a trigger must
# not run for rows that are already accounted for.
AFTER_ROWS = "-- after the rows"
SETTINGS = (
    f"application_id = {MARK}",
    "journal_mode = off",
    "synchronous = off",
    "locking_mode = exclusive",
    "cache_size = -400000",
    "threads = 4",
)
# Eight indexes mean eight scans of the table; mapped, they need no copy of every page.
MAPPED_BYTES = 16 << 30

Row = tuple[Any, ...]


class NewDatabase:
    """Complete when it is closed. An existing file is an error, never replaced."""

    def __init__(self, path: Path, script: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("xb").close()
        self._database = sqlite3.connect(path, isolation_level=None)
        for setting in SETTINGS:
            self.execute(f"pragma {setting}")
        tables, _, self._ending = (HERE / script).read_text(encoding="utf-8").partition(AFTER_ROWS)
        self._database.executescript(tables)
        self.execute("begin")

    def execute(self, statement: str, values: Row = ()) -> None:
        self._database.execute(statement, values)

    def insert(self, table: str, rows: Iterable[Row], columns: int, or_ignore: bool = False) -> None:
        verb = "insert or ignore" if or_ignore else "insert"
        self._database.executemany(f"{verb} into {table} values ({', '.join('?' * columns)})", rows)

    def close(self) -> None:
        """Add the rest and leave the file as a live source would: in WAL mode, open to others."""
        self.execute("commit")
        self.execute(f"pragma mmap_size = {MAPPED_BYTES}")
        self._database.executescript(self._ending)
        self.execute("pragma locking_mode = normal")
        self.execute("pragma journal_mode = wal")
        self._database.close()


def is_marked(path: Path) -> bool:
    """Whether the demo made this database, whatever became of it since."""
    with path.open("rb") as file:
        return file.read(100)[MARK_PLACE] == MARK.to_bytes(4, "big")
