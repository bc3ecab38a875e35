"""`gristmill status` and `gristmill runs`: one verdict and what it rests on; plugs are pulled, and it says so."""

import json
import shutil
import signal
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dagster_project import config
from dagster_project.contracts.work import ROWS_READ_DAILY
from dagster_project.lookups import status as looking
from dagster_project.lookups.status import status, usual_rows
from dagster_project.lookups.status_text import run_lines, seconds_said, status_lines
from dagster_project.orchestration import tables as publish
from dagster_project.run.run_log import append, runs
from tests.conftest import change, complaint, finish, gristmill, published_content, run, start
from tests.systems.feedback.feedback_rows import add_feedback

DAY, NEXT = date(2026, 1, 10), date(2026, 1, 11)
OVER = date(2026, 3, 1)


def days(*counts: tuple[int, int], last: date = OVER - timedelta(days=1)) -> pl.DataFrame:
    """Rows read and refused of days in a row, the last of them the day before as_of."""
    rows = [
        {"system": "feedback", "table": "raw_feedback__entries", "event_date": last - timedelta(days=back)}
        | {"read_count": read, "quarantined_count": bad, "kept_count": read - bad, "copy_count": 0}
        | {"not_sampled_count": 0}
        for back, (read, bad) in enumerate(reversed(counts))
    ]
    return pl.DataFrame(rows, schema=ROWS_READ_DAILY.polars_schema)


def source(rows: pl.DataFrame) -> Mapping[str, Any]:
    return looking._source("feedback", rows, OVER)


# --- a source --------------------------------------------------------------------------------------------------------


def test_what_is_usual_is_the_median_of_the_same_weekday() -> None:
    saturday = date(2026, 2, 28)
    weekends = {saturday - timedelta(days=back): 10 if back % 7 in (0, 6) else 100 for back in range(1, 60)}
    assert usual_rows(weekends, saturday) == 10
    assert usual_rows(weekends, saturday - timedelta(days=2)) == 100


def test_with_little_history_it_is_that_of_the_last_weeks_and_with_less_nothing() -> None:
    read = {OVER - timedelta(days=back): back for back in range(1, 11)}
    assert usual_rows(read, OVER - timedelta(days=1)) == 6
    assert usual_rows({OVER - timedelta(days=back): 5 for back in range(1, 5)}, OVER) is None


def test_a_source_in_figures() -> None:
    found = source(days(*[(100, 1)] * 20))
    assert (found["last_day"], found["last_day_rows"], found["usual_rows"]) == ("2026-02-28", 100, 100)
    assert (found["read"], found["quarantined"], found["refused_share_of_the_week"]) == (2000, 20, 0.01)
    assert found["worries"] == []


def test_days_that_are_not_over_wait() -> None:
    assert source(days((5, 0), (7, 0), last=OVER))["last_day"] == "2026-02-28"


@pytest.mark.parametrize(
    ("counts", "worry"),
    [
        ([(100, 1)] * 20 + [(100, 90)] * 2, "26.4% of the last 7 days' rows are refused, before it was 1.0%"),
        ([(100, 30)] * 20, "600 of 2,000 rows are refused"),
        ([(100, 15)] * 40, None),  # as ever: what is always orange is not looked at
        ([(10, 0)] * 20 + [(10, 9)], None),  # nine rows
    ],
)
def test_much_is_refused(counts: list[tuple[int, int]], worry: str | None) -> None:
    found = source(days(*counts))["worries"]
    assert found == ([] if worry is None else [f"{worry}: `gristmill quarantine`"])


def test_a_source_that_fell_silent() -> None:
    """For longer than ever, and not where gaps are its way, or where nobody knows it well."""
    steady, gaps = [(9, 0)] * 40, [(9, 0), (0, 0), (0, 0), (0, 0), (0, 0)] * 9
    assert source(days(*steady, (0, 0), (0, 0)))["worries"] == []
    assert source(days(*steady, (0, 0), (0, 0), (0, 0)))["worries"] == [
        "no rows since 2026-02-25, for 3 days; until then never for more than 0"
    ]
    assert source(days(*gaps))["worries"] == []
    assert source(days(*steady[:20], *[(0, 0)] * 5))["worries"] == []


# --- runs ------------------------------------------------------------------------------------------------------------


def history(home: Path, *outcomes: str, hours: int = 24, ago: timedelta = timedelta(hours=1)) -> list[dict[str, Any]]:
    """Runs with these outcomes, one after the other, the last some time ago."""
    for number, outcome in enumerate(outcomes):
        started = datetime.now(UTC) - ago - timedelta(hours=hours) * (len(outcomes) - 1 - number)
        reason = None if outcome in ("published", "nothing_new") else f"reason {number}"
        entry = {"run": str(number), "started": started, "finished": started + timedelta(seconds=75)}
        append(home, {**entry, "outcome": outcome, "reason": reason, "started_by": "schedule daily_refresh"})
    return runs(home)


