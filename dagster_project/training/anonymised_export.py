"""The anonymised export of a release: new weeks made anonymous, all weeks put together, two files and their counts (S6).

`anonymized_feedback.parquet` and `.jsonl` hold the fields of seed 4's AnonymizedFeedback and nothing else: no ids, no tenant, no
week. Rows are sorted by their values over all weeks. The files are written by us from those values alone, so that neither
statistics nor footers can say more.
"""

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

import polars as pl

from dagster_project.code_identity import code_identity
from dagster_project.contracts.train import ANONYMIZED_FEEDBACK
from dagster_project.engines.checked_tables import checked
from dagster_project.engines.stored_tables import store
from dagster_project.lake.parquet import TableWriter
from dagster_project.run.made import Claim, Made, Outcome
from dagster_project.run.mill_run import MillRun
from dagster_project.training.anonymised import Counts, anonymise, put_together, session_batches
from dagster_project.training.anonymised_weeks import KeptWeek, KeptWeeks, closes_at, week_name
from dagster_project.training.rated_sessions import RatedSessions

NAME, TABLE = "anonymized_feedback", "train__anonymised"
SESSIONS_ADD_UP = Claim("sessions_add_up", "sessions with feedback in time = exported + suppressed (G3, S6)")


@dataclass(frozen=True)
class AnonymisedExport:
    """What one release says of all the weeks it covers."""

    combinations: pl.DataFrame
    weeks: tuple[KeptWeek, ...]
    weeks_below_k: int = 0

    @classmethod
    def of(cls, kept: KeptWeeks, as_of: datetime, k: int = 1) -> "AnonymisedExport":
        """Weeks that were made with a smaller k than is asked for now stay behind, and are counted."""
        known = [kept.read(monday) for monday in kept.mondays(as_of)]
        weeks = tuple(week for week in known if week.k >= k)
        return cls(put_together(week.combinations for week in weeks), weeks, len(known) - len(weeks))

    @property
    def counts(self) -> Counts:
        return sum((week.counts for week in self.weeks), Counts())

    @property
    def adds_up(self) -> bool:
        rows = self.combinations["session_count"].sum()
        return rows == self.counts.exported and all(week.counts.adds_up for week in self.weeks)

    def summary(self) -> dict[str, Any]:
        """For the manifest. Every combination of a week has at least `k` users: the least any of the weeks was made with."""
        names = [week_name(week.monday) for week in self.weeks]
        return {
            "k": min((week.k for week in self.weeks), default=None),
            "token_budgets": sorted({week.token_budget for week in self.weeks}),
            "weeks": len(names),
            "weeks_below_k": self.weeks_below_k,
            "first_week": names[0] if names else None,
            "last_week": names[-1] if names else None,
            **asdict(self.counts),
        }


def keep_new_weeks(
    kept: KeptWeeks,
    mondays: Iterable[date],
    sessions_of: Callable[[date], pl.DataFrame],
    as_of: datetime,
    k: int,
    token_budget: int,
) -> None:
    """Make those weeks anonymous that as_of covers and that are not kept yet. `sessions_of`: what `anonymise` takes."""
    known = set(kept.mondays(as_of))
    for monday in sorted(set(mondays) - known):
        if closes_at(monday) <= as_of:
            sessions = sessions_of(monday)
            if sessions.height:
                kept.add(monday, anonymise(sessions, k, token_budget), k, token_budget)


def make_anonymised(run: MillRun) -> list[Made]:
    """The weeks of this release; new ones are staged for the state, also by a run that makes no release."""
    lake, kept, partition = run.lake, KeptWeeks(run.lake), f"release_date={run.release_date}"
    if not run.is_in_the_past:
        rated = RatedSessions(lake, run.config.memory_limit_mb)
        settings = run.config.anonymity_k, run.config.token_budget
        keep_new_weeks(kept, rated.mondays(), rated.of_week, run.as_of, *settings)
        run.state_moves += [move for move in kept.moves() if move not in run.state_moves]
    export = AnonymisedExport.of(kept, run.as_of, run.config.anonymity_k)
    told = {name: json.dumps(value) for name, value in export.summary().items()}
    outcomes = (Outcome(SESSIONS_ADD_UP, export.adds_up, told),)
    if not run.makes_release:
        return [Made(TABLE, True, told, outcomes)]
    made_from = {
        "weeks": kept.identity(week.monday for week in export.weeks),
        "code": code_identity(__name__),
        "in": partition,
        "weeks_below_k": export.weeks_below_k,
    }
    inputs = hashlib.sha256(json.dumps(made_from).encode()).hexdigest()
    is_there = not export.weeks or partition in lake.partitions(TABLE)
    is_current = lake.catalog.inputs.get(TABLE) == inputs and is_there
    if not is_current and export.weeks:
        day = pl.lit(run.release_date).alias("release_date")
        rows = store(lake, TABLE, (rows.with_columns(day) for rows in session_batches(export.combinations)), partition)
        run.report(TABLE, rows)
    elif not export.weeks:
        lake.drop(TABLE, partition)
    lake.catalog.inputs[TABLE] = inputs
    return [Made(TABLE, is_current, told, outcomes)]


def write_files(export: AnonymisedExport, folder: Path) -> dict[str, dict[str, Any]]:
    """Both files, and what the manifest says of them. Without a week there is nothing to say, and no file."""
    if not export.weeks:
        return {}
    jsonl, parquet = (folder / f"{NAME}.{kind}" for kind in ("jsonl", "parquet"))
    with jsonl.open("wb") as lines, TableWriter(parquet, ANONYMIZED_FEEDBACK.file_layout) as table:
        for rows in session_batches(export.combinations):
            rows.write_ndjson(lines)
            table.write(checked(ANONYMIZED_FEEDBACK, rows).to_arrow())
    return {path.name: _entry(path, export.counts.exported) for path in (jsonl, parquet)}


def _entry(path: Path, rows: int) -> dict[str, Any]:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"format": NAME, "split": None, "rows": rows, "bytes": path.stat().st_size, "sha256": digest}
