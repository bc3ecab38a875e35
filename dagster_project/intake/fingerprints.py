"""How the days of a source table look from outside (G7): fingerprints, and which days look different from when they were read."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Any

from dagster_project.columns.instants import EPOCH
from dagster_project.contracts.source_table import TableSpec
from dagster_project.databases.fingerprint_cache import FingerprintCache
from dagster_project.intake.open_files import OpenFile

ALWAYS_READ_DAYS = 3
UNDATED = "undated"  # stands in the catalogue for the day of rows that have none


@dataclass(frozen=True)
class Fingerprint:
    """What a day of a file looks like from outside."""

    rows: int
    lowest: int
    highest: int
    digest: int


@dataclass
class Seen:
    """What the files hold now: per day (None = no valid event time) and file, its fingerprint."""

    days: dict[date | None, dict[str, Fingerprint]]
    dated_beside: dict[str, dict[int, int]] = field(
        default_factory=dict
    )  # file -> row without a time of its own -> day

    @property
    def dates(self) -> list[date]:
        return sorted(day for day in self.days if day is not None)

    def rows(self, day: date | None) -> int:
        return sum(fingerprint.rows for fingerprint in self.days.get(day, {}).values())

    def as_stored(self, day: date | None) -> dict[str, list[int]]:
        """The part that decides whether a day changed, as it is kept in the catalogue."""
        return {label: [f.rows, f.highest, f.digest] for label, f in sorted(self.days.get(day, {}).items())}


def look(files: Sequence[OpenFile], spec: TableSpec, cache: FingerprintCache) -> Seen:
    """Fingerprint every day of every file."""
    seen = Seen({})
    for file in files:
        found = file.database.look(spec, cache)
        for day, rows, lowest, highest, digest in found.days:
            key = None if day is None else EPOCH + timedelta(days=day)
            seen.days.setdefault(key, {})[file.label] = Fingerprint(rows, lowest, highest, digest)
        if spec.dated_beside and found.undated:
            _move_to_days(seen, file.label, spec.dated_beside(file.database, spec, found.undated))
    return seen


def remembered(seen: Seen, stored: Mapping[str, Any], missing: Collection[str]) -> Seen:
    """With the files that are missing as they looked when they were read (G13); `stored` are days of the catalogue."""
    for day, entry in stored.items() if missing else ():
        key = None if day == UNDATED else date.fromisoformat(day)
        for label, (rows, highest, digest) in entry["files"].items():
            if label in missing:
                seen.days.setdefault(key, {})[label] = Fingerprint(rows, highest, highest, digest)
    return seen


def _move_to_days(seen: Seen, label: str, moved: Mapping[int, int]) -> None:
    """Rows that something beside their table dates are counted on that day."""
    seen.dated_beside[label] = dict(moved)
    for rowid, number in moved.items():
        undated, day = seen.days[None][label], EPOCH + timedelta(days=number)
        seen.days[None][label] = replace(undated, rows=undated.rows - 1)
        old = seen.days.setdefault(day, {}).get(label, Fingerprint(0, rowid, rowid, 0))
        seen.days[day][label] = Fingerprint(
            # an edit of any undated row changes their digest, and with it these days'
            old.rows + 1,
            min(old.lowest, rowid),
            max(old.highest, rowid),
            old.digest + hash((rowid, undated.digest)),
        )
    if not any(found.rows for found in seen.days.get(None, {}).values()):
        seen.days.pop(None, None)


def changed_days(seen: Seen, stored: Mapping[str, Any]) -> set[date]:
    """Days that look different from when they were read, or are new, or are gone."""
    known = {date.fromisoformat(day): entry["files"] for day, entry in stored.items()}
    return {day for day in {*seen.dates, *known} if seen.as_stored(day) != known.get(day)}


def last_days(as_of_day: date) -> set[date]:
    """The days a run always reads again: the last three before as_of, whose exclusive end is `as_of_day`."""
    return {as_of_day - timedelta(days=back) for back in range(1, ALWAYS_READ_DAYS + 1)}
