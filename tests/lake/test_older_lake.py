"""G12: a home whose lake an earlier version wrote is refused with a line that says what to do; who does it loses nothing."""

import json
from pathlib import Path

import polars as pl
import pytest

from dagster_project.engines import reading
from dagster_project.lake.lake import Lake
from dagster_project.systems.sessions.state import SessionState
from tests.conftest import complaint, content, gristmill, run
from tests.systems.sessions import session_database


def make_older(home: Path) -> None:
    """The catalogue as lake format 1 had it: no views, whose rows it kept as files."""
    file = home / "lake" / "catalog.json"
    stored = json.loads(file.read_text(encoding="utf-8"))
    stored["format"] = 1
    del stored["views"]
    file.write_text(json.dumps(stored, sort_keys=True, separators=(",", ":")), encoding="utf-8")


@pytest.mark.slow
def test_a_home_of_lake_format_1(published: Path) -> None:
    session_database.write(published, {"ai_sessions": [session_database.session("long ago", days=-90)]})
    run(published)
    queue = reading.where(Lake(published), "core__review_queue", pl.col("rank") == 1)
    (judged,) = queue["item_id"]
    assert gristmill(published, "review", "approve", judged, "--reviewer", "ana").returncode == 0
    frozen = SessionState(published).frozen()
    assert frozen.height
    make_older(published)
    before = content(published, leave_out=["runs"])
    for command in (["run"], ["status"], ["query", "select 1"]):
        line = complaint(gristmill(published, *command))
        assert "lake format 1" in line and f"move {published / 'lake'} away and run again" in line
    assert content(published, leave_out=["runs"]) == before

    (published / "lake").rename(published / "lake of before")
    run(published)
    lake = Lake(published)
    assert judged in reading.where(lake, "core__reviews", pl.lit(True))["example_id"].to_list()
    days = reading.where(lake, "core__frozen_session_days", pl.lit(True))
    assert days.select(frozen.columns).equals(frozen.sort("tenant_id", "workspace_id", "date"))