def wrong(told: list[dict[str, Any]]) -> list[str]:
    return looking._wrong_runs(told, told)


def test_the_last_run_decides_and_how_often_it_failed_is_told(tmp_path: Path) -> None:
    assert wrong(history(tmp_path / "a", "failed", "published")) == []
    assert wrong(history(tmp_path / "b", "published", "killed")) == [
        "the last run (schedule daily_refresh) was killed: reason 1"
    ]
    assert wrong(history(tmp_path / "c", "published", "failed", "stopped", "failed")) == [
        "the last run (schedule daily_refresh) failed (none of the last 3 runs went well): reason 3"
    ]


def test_runs_that_no_longer_come(tmp_path: Path) -> None:
    """Where they came every night; of one who runs it by hand now and then nothing can be said."""
    nightly = history(tmp_path / "a", *["published"] * 6, ago=timedelta(hours=73))
    assert wrong(nightly) == ["no run for 3 days and 1 hours; they came every 24 hours"]
    assert wrong(history(tmp_path / "b", *["published"] * 6, ago=timedelta(hours=35))) == []
    assert wrong(history(tmp_path / "c", *["published"] * 6, hours=1, ago=timedelta(days=9))) == []


def test_the_history_of_runs_is_told_newest_first(tmp_path: Path) -> None:
    history(tmp_path, "published", "failed")
    lines = gristmill(tmp_path, "runs").stdout.splitlines()
    assert [line.split()[:2] for line in lines[:1]] == [["started", "(UTC)"]]
    assert lines[1].endswith("schedule daily_refresh  reason 1") and "1 min 15 s  failed" in lines[1]
    assert "published" in lines[2]
    (only,) = json.loads(gristmill(tmp_path, "runs", "-n", "1", "--json").stdout)
    assert (only["outcome"], only["reason"], only["duration_seconds"]) == ("failed", "reason 1", 75.0)
    assert gristmill(tmp_path / "new", "runs").stdout == "no run yet\n"


def test_seconds_as_a_person_says_them() -> None:
    assert [seconds_said(seconds) for seconds in (0.04, 59.9, 75, 239.7, 3600, 5 * 3600 + 150)] == [
        "0.0 s",
        "59.9 s",
        "1 min 15 s",
        "4 min 00 s",
        "1 h 00 min",
        "5 h 02 min",
    ]


def test_a_long_reason_is_cut() -> None:
    run = {"started": "2026-01-01T00:00:00+00:00", "outcome": "failed", "reason": "x" * 300}
    assert [*run_lines([run])][1].endswith("x" * 199 + "…")


# --- the command -----------------------------------------------------------------------------------------------------


def told(home: Path) -> tuple[int, str]:
    done = gristmill(home, "status")
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_nothing_is_published_yet(tmp_path: Path) -> None:
    code, said = told(tmp_path / "home")
    assert code == 2
    assert said.startswith(f"nothing is published in {tmp_path / 'home'} yet")


def test_a_home_nobody_may_write_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`status` writes nothing it needs."""
    home = tmp_path / "home"
    add_feedback(home / "sources" / "feedback.db", {"day": DAY})

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied", str(home / "runs"))

    monkeypatch.setattr("dagster_project.databases.fingerprint_cache.is_settled", lambda _: True)
    monkeypatch.setattr("dagster_project.databases.fingerprint_cache.write_atomically", refuse)
    code, said = told(home)
    assert code == 2
    assert "1 day not read yet (2026-01-10)" in said


def test_a_home_nobody_may_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("dagster_project.lookups.status.Catalog.read", refuse)
    catalog = tmp_path / "home" / "lake" / "catalog.json"
    assert complaint(gristmill(tmp_path / "home", "status")).startswith(f"gristmill: {catalog}: Permission denied")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home of 4 rows of feedback, without one of the columns, after one run."""
    add_feedback(main(tmp_path / "home"), *({"day": DAY} for _ in range(4)), without=("comparison_basis",))
    run(tmp_path / "home")
    return tmp_path / "home"


def main(home: Path) -> Path:
    return home / "sources" / "feedback.db"


