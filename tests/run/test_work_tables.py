"""The tables about the work: what a run leaves in them, that they are bounded, and that the warehouse shows them."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

from dagster_project.contracts.work import REVIEW_DAILY, WORK
from dagster_project.engines.checked_tables import checked
from dagster_project.lake.lake import NO_DAY, Catalog, StoredFile
from dagster_project.lake.lock import home_lock
from dagster_project.run import run_log, work_tables
from dagster_project.run.record import Check
from dagster_project.run.run_log import append, runs

BEGAN = datetime(2026, 3, 10, 2, 21, tzinfo=UTC)
DAY = date(2026, 3, 10)


def check(claim: str = "adds_up", **more: Any) -> Check:
    return Check("core__x", claim, "days add up (G3, S1)", True, **{"found": {}, "holds": True, **more})


def drift(name: str, **more: Any) -> dict[str, Any]:
    return {"table": "raw_x", "kind": "unknown column", "name": name, "new": False, "first_seen_at": BEGAN, **more}


def test_every_claim_is_put_down_with_the_first_rows_that_break_it(tmp_path: Path) -> None:
    broken = check("no_gap", holds=False, offending_rows=9, first=[{"id": "a"}])
    work_tables.put_found(tmp_path, "r1", BEGAN, [check(found={"read": 3}, is_unchanged=True), broken], [])
    assert work_tables.kept(tmp_path, "checks").rows(named=True) == [
        {"run_id": "r1", "started_at": BEGAN, "table": "core__x", "claim": "adds_up", "says": "days add up"}
        | {"is_blocking": True, "holds": True, "is_unchanged": True, "offending_count": None}
        | {"found": '{"read": 3}', "first_rows": None},
        {"run_id": "r1", "started_at": BEGAN, "table": "core__x", "claim": "no_gap", "says": "days add up"}
        | {"is_blocking": True, "holds": False, "is_unchanged": False, "offending_count": 9}
        | {"found": None, "first_rows": '[{"id": "a"}]'},
    ]
    (told,) = work_tables.failed_checks(tmp_path, "r1")
    assert Check(**told).line() == 'core__x: no_gap does not hold (days add up): 9 rows, first {"id": "a"}'


def test_only_so_many_runs_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_tables, "KEPT_RUNS", 3)
    for number in range(5):
        started = BEGAN + timedelta(days=number)
        work_tables.put_found(tmp_path, f"r{number}", started, [check(), check("other")], [drift("mood")])
    assert work_tables.kept(tmp_path, "checks")["run_id"].to_list() == ["r2", "r2", "r3", "r3", "r4", "r4"]
    assert work_tables.kept(tmp_path, "drift")["run_id"].to_list() == ["r2", "r3", "r4"]


def test_the_log_forgets_its_older_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a run that goes on just then, the beginning stays."""
    monkeypatch.setattr(run_log, "MOST_BYTES", 2_000)
    for number in range(100):
        append(tmp_path, {"run": f"r{number}", "started": BEGAN})
        append(tmp_path, {"run": f"r{number}", "outcome": "published"})
    kept = [run["run"] for run in runs(tmp_path)]
    assert kept == [f"r{number}" for number in range(100 - len(kept), 100)]
    assert 10 < len(kept) < 40


def test_a_run_that_could_not_begin_does_not_kill_the_one_that_goes_on(tmp_path: Path) -> None:
    with home_lock(tmp_path):
        append(tmp_path, {"run": "a", "started": BEGAN})
        append(tmp_path, {"run": "b", "started": BEGAN, "outcome": "failed", "reason": "no source"})
        assert [run["outcome"] for run in runs(tmp_path)] == ["running", "failed"]


@pytest.mark.parametrize("content", [b"", b"torn", b"PAR1"])
def test_a_file_that_cannot_be_read_has_no_rows_and_is_written_anew(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "checks.parquet").write_bytes(content)
    assert work_tables.kept(tmp_path, "checks").is_empty()
    assert work_tables.unreadable(tmp_path) == [tmp_path / "runs" / "checks.parquet"]
    work_tables.put_found(tmp_path, "r1", BEGAN, [check()], [])
    assert work_tables.kept(tmp_path, "checks").height == 1
    assert work_tables.unreadable(tmp_path) == []


def test_what_an_earlier_version_did_not_know_is_null(tmp_path: Path) -> None:
    work_tables.put_found(tmp_path, "r1", BEGAN, [check()], [])
    file = work_tables.place(tmp_path, "checks")
    pl.read_parquet(file).drop("is_unchanged").with_columns(pl.lit(1).alias("of_old")).write_parquet(file)
    (row,) = work_tables.kept(tmp_path, "checks").rows(named=True)
    assert (row["claim"], row["is_unchanged"], "of_old" in row) == ("adds_up", None, False)


