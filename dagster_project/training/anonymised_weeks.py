"""Weeks that were made anonymous stay as they were: one file each in the state, taken from there by every later release (S6).

Otherwise two releases could be compared: whoever deletes or edits a session, or rates one late, would show as the difference.
With this, releases differ by whole weeks, and each week is anonymous on its own. A file is `state/anonymised/<ISO week>.parquet`:
combinations with the number of their sessions, and in its footer what became of the week's sessions and how it was made.

New weeks are written to staging and go into the state in the commit that publishes the release they first appear in. A run in
the past (G2) adds none: it covers only weeks the published as_of covers too, so whatever it finds without a file had no
session then, or the state was lost; either way another account of that week may be out, and it is left out.
A week without a single session with feedback in time is not kept: nothing was said of it, so it may still come.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq

from dagster_project.errors import GristmillError
from dagster_project.lake.lake import Lake
from dagster_project.lake.placing import Move
from dagster_project.training.anonymised import COMBINATIONS, Anonymised, Counts

WEEK, GRACE = timedelta(days=7), timedelta(days=14)  # feedback counts until GRACE after its week has ended
MADE = b"gristmill"


@dataclass(frozen=True)
class KeptWeek:
    """A week as it left for the first time, and for good."""

    monday: date
    combinations: pl.DataFrame
    counts: Counts
    k: int
    token_budget: int


class KeptWeeks:
    """The weeks in the state of a home, and those this run adds."""

    def __init__(self, lake: Lake) -> None:
        self.lake = lake
        self.folder = lake.home / "state" / "anonymised"
        self.staged = lake.staging / "state" / "anonymised"

    def mondays(self, as_of: datetime) -> list[date]:
        """Of the weeks a release with this as_of covers, those that are kept."""
        names = {path.stem for folder in (self.folder, self.staged) for path in folder.glob("*.parquet")}
        return sorted(monday for monday in map(_monday, names) if monday and closes_at(monday) <= as_of)

    def add(self, monday: date, anonymised: Anonymised, k: int, token_budget: int) -> None:
        """Keep a week, once this run publishes. One that is kept already is never replaced."""
        if self._path(monday).exists():
            raise GristmillError(f"{self._path(monday)} exists: a week that was exported is never made again")
        told = {"counts": asdict(anonymised.counts), "k": k, "token_budget": token_budget}
        table = anonymised.combinations.to_arrow()
        self.staged.mkdir(parents=True, exist_ok=True)
        pq.write_table(
            table.replace_schema_metadata({MADE: json.dumps(told)}), self.staged / f"{week_name(monday)}.parquet"
        )

    def read(self, monday: date) -> KeptWeek:
        path = self._path(monday)
        try:
            table = pq.read_table(path)
            told = json.loads((table.schema.metadata or {})[MADE])
            combinations = pl.DataFrame(table).select(pl.col(n).cast(dtype) for n, dtype in COMBINATIONS.items())
            return KeptWeek(monday, combinations, Counts(**told["counts"]), told["k"], told["token_budget"])
        except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError) as error:
            raise GristmillError(
                f"{path} is broken ({error}): it says what was exported of a week and cannot be made again; "
                "restore it from a backup"
            ) from error

    def identity(self, mondays: Iterable[date]) -> list[tuple[str, str]]:
        """What a release is made from (G12)."""
        return [(week_name(monday), hashlib.sha256(self._path(monday).read_bytes()).hexdigest()) for monday in mondays]

    def moves(self) -> list[Move]:
        """What the commit puts into the state."""
        return [(path, self.folder / path.name) for path in sorted(self.staged.glob("*.parquet"))]

    def _path(self, monday: date) -> Path:
        name = f"{week_name(monday)}.parquet"
        return self.folder / name if (self.folder / name).exists() else self.staged / name


def week_name(monday: date) -> str:
    return f"{monday:%G-W%V}"


def closes_at(monday: date) -> datetime:
    """When a week may be made anonymous: its feedback was submitted before this, or does not count."""
    return datetime.combine(monday, time(), UTC) + WEEK + GRACE


def _monday(name: str) -> date | None:
    try:
        return datetime.strptime(f"{name}-1", "%G-W%V-%u").date()
    except ValueError:
        return None