@pytest.mark.slow
def test_drift_against_the_run_before(home: Path) -> None:
    """What was there in the first run is known, not new; what is new is told until the next run that reads anything."""
    code, said = told(home)
    assert code == 0
    assert said.startswith(f"all is well in {home}: publication 1, as of 2026-01-11 00:00 UTC, release 20260110\n")
    assert "\n  feedback  2026-01-10     4      -     0.0%  none new, 1 known\n" in said
    assert "\nlast run        published 2" in said and ", by command line, took " in said
    change(main(home), "alter table feedback add column mood text")
    add_feedback(
        main(home), *({"day": NEXT, "domain": "fin\x1b[31mance"} for _ in range(2)), without=("comparison_basis",)
    )
    run(home)
    _, said = told(home)
    assert "\n  feedback  2026-01-11     2      -     0.0%  2 new, 1 known\n" in said
    assert "  new drift: raw_feedback__entries: unknown word domain=fin␛[31mance in 2 rows (33.3%)\n" in said
    assert "  new drift: raw_feedback__entries: unknown column mood\n" in said
    add_feedback(main(home), {"day": NEXT}, without=("comparison_basis",))
    run(home)
    code, said = told(home)
    assert (code, "new drift" in said, "none new, 3 known" in said) == (0, False, True)
    assert "raw_feedback__entries" not in said
    assert "  raw_feedback__entries " in gristmill(home, "status", "--tables").stdout


@pytest.mark.slow
def test_plugs_are_pulled(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failed check, a killed and a stopped run, a source that is gone or broken, one full of rows nobody can use."""
    before = published_content(home)
    add_feedback(main(home), {"day": DAY, "rating": -1}, without=("comparison_basis",))
    with monkeypatch.context() as patch:
        patch.setattr(publish.queries, "fetch", lambda *_: pl.DataFrame({"feedback_id": ["f5", "f6"]}))
        failed = gristmill(home, "run")
    line = failed.stderr.splitlines()[-1]
    assert failed.returncode == 1
    assert '): 2 rows, first {"feedback_id": "f5"}; {"feedback_id": "f6"}' in line
    assert line.endswith("nothing was published")
    assert published_content(home) == before
    code, said = told(home)
    assert (code, f"  wrong: the last run failed: {line.removeprefix('gristmill: ')}\n" in said) == (1, True)
    found = json.loads(gristmill(home, "status", "--json").stdout)
    assert (found["verdict"], found["exit_code"]) == ("wrong", 1)
    assert found["failed_checks"][0]["first"][0] == {"feedback_id": "f5"}

    for number, said_of_it in (
        (signal.SIGKILL, "was killed (none of the last 2 runs went well): process"),
        (signal.SIGTERM, "was stopped"),
    ):
        shutil.rmtree(home / "staging", ignore_errors=True)
        process = start(home, "run")
        while not (home / "staging").exists() and process.poll() is None:
            pass
        process.send_signal(number)
        finish(process)
        code, said = told(home)
        assert (code, f"  wrong: the last run {said_of_it}" in said) == (1, True), said
    run(home)
    assert told(home)[0] == 0
    assert [entry["outcome"] for entry in runs(home)] == ["published", "failed", "killed", "stopped", "published"]

    main(home).rename(home / "away")
    code, said = told(home)
    assert code == 1
    assert f"  wrong: feedback: {main(home)} is missing by now; what was read from it stays as it was\n" in said
    assert "known  file missing\n" in said
    main(home).write_text("no database", encoding="utf-8")
    code, said = told(home)
    assert (code, f"wrong: the sources cannot be looked at: source {main(home)} is not an SQLite" in said) == (1, True)
    (home / "away").replace(main(home))
    assert told(home)[0] == 0

    bad = ({"day": NEXT, "rating": 9} for _ in range(40))
    add_feedback(main(home), *bad, without=("comparison_basis",))
    run(home)
    code, said = told(home)
    assert (code, "wrong: feedback: 40 of 45 rows are refused: `gristmill quarantine`" in said) == (1, True)


@pytest.mark.slow
def test_what_was_published_is_gone(home: Path) -> None:
    (home / "warehouse.duckdb").unlink()
    next((home / "lake" / "raw_feedback__entries").rglob("*.parquet")).unlink()
    (home / "runs" / "checks.parquet").write_bytes(b"torn")
    code, said = told(home)
    assert code == 1
    assert f"wrong: {home / 'runs' / 'checks.parquet'} cannot be read; the next run writes it anew\n" in said
    assert "files of the lake are gone or cut short (raw_feedback__entries/event_date=2026-01-10): the next" in said
    assert f"wrong: {home / 'warehouse.duckdb'} is gone: the next run makes it again\n" in said
    run(home)
    assert told(home)[0] == 0
    found = status(config.load(home=home, environ={"GRISTMILL_MIN_FREE_MB": "999999999"}))
    assert [line.split(" MB free")[1] for line in found["wrong"]] == [", and a run wants 999,999,999 (min_free_mb)"]
    assert "1 thing wrong in" in next(status_lines(found))
