"""Counts of whole days that were published otherwise are put down, with why; nothing is that merely goes on or grows older."""

import json
from datetime import UTC, date, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from dagster_project.contracts import TABLES
from dagster_project.engines.stored_tables import store, store_days
from dagster_project.errors import GristmillError
from dagster_project.lake.lake import Lake
from dagster_project.run import daily_restatements
from dagster_project.run.daily_restatements import TABLE, make_daily_restatements, read_log, watched_tables
from tests.conftest import change, main_source, run
from tests.sql.harness import frame
from tests.tables import table
from tests.warehouse.conftest import opened

DAILY, RAW = "metric__reaction_daily", "raw_reactions__reactions"
FIRST, SECOND, LAST = date(2026, 1, 1), date(2026, 1, 2), date(2026, 1, 3)


def day(event_date: date, ok: int, expired: int = 0) -> dict[str, Any]:
    return {"event_date": event_date, "reaction_count": ok, "ok_count": ok, "not_ok_count": 0, "neutral_count": 0} | {
        "user_count": ok,
        "user_ok_count": ok,
        "expired_count": expired,
    }


def reactions(event_date: date, *keys: str) -> pl.DataFrame:
    rows = [
        {"reaction_id": key, "event_date": event_date, "reaction": "ok", "origin": "user", "confidence": 1.0}
        for key in keys
    ]
    return frame(RAW, rows)


def publish(
    home: Path, days: list[dict[str, Any]], raw: dict[date, list[str]], as_of: date = date(2026, 1, 4)
) -> list[tuple[str, ...]]:
    """A run that makes these days of these rows; returns what it puts down."""
    lake = Lake(home)
    known = read_log(home).height
    moment = datetime(as_of.year, as_of.month, as_of.day, tzinfo=UTC)
    lake.catalog.as_of = moment.isoformat()
    for event_date, keys in raw.items():
        store_days(lake, RAW, reactions(event_date, *keys))
    store(lake, DAILY, [frame(DAILY, days)])
    mill: Any = SimpleNamespace(lake=lake, as_of=moment, is_in_the_past=False, state_moves=[])
    (made,) = make_daily_restatements(mill)
    lake.commit(mill.state_moves)
    lake.sweep()  # what is staged is the published file's twin
    new = read_log(home)[known:]
    assert made.told == {"new_entries": new.height}
    assert table(home, TABLE).height == read_log(home).height
    assert new["restated_as_of"].unique().to_list() in ([], [moment])
    return [
        (str(row["date"]), row["column"], row["old_value"], row["new_value"], row["why"])
        for row in new.to_dicts()
        if row["column"] in ("ok_count", "expired_count")
    ]


def test_every_daily_table_of_counts_is_watched() -> None:
    """Of AI sessions there is another log, and satisfaction follows from the others."""
    daily = {name for name in TABLES if name.startswith("metric__") and name.endswith("_daily")}
    assert daily - watched_tables().keys() == {
        "metric__satisfaction_daily",
        "metric__session_daily",
        "metric__session_slice_daily",
    }
    for name in watched_tables():
        assert {"event_date", *TABLES[name].passing} <= TABLES[name].columns.keys()


def test_what_changed_of_a_whole_day_is_put_down_with_why(tmp_path: Path) -> None:
    rows = {FIRST: ["a", "b"], SECOND: ["c"], LAST: ["d"]}
    days = [day(FIRST, 2), day(SECOND, 1), day(LAST, 1)]
    assert publish(tmp_path, days, rows) == []
    assert publish(tmp_path, days, rows) == []
    # one came late, one is gone, one was changed; a new day is none that was published otherwise
    days = [day(FIRST, 3), day(SECOND, 0), day(LAST, 2), day(date(2026, 1, 4), 5)]
    rows = {FIRST: ["a", "b", "late"], SECOND: ["c"], LAST: ["e"], date(2026, 1, 4): ["x"]}
    assert publish(tmp_path, days, rows, date(2026, 1, 5)) == [
        ("2026-01-01", "ok_count", "2", "3", "new_rows"),
        ("2026-01-02", "ok_count", "1", "0", "other_days"),
        ("2026-01-03", "ok_count", "1", "2", "changed_rows"),
    ]
    assert publish(tmp_path, days[:1], {FIRST: ["a"]}, date(2026, 1, 5)) == [
        ("2026-01-03", "ok_count", "2", None, "other_days"),
        ("2026-01-04", "ok_count", "5", None, "other_days"),
    ]


def test_a_day_that_was_not_over_goes_on(tmp_path: Path) -> None:
    """And expiry is time passing, no restatement."""
    publish(tmp_path, [day(FIRST, 1), day(SECOND, 1)], {FIRST: ["a"]}, as_of=SECOND)
    assert publish(tmp_path, [day(FIRST, 1, expired=1), day(SECOND, 7)], {FIRST: ["a"]}, as_of=LAST) == []


def test_other_rules_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(tmp_path, [day(FIRST, 1), day(SECOND, 1)], {FIRST: ["a"], SECOND: ["b"]})
    monkeypatch.setattr(daily_restatements, "_rules", lambda: "others")
    assert publish(tmp_path, [day(FIRST, 2), day(SECOND, 2)], {FIRST: ["a"], SECOND: ["b", "c"]}) == [
        ("2026-01-01", "ok_count", "1", "2", "rules"),
        ("2026-01-02", "ok_count", "1", "2", "new_rows+rules"),
    ]


def test_a_broken_log_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / daily_restatements.FILE).write_text("{", "utf-8")
    with pytest.raises(GristmillError, match=r"daily_restatements\.jsonl is broken"):
        read_log(tmp_path)


@pytest.mark.slow
def test_a_day_that_changes_at_the_source_is_restated(published: Path) -> None:
    """A whole run: rows that vanish and come late, told in the warehouse; the run after it adds nothing."""
    log = published / "state" / daily_restatements.FILE
    with opened(published) as warehouse:
        assert warehouse.sql("select count(*) from restatements").fetchall() == [(0,)]
        ((key, gone),) = warehouse.sql(
            "select feedback_id, event_date from core__feedback where status = 'active' and effective_type = 'flag' "
            "and event_date < '2026-01-27' order by all limit 1"
        ).fetchall()
        (before,) = warehouse.sql(
            f"select sum(flag_count) from metric__feedback_daily where event_date = '{gone}'"
        ).fetchall()
    assert not log.exists()
    change(main_source(published), f"delete from feedback where feedback_id = '{key}'")
    run(published)
    with opened(published) as warehouse:
        told = warehouse.sql(
            f"""select old_value::int - new_value::int, why, restated_as_of from restatements
            where metric = 'metric__feedback_daily' and date = '{gone}' and "column" = 'flag_count'"""
        ).fetchall()
        (after,) = warehouse.sql(
            f"select sum(flag_count) from metric__feedback_daily where event_date = '{gone}'"
        ).fetchall()
    assert [entry[:2] for entry in told] == [(1, "vanished_rows")]
    assert before[0] - after[0] == 1
    entries = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    assert {entry["date"] for entry in entries if entry["metric"] == "metric__feedback_daily"} == {str(gone)}
    held = log.read_bytes()
    run(published, "--full")
    assert log.read_bytes() == held