# --- by day ----------------------------------------------------------------------------------------------------------


def test_rows_read_by_day_are_the_lakes_own_account_of_them() -> None:
    """Of a table by day each day, and the rows that have none; of one without days all of it."""
    day = {"files": {}, "read": 5, "kept": 3, "quarantined": 1, "copies": 1}
    undated = {"files": {}, "read": 2, "kept": 0, "quarantined": 2, "copies": 0}
    catalog = Catalog(
        sources={
            "raw_b__whole": {"read": 9, "copies": 1, "not_sampled": 2, "files": {}},
            "raw_a__things": {"days": {"2026-03-10": day, "undated": undated, "2026-03-09": day | {"not_sampled": 7}}},
        },
        tables={
            "raw_b__whole": {"": StoredFile(5, 1, 1)},
            "quarantine__rows": {f"raw_b__whole/{NO_DAY}": StoredFile(1, 1, 1)},
        },
    )
    assert checked(WORK["rows_read_daily"], work_tables.rows_read_daily(catalog)).rows() == [
        ("a", "raw_a__things", DAY - timedelta(days=1), 5, 3, 1, 1, 7),
        ("a", "raw_a__things", DAY, 5, 3, 1, 1, 0),
        ("a", "raw_a__things", None, 2, 0, 2, 0, 0),
        ("b", "raw_b__whole", None, 9, 5, 1, 1, 2),
    ]


def queues(*rows: tuple[str, int, date | None]) -> pl.DataFrame:
    schema = {"queue": pl.String, "waiting_count": pl.Int64, "oldest_waiting_date": pl.Date}
    return pl.DataFrame(rows, schema, orient="row")


def decided(*rows: tuple[date, str, int]) -> pl.DataFrame:
    return pl.DataFrame(rows, {"date": pl.Date, "queue": pl.String, "decided_count": pl.Int64}, orient="row")


def test_what_waits_is_that_of_the_days_last_run_and_decisions_are_of_all_days() -> None:
    yesterday, long_ago = DAY - timedelta(days=1), DAY - timedelta(days=9)
    first = work_tables.with_waiting(REVIEW_DAILY.empty(), yesterday, queues(("review", 7, long_ago)), decided())
    again = work_tables.with_waiting(
        first, yesterday, queues(("review", 6, long_ago)), decided((yesterday, "review", 1))
    )
    found = work_tables.with_waiting(
        again,
        DAY,
        queues(("review", 4, yesterday), ("safety", 0, None)),
        decided((yesterday, "review", 2), (DAY, "review", 1), (long_ago, "safety", 3)),
    )
    assert checked(REVIEW_DAILY, found).rows() == [
        (long_ago, "safety", None, None, 3),
        (yesterday, "review", 6, long_ago, 2),
        (DAY, "review", 4, yesterday, 1),
        (DAY, "safety", 0, None, 0),
    ]


# --- the warehouse ---------------------------------------------------------------------------------------------------


def asked(home: Path, sql: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(home / "warehouse.duckdb"), read_only=True) as connection:
        return connection.execute(sql).fetchall()


@pytest.mark.slow
def test_the_warehouse_shows_the_work_up_to_its_publication(published_home: Path) -> None:
    """The run that wrote it among the others, as published; with every claim, and a comment on every column."""
    (run,) = runs(published_home)
    sql = "select run_id, outcome, publication, read_count = kept_count + quarantined_count + copy_count from runs"
    assert asked(published_home, sql) == [(run["run"], "published", 1, True)]
    assert asked(published_home, "select publication, run_id, release from publications") == [
        (1, run["run"], "20260131")
    ]
    (count, held) = asked(published_home, "select count(*), count(*) filter (holds or not is_blocking) from checks")[0]
    assert count == held > 30
    sums = "select sum(read_count), sum(kept_count), sum(quarantined_count) from rows_read_daily"
    assert asked(published_home, sums) == [(run["read"], run["kept"], run["quarantined"])]
    assert asked(published_home, "select count(*) from drift") == [(run["drift_count"],)]
    waiting = "select (select waiting_count from review_daily where queue = 'review') = (select count(*) from core__review_queue)"
    assert asked(published_home, waiting) == [(True,)]
    lacking = (
        f"select table_name, column_name from duckdb_columns() where table_name in {tuple(WORK)} and comment is null"
    )
    assert asked(published_home, lacking) == []
    for name in WORK:
        assert checked(WORK[name], work_tables.work_tables(published_home)[name]).width > 3


def test_comments_are_words_for_analysts() -> None:
    """No rule numbers; nothing that only a developer knows."""
    said = [table.description for table in WORK.values()]
    said += [meaning.description for table in WORK.values() for meaning in table.meanings.values()]
    assert [text for text in said if work_tables.RULE_NUMBERS.search(f" {text}")] == []
