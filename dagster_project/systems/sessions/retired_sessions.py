"""Archived sessions that the source deleted: they and their feedback go on counting (S3)."""

import polars as pl

from dagster_project.engines.reading import scan
from dagster_project.engines.stored_tables import store
from dagster_project.run.made import Made
from dagster_project.run.mill_run import MillRun
from dagster_project.systems.sessions.source import is_sampled
from dagster_project.systems.sessions.state import SessionState
from dagster_project.systems.sessions.tables import TABLES

RAW, RETIRED = "raw_sessions__sessions", "core__retired_sessions"


def make_retired_sessions(run: MillRun) -> list[Made]:
    """Written anew each time: they are few."""
    store(run.lake, RETIRED, [_retired(run, SessionState(run.lake.home))])
    return [Made(RETIRED)]


def _retired(run: MillRun, state: SessionState) -> pl.DataFrame:
    archived = state.archived()
    if archived is None:
        return TABLES[RETIRED].empty()
    present = scan(run.lake, RAW).select(session_id="id")
    rows = (
        archived.join(present, on="session_id", how="anti").collect(engine="streaming").sort("event_date", "session_id")
    )
    if run.config.sample_rate < 1:
        rows = rows.filter(is_sampled(rows["session_id"], run.config.sample_rate))
    return rows
