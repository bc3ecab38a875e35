"""A SQLite file from outside: whether it is there, is one, is whole, and what an error of SQLite's means to its owner.

SQLite pads a file that was cut short with zeros and reads on, so rows can vanish without an error (G3). Nothing here opens
the database while SQLite has it open: closing a handle of our own would drop SQLite's locks. The write-ahead log has none.
"""

import os
import re
import stat
import struct
import time
from pathlib import Path

from dagster_project.errors import GristmillError

TICK_SECONDS = 2.0
MAGIC = b"SQLite format 3\0"
WAL_HEADER, FRAME_HEADER = struct.Struct(">8I"), struct.Struct(">6I")
_LOCKED = re.compile(r"\b(database( table| schema)? is locked|locking protocol)\b")
_SQLITE_SAYS = re.compile(r"^[A-Z_]+: \[SQLite\] (?:Failed to \w+ query: )?|(?: query: |\nquery: ).*", re.DOTALL)


class SourceLocked(GristmillError):
    """Worth another try in a while."""


def check_is_sqlite(path: Path) -> None:
    """Looked at before SQLite opens the file. What is no plain file is never opened: a pipe would keep us waiting."""
    try:
        kind = path.stat().st_mode
        if not stat.S_ISREG(kind):
            raise GristmillError(f"source {path} is not a file")
        with path.open("rb") as file:
            header = file.read(len(MAGIC))
    except FileNotFoundError as error:
        raise GristmillError(f"source {path} does not exist") from error
    except OSError as error:
        raise GristmillError(f"source {path} cannot be read: {error.strerror}") from error
    if header and header != MAGIC:
        raise GristmillError(f"source {path} is not an SQLite database")


def check_is_whole(path: Path, page_size: int, page_count: int) -> None:
    """Whether the file and its write-ahead log have all the pages of the transaction that is open on them."""
    there = path.stat().st_size // page_size
    if there >= page_count:
        return
    missing = set(range(there + 1, page_count + 1)) - _pages_in_log(beside(path, "-wal"))
    if missing:
        raise GristmillError(
            f"source {path} is cut short: {path.stat().st_size:,} bytes where {page_count} pages of {page_size} bytes "
            "belong; restore it from a copy"
        )


def _pages_in_log(log: Path) -> set[int]:
    """The pages a write-ahead log holds: frames that carry the salt of its header, up to the first that does not."""
    pages: set[int] = set()
    try:
        with log.open("rb") as file:
            header = file.read(WAL_HEADER.size)
            if len(header) < WAL_HEADER.size:
                return pages
            _, _, page_size, _, *salt, _, _ = WAL_HEADER.unpack(header)
            size = os.fstat(file.fileno()).st_size
            while len(frame := file.read(FRAME_HEADER.size)) == FRAME_HEADER.size:
                page, _, *frame_salt, _, _ = FRAME_HEADER.unpack(frame)
                if frame_salt != salt or file.seek(page_size, os.SEEK_CUR) > size:
                    break
                pages.add(page)
    except FileNotFoundError:
        return pages
    return pages


def identity(database: Path) -> list[int]:
    """Changes whenever the file or its write-ahead log is written to; an empty log is none."""
    found: list[int] = []
    for path in (database, beside(database, "-wal")):
        try:
            status = path.stat()
        except FileNotFoundError:
            continue
        if status.st_size:
            found += [status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]
    return found


def is_settled(identified: list[int]) -> bool:
    """Whether a later change is bound to show in the identity: two within one tick of the clock leave the same times."""
    newest = max([*identified[2::4], *identified[3::4]], default=0)
    return bool(identified) and newest / 1e9 < time.time() - TICK_SECONDS


def source_error(path: Path, error: Exception) -> GristmillError:
    """What went wrong in one line, without our query."""
    text = " ".join(_SQLITE_SAYS.sub("", str(error)).split())
    if _LOCKED.search(text) or "database is locked" in str(error):
        return SourceLocked(f"source {path} is locked by a writer: {text}")
    journal = beside(path, "-journal")
    if "readonly database" in text and journal.exists():
        return GristmillError(
            f"source {path} holds half of a change whose writer died ({journal.name}): we never write to a source, so "
            f"open it once with its own program, or with `sqlite3 {path.name} .tables`, and run again"
        )
    if "malformed" in text and (cut := _cut_short(path)):
        return cut
    return GristmillError(f"source {path}: {text}")


def _cut_short(path: Path) -> GristmillError | None:
    """Where SQLite itself could not count its pages: what is missing may be what it needs for that.

    Opens the file, which drops SQLite's locks: nothing of it is read any more, the error ends the run.
    """
    try:
        with path.open("rb") as file:
            header = file.read(32)
        page_size, page_count = int.from_bytes(header[16:18]), int.from_bytes(header[28:32])
        check_is_whole(path, 65_536 if page_size == 1 else page_size or 1, page_count)
    except GristmillError as cut:
        return cut
    except OSError:  # the file went away: SQLite's own words are all there is to tell
        return None
    return None


def beside(path: Path, suffix: str) -> Path:
    """A file SQLite keeps beside the database; of a link, beside what it leads to."""
    real = path.resolve()
    return real.with_name(real.name + suffix)
