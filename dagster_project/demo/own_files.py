"""What in a folder of sources is the demo's own, and how a new demo takes its place without touching anything else.

A demo is built whole in a folder of its own inside `sources` and then moved, so a kill leaves no half-written database. The record
(`.demo.json`) names every file of the demo with its digest; while files are being moved it names the old and the new ones, so
the next demo knows all that a killed one left behind. A database carries a mark besides (`database.MARK`).
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dagster_project.demo.database import is_marked
from dagster_project.errors import GristmillError

RECORD, STAGING = ".demo.json", ".demo.part"
DATABASE = ".db"
# What SQLite keeps beside a database. The first two may hold rows that are not in the database yet.
LOGS, SHARED = ("-wal", "-journal"), "-shm"
TURN_FILES = ("transcripts", "users", "archive", "turn_*")


@dataclass(frozen=True)
class Found:
    """The files of a folder that are, or would be taken for, sources."""

    own: list[Path] = field(default_factory=list)
    changed: list[Path] = field(default_factory=list)  # the demo's, but written to since
    foreign: list[Path] = field(default_factory=list)


class OwnFiles:
    """The demo's files in one folder of sources."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._record = self._read_record()

    @property
    def is_half_done(self) -> bool:
        """Whether a demo was killed while its files were being moved."""
        return self._record.get("complete") is False

    @property
    def is_recorded(self) -> bool:
        return bool(self._record)

    def has_sources(self) -> bool:
        return next(self._source_paths(), None) is not None

    def check(self, force: bool) -> list[Path]:
        """Which changed files of the demo would be replaced. An error where anything must not be."""
        found = self._look()
        if found.foreign:
            raise GristmillError(
                f"{_named(found.foreign)} not written by the demo; nothing was touched: choose another --home, or move it away"
            )
        if found.changed and not force:
            raise GristmillError(
                f"{_named(found.changed)} changed since the demo was written; nothing was touched: --force replaces all of it"
            )
        return found.changed

    @contextmanager
    def staging(self) -> Iterator[Path]:
        """A folder to build a demo in, on the same disk; gone afterwards, and after the next demo if this one is killed."""
        part = self.folder / STAGING
        self.folder.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        try:
            yield part
        finally:
            shutil.rmtree(part, ignore_errors=True)

    def replace(self, staging: Path, about: dict[str, Any], force: bool) -> None:
        """Take the demo's own files away and move the new ones in, databases last."""
        self.check(force)  # once more: building takes time
        found = self._look()
        written = (path for path in _files_below(staging) if _beside(path) is None)
        new = sorted(written, key=lambda path: (path.suffix == DATABASE, path))
        digests = {str(path.relative_to(staging)): [_entry(path)] for path in new}
        old: dict[str, list[dict[str, Any]]] = self._record.get("files", {})
        both = {name: [*old.get(name, []), *digests.get(name, [])] for name in sorted({*old, *digests})}
        self._write_record({**about, "complete": False, "files": both})
        for path in (*found.own, *found.changed):
            _remove(path)
        self._remove_empty_folders()
        for path in new:
            _move(path, self.folder / path.relative_to(staging))
        self._write_record({**about, "complete": True, "files": digests})

    # --- looking -------------------------------------------------------------------------------------------------

    def _look(self) -> Found:
        found = Found()
        for path in self._source_paths():
            if (database := _beside(path)) is None:
                self._sort(path, found)
            elif not _is_plain(path) or not (_is_plain(database) or path.name.endswith(SHARED) or _is_empty(path)):
                found.foreign.append(path)
        return found

    def _sort(self, path: Path, found: Found) -> None:
        if not _is_plain(path):
            found.foreign.append(path)
            return
        known = self._record.get("files", {}).get(str(path.relative_to(self.folder)), [])
        is_database = path.suffix == DATABASE
        if not (is_database and _has_open_log(path)) and any(_is_as_written(path, entry) for entry in known):
            found.own.append(path)
        elif is_marked(path) if is_database else any(_begins_as_written(path, entry) for entry in known):
            found.changed.append(path)
        else:
            found.foreign.append(path)

    def _source_paths(self) -> Iterator[Path]:
        """Databases, what SQLite keeps beside them, transcripts and turn folders. A link is what it is, wherever it leads."""
        if not self.folder.is_dir():
            return
        for path in sorted(self.folder.iterdir()):
            if path.name.endswith((DATABASE, *(f"{DATABASE}{kind}" for kind in (*LOGS, SHARED)))):
                yield path
            elif any(path.match(pattern) for pattern in TURN_FILES):
                yield from _files_below(path)

    # --- the record ----------------------------------------------------------------------------------------------

    def _read_record(self) -> dict[str, Any]:
        """A record that cannot be read says nothing: then no file is known to be as the demo wrote it."""
        try:
            record = json.loads((self.folder / RECORD).read_text(encoding="utf-8"))
            entries = [entry for entries in record["files"].values() for entry in entries]
            is_sound = all(isinstance(entry["bytes"], int) and isinstance(entry["sha256"], str) for entry in entries)
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return {}
        return record if is_sound else {}

    def _write_record(self, record: dict[str, Any]) -> None:
        temporary = self.folder / STAGING / RECORD
        with temporary.open("w", encoding="utf-8") as file:
            file.write(json.dumps(record, indent=1) + "\n")
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self.folder / RECORD)
        self._record = record

    def _remove_empty_folders(self) -> None:
        for pattern in TURN_FILES:
            for top in self.folder.glob(pattern):
                folders = [top, *(path for path in top.rglob("*") if path.is_dir())] if not top.is_symlink() else []
                for path in sorted(folders, reverse=True):
                    with suppress(OSError):  # somebody's own folders stay, whatever is in them
                        path.rmdir()


