"""Which days of AI sessions are frozen, and with what figures (S3): the one place that decides it. `metric__session_daily` shows
them, and `restatements.py` tells what was refused.

A table made of the state: what it holds now is what the next run finds there.
"""

from datetime import date, timedelta

import polars as pl

from dagster_project.engines import reading
from dagster_project.engines.stored_tables import store
from dagster_project.run.made import Made
from dagster_project.run.mill_run import MillRun
from dagster_project.systems.sessions.state import FROZEN, SessionState
from dagster_project.systems.sessions.tables import TABLES

DAYS = "core__session_days"
KEY = ["tenant_id", "workspace_id", "date"]
FREEZE_AFTER = timedelta(days=90)


def frozen_through(run: MillRun) -> date:
    """The last day that is 90 days before as_of."""
    return (run.as_of - FREEZE_AFTER).date()


def make_frozen_days(run: MillRun) -> list[Made]:
    """Made again only where they change, so that what is made from them stays as it is until then."""
    state = SessionState(run.lake.home)
    frozen = state.frozen().sort(KEY)
    now = frozen_now(reading.read(run.lake, DAYS), frozen, frozen_through(run))
    if not now.equals(frozen):
        run.state_moves.append(state.stage_frozen(run.lake.staging, now))
    store(run.lake, FROZEN, [now])
    return [Made(FROZEN, is_current=now.equals(frozen))]


def frozen_now(days: pl.DataFrame, frozen: pl.DataFrame, through: date) -> pl.DataFrame:
    """The days that are frozen from now on: as they add up now, or as they were frozen where they would lose sessions."""
    before = pl.col("total_before")
    found = days.select(*TABLES[FROZEN].columns).join(
        frozen.select(*KEY, pl.col("total_sessions").alias("total_before")), on=KEY, how="left"
    )
    is_old = pl.when(before.is_null()).then(pl.col("date") <= through)
    settled = found.filter(is_old.otherwise(before <= pl.col("total_sessions"))).drop("total_before")
    return pl.concat([settled, frozen.join(settled, on=KEY, how="anti")]).sort(KEY)
