"""Fingerprints of source tables, kept while a file stays as it is: a scan of every row is most of what an idle run does.

A file that was not written to since has the same size and times, its write-ahead log too. That is trusted only if its
last change was a while before the look (`sqlite_file.is_settled`). The cache
lies under `<home>/runs` and may be removed: it is no output, and a look without it gives the same.
"""

import contextlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from dagster_project.contracts.source_table import TableSpec
from dagster_project.databases.sqlite_file import identity, is_settled
from dagster_project.lake.placing import write_atomically


@dataclass
class Fingerprints:
    """What one scan of a table found: per day its fingerprint, and the rowids of undated rows."""

    days: list[list[Any]]
    undated: list[int]
    identity: list[int] = field(default_factory=list)


class FingerprintCache:
    """Fingerprints by file and table. Without a home nothing is kept."""

    def __init__(self, home: Path | None, code: str = "") -> None:
        """`code` is the identity of the code that looks; by other code everything is looked at again (G12)."""
        self._path = home / "runs" / "fingerprints.json" if home else None
        self._code = code
        self._kept: dict[str, dict[str, Any]] = {}
        if self._path and self._path.exists():
            try:
                kept = json.loads(self._path.read_text(encoding="utf-8"))
                self._kept = kept["fingerprints"] if kept["code"] == self._code else {}
            except (ValueError, KeyError, TypeError):  # a cache: what cannot be read is looked at again
                self._kept = {}

    def get(self, database: Path, spec: TableSpec) -> Fingerprints | None:
        """What is kept, if the file is still as it was. Ask after the read transaction has begun."""
        kept = self._kept.get(_key(database, spec))
        return Fingerprints(**kept) if kept and kept["identity"] == identity(database) else None

    def put(self, database: Path, spec: TableSpec, found: Fingerprints) -> None:
        """Keep what was found. Its identity must have been taken before the read transaction began."""
        if self._path and is_settled(found.identity):
            self._kept[_key(database, spec)] = asdict(found)
            kept = json.dumps({"code": self._code, "fingerprints": self._kept}, separators=(",", ":"))
            with contextlib.suppress(OSError):  # a cache: where nothing can be written, the next look finds the same
                self._path.parent.mkdir(parents=True, exist_ok=True)
                write_atomically(self._path, kept)


def _key(database: Path, spec: TableSpec) -> str:
    return f"{database.absolute()} {spec.reading} {spec.where} {spec.edited} {spec.measured}"