def _files_below(path: Path) -> Iterator[Path]:
    """The path itself if it is no folder, else every file and link below it."""
    if path.is_symlink() or not path.is_dir():
        yield path
        return
    for child in sorted(path.iterdir()):
        if child.name != RECORD:
            yield from _files_below(child)


def _beside(path: Path) -> Path | None:
    """The database that SQLite keeps this file for, or none."""
    for kind in (*LOGS, SHARED):
        if path.name.endswith(f"{DATABASE}{kind}"):
            return path.with_name(path.name.removesuffix(kind))
    return None


def _has_open_log(database: Path) -> bool:
    return any(not _is_empty(database.with_name(database.name + kind)) for kind in LOGS)


def _is_empty(path: Path) -> bool:
    return not path.exists() or path.stat().st_size == 0


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _entry(path: Path) -> dict[str, Any]:
    size = path.stat().st_size
    return {"bytes": size, "sha256": _digest(path, size)}


def _is_as_written(path: Path, entry: dict[str, Any]) -> bool:
    return path.stat().st_size == entry["bytes"] and _digest(path, entry["bytes"]) == entry["sha256"]


def _begins_as_written(path: Path, entry: dict[str, Any]) -> bool:
    """A log that grew is still the demo's; one that says something else may be anybody's."""
    return path.stat().st_size > entry["bytes"] > 0 and _digest(path, entry["bytes"]) == entry["sha256"]


def _digest(path: Path, size: int) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while size > 0 and (piece := file.read(min(size, 1 << 20))):
            digest.update(piece)
            size -= len(piece)
    return digest.hexdigest()


def _remove(path: Path) -> None:
    """With what SQLite kept beside it first: a log left behind would be read into the next database of that name."""
    if path.suffix == DATABASE:
        for kind in (*LOGS, SHARED):
            path.with_name(path.name + kind).unlink(missing_ok=True)
    path.unlink()


def _move(path: Path, target: Path) -> None:
    """Never onto a file that is there, not even one that came this very moment."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(path, target)
    except FileExistsError as error:
        raise GristmillError(f"{target} was put there meanwhile and stays; run `gristmill demo` again") from error
    except OSError:  # a disk without hard links
        path.rename(target)
    else:
        path.unlink()


def _named(paths: Iterable[Path]) -> str:
    first, *others = paths
    if not others:
        return f"{first} was"
    return f"{first} and {len(others)} more files were"
