"""The archive of the sessions of frozen days (S3), which the source may delete. `retired_sessions.py` reads it in the next run."""

from collections.abc import Mapping
from datetime import date
from pathlib import Path

import polars as pl

from dagster_project.code_identity import code_identity
from dagster_project.engines.kept_days import grouped
from dagster_project.engines.reading import scan
from dagster_project.engines.stored_tables import fit, write
from dagster_project.lake.lake import partition_day
from dagster_project.run.made import Made
from dagster_project.run.mill_run import MillRun
from dagster_project.systems.sessions.frozen_days import frozen_through
from dagster_project.systems.sessions.state import ARCHIVE, SessionState
from dagster_project.systems.sessions.tables import TABLES

SESSIONS = "core__sessions"
DAYS_TOGETHER = 31  # in memory at once


def make_archive(run: MillRun) -> list[Made]:
    """The sessions of every frozen day, as they are now.

    A session leaves the archive only when it is at the source under another day: what the source deleted, or what is not in
    today's sample, stays.
    """
    lake, state = run.lake, SessionState(run.lake.home)
    known = state.archive_files()
    made_from = f"{lake.versions(SESSIONS)} {frozen_through(run)} {code_identity(__name__)}"
    sizes = {str(day): path.stat().st_size for day, path in known.items()}
    if lake.catalog.inputs.get(ARCHIVE) == f"{made_from} {sizes}":
        return [Made(ARCHIVE, is_current=True, told={"days_written": 0})]
    written = 0
    days = _days_to_keep(run, known)
    for some in grouped(days, lambda day: 1, DAYS_TOGETHER):
        written += _archive_days(run, state, some, sizes)
    for partition in [p for p in lake.partitions(ARCHIVE) if partition_day(p) not in days]:
        lake.drop(ARCHIVE, partition)
    lake.catalog.inputs[ARCHIVE] = f"{made_from} {dict(sorted(sizes.items()))}"
    return [Made(ARCHIVE, is_current=written == 0, told={"days_written": written})]


def _days_to_keep(run: MillRun, known: Mapping[date, Path]) -> list[date]:
    found = scan(run.lake, SESSIONS).select(pl.col("event_date").unique()).collect()["event_date"].to_list()
    return sorted({*known} | {day for day in found if day <= frozen_through(run)})


def _archive_days(run: MillRun, state: SessionState, days: list[date], sizes: dict[str, int]) -> int:
    """Write those of these days whose sessions are not as they are archived."""
    lake, written = run.lake, 0
    sessions = scan(lake, SESSIONS)
    now = sessions.filter(pl.col("event_date").is_between(days[0], days[-1])).collect()
    before = TABLES[ARCHIVE].empty()
    if (archived := state.archived(days[0], days[-1])) is not None:
        before = archived.collect()
        here = sessions.select("session_id")
        now = pl.concat([now, before.lazy().join(here, on="session_id", how="anti").collect()])
    now, before = (
        rows.select(*TABLES[ARCHIVE].columns).sort("session_id").partition_by("event_date", as_dict=True)
        for rows in (fit(ARCHIVE, now), before)
    )
    for day in days:
        rows, old = (frames.get((day,), TABLES[ARCHIVE].empty()) for frames in (now, before))
        partition = f"event_date={day}"
        is_as_archived = str(day) in sizes and rows.equals(old)
        if not is_as_archived:
            move = state.stage_day(lake.staging, day, rows)
            run.state_moves.append(move)
            sizes[str(day)] = move[0].stat().st_size
            written += 1
        if not rows.height:
            lake.drop(ARCHIVE, partition)
        elif not is_as_archived or partition not in lake.partitions(ARCHIVE):
            write(lake, ARCHIVE, rows, partition)
    return written
