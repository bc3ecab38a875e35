"""The releases of a home by name: which there are, in which order, and under which partitions of `train__*` their records lie.

A release is called after the last day its as_of covers, `20260131`; other content for the same day is `20260131.2` (T5). In the
lake `release_date=2026-01-31` holds the newest release of that day, and `release_date=2026-01-31.1` one that was followed by
another.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

from dagster_project.errors import GristmillError
from dagster_project.lake.lake import Lake

EXPORTS, MANIFEST = "exports", "manifest.json"
EXCLUDED = "train__excluded"
EXCLUDED_EARLIER = (
    "train__excluded_earlier"  # what did not leave in releases that were followed by another of their day
)
_NAME = re.compile(r"(\d{8})(?:\.([1-9]\d*))?")


@dataclass(frozen=True, order=True)
class ReleaseName:
    """A day and a number; the first of a day is not numbered in writing."""

    day: date
    number: int = 1

    @classmethod
    def parsed(cls, name: str) -> "ReleaseName | None":
        """None for what is no release's name."""
        found = _NAME.fullmatch(name)
        if not found:
            return None
        try:
            return cls(datetime.strptime(found[1], "%Y%m%d").date(), int(found[2] or 1))
        except ValueError:
            return None

    def __str__(self) -> str:
        return f"{self.day:%Y%m%d}" + (f".{self.number}" if self.number > 1 else "")

    @property
    def next(self) -> "ReleaseName":
        return ReleaseName(self.day, self.number + 1)

    @property
    def partition(self) -> str:
        """Where its records lie while it is the newest of its day."""
        return f"release_date={self.day}"

    @property
    def earlier_partition(self) -> str:
        """Where they lie once another of its day has followed."""
        return f"release_date={self.day}.{self.number}"


def releases(home: Path) -> list[ReleaseName]:
    """All that are there, the oldest first."""
    folders = (home / EXPORTS).glob("[0-9]*")
    names = (ReleaseName.parsed(path.name) for path in folders if (path / MANIFEST).is_file())
    return sorted(name for name in names if name)


def newest_of(home: Path, day: date) -> ReleaseName | None:
    """The newest release of a day."""
    return max((name for name in releases(home) if name.day == day), default=None)


def named(home: Path, said: str) -> ReleaseName:
    """A release by the name a user gives; one that is not there is a one-line error."""
    known = releases(home)
    name = ReleaseName.parsed(said)
    if name is None or name not in known:
        there = f"there are {', '.join(map(str, known[-5:]))}" if known else "there is none yet"
        raise GristmillError(f"there is no release {said!r} under {home / EXPORTS}: {there}")
    return name


def partition_of(lake: Lake, name: ReleaseName) -> str:
    """What the partitions of `train__<format>` that hold a release begin with, before `/split=`."""
    earlier = f"{name.earlier_partition}/"
    is_earlier = any(part.startswith(earlier) for table in lake.catalog.tables for part in lake.partitions(table))
    return name.earlier_partition if is_earlier or name != newest_of(lake.home, name.day) else name.partition


def record_files(lake: Lake, table: str, name: ReleaseName) -> dict[str, Path]:
    """The files of one format of a release by split."""
    start = f"{partition_of(lake, name)}/split="
    found = (part for part in lake.partitions(table) if part.startswith(start))
    return {part.removeprefix(start): lake.path(table, part) for part in found}


def excluded_files(lake: Lake, name: ReleaseName) -> list[Path]:
    """What did not leave in a release."""
    earlier = f"release={name}"
    if earlier in lake.partitions(EXCLUDED_EARLIER):
        return lake.files(EXCLUDED_EARLIER, [earlier])
    return lake.files(EXCLUDED, [name.partition]) if name == newest_of(lake.home, name.day) else []


def partitions_of_release(lake: Lake, name: ReleaseName) -> Iterator[tuple[str, str]]:
    """Every partition of the lake that belongs to a release alone."""
    start = partition_of(lake, name)
    for table in list(lake.catalog.tables):
        for part in lake.partitions(table):
            is_own = table.startswith("train__") and (part == start or part.startswith(f"{start}/"))
            if is_own or (table == EXCLUDED_EARLIER and part == f"release={name}"):
                yield table, part


def make_way(lake: Lake, name: ReleaseName) -> None:
    """Keep what is published of a day's newest release beside the one that follows it."""
    for table, files in lake.published.tables.items():
        for part in files:
            if table == EXCLUDED and part == name.partition:
                lake.keep(table, part, EXCLUDED_EARLIER, f"release={name}")
            elif table.startswith("train__") and part.startswith(f"{name.partition}/"):
                lake.keep(table, part, table, part.replace(name.partition, name.earlier_partition, 1))
