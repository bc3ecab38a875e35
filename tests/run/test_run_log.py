"""The record of runs: who started it, what came of it and why; and what the command line and `status` say of it."""

import json
import os
import socket
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from dagster_project import config
from dagster_project.errors import GristmillError, Stopped
from dagster_project.intake.account import Account
from dagster_project.lake.lock import home_lock
from dagster_project.registry import open_run
from dagster_project.run.record import Check, RunRecord, drift_lines
from dagster_project.run.run_log import runs
from tests.systems.feedback.feedback_rows import add_feedback

BEGAN = datetime(2026, 3, 10, 2, 21, tzinfo=UTC)
DAY, NEXT = date(2026, 1, 10), date(2026, 1, 11)


def record(home: Path, run_id: str, started_by: str | None = "command line") -> RunRecord:
    found = RunRecord(home, run_id, started_by, BEGAN)
    found.begin()
    return found


def outcomes(home: Path) -> list[tuple[str, str | None]]:
    return [(entry["outcome"], entry["reason"]) for entry in runs(home)]


# --- what is put down ------------------------------------------------------------------------------------------------


def test_a_run_is_put_down_when_it_begins_and_when_it_ends(tmp_path: Path) -> None:
    with home_lock(tmp_path):
        going = record(tmp_path, "a", "schedule daily_refresh")
        (entry,) = runs(tmp_path)
        assert (entry["outcome"], entry["started_by"]) == ("running", "schedule daily_refresh")
        assert (entry["pid"], entry["host"]) == (os.getpid(), socket.gethostname())
        going.published(is_changed=True)
        going.end(None, as_of=BEGAN, publication=7)
    (entry,) = runs(tmp_path)
    assert (entry["outcome"], entry["reason"], entry["publication"]) == ("published", None, 7)
    assert entry["as_of"] == "2026-03-10T02:21:00+00:00"
    assert len((tmp_path / "runs" / "runs.jsonl").read_text(encoding="utf-8").splitlines()) == 2


@pytest.mark.parametrize(
    ("error", "outcome", "reason"),
    [
        (GristmillError("feedback.db is broken"), "failed", "feedback.db is broken"),
        (ValueError("two\nlines"), "failed", "ValueError: two lines"),
        (Stopped("stopped by SIGTERM", 143), "stopped", "stopped by SIGTERM"),
        (KeyboardInterrupt(), "stopped", "interrupted; nothing was published"),
        (None, "failed", "it ended before anything was published"),
    ],
)
def test_what_came_of_it(tmp_path: Path, error: BaseException | None, outcome: str, reason: str) -> None:
    record(tmp_path, "a").end(error)
    assert outcomes(tmp_path) == [(outcome, reason)]


def test_the_first_thing_that_goes_wrong_is_the_reason(tmp_path: Path) -> None:
    going = record(tmp_path, "a")
    going.fail(GristmillError("a source is locked"))
    going.end(GristmillError("the steps after it did not run"))
    assert outcomes(tmp_path) == [("failed", "a source is locked")]


def test_a_run_without_an_end_was_killed_once_nobody_holds_the_home(tmp_path: Path) -> None:
    killed = ("killed", f"process {os.getpid()} on {socket.gethostname()} was killed")
    with home_lock(tmp_path):
        record(tmp_path, "a")
        assert outcomes(tmp_path) == [("running", None)]
    assert outcomes(tmp_path) == [killed]
    with home_lock(tmp_path):
        record(tmp_path, "b")  # whoever holds the home next puts it down
        assert outcomes(tmp_path) == [killed, ("running", None)]
    record(tmp_path, "c").end(None)
    lines = (tmp_path / "runs" / "runs.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line).get("outcome") for line in lines] == [None, "killed", None, "killed", None, "failed"]


def test_a_torn_line_costs_no_other(tmp_path: Path) -> None:
    record(tmp_path, "a").end(GristmillError("first"))
    with (tmp_path / "runs" / "runs.jsonl").open("a", encoding="utf-8") as log:
        log.write('{"run":"torn","outc')
    record(tmp_path, "b").end(GristmillError("second"))
    assert outcomes(tmp_path) == [("failed", "first"), ("failed", "second")]


def test_what_is_no_run_of_the_pipeline_is_not_put_down(tmp_path: Path) -> None:
    add_feedback(tmp_path / "sources" / "feedback.db", {"day": DAY})
    with open_run(config.load(home=tmp_path, environ={})):
        pass
    assert runs(tmp_path) == []


def test_a_run_that_cannot_begin_its_work_says_why(tmp_path: Path) -> None:
    add_feedback(tmp_path / "sources" / "feedback.db", {"day": DAY})
    settings = config.load(home=tmp_path, environ={"GRISTMILL_MIN_FREE_MB": "999999999"})
    with pytest.raises(GristmillError, match="MB free"), open_run(settings, started_by="sensor changed_days"):
        pass
    (entry,) = runs(tmp_path)
    assert (entry["outcome"], entry["started_by"]) == ("failed", "sensor changed_days")
    assert "MB free" in entry["reason"]


# --- what is told ----------------------------------------------------------------------------------------------------


def test_drift_that_is_new_comes_first(tmp_path: Path) -> None:
    """New is what the last run that went well did not have; of a first run nothing is."""

    def seen(run_id: str, **drift: Any) -> RunRecord:
        going = record(tmp_path, run_id)
        going.put_account("raw_feedback__entries", Account(**drift), rows=600)
        return going

    first = seen("a", unknown_columns=["mood"], unknown_words={"domain=finance": 200, "domain=tax": 1})
    first.published(is_changed=True)
    first.end(None)
    assert [item["new"] for item in first.drift] == [False] * 3
    seen("b", missing_columns=["domain"]).end(GristmillError("failed"))
    second = seen("c", missing_columns=["domain"], unknown_columns=["mood"], unknown_words={"domain=finance": 200})
    assert drift_lines(second.drift, 5) == [
        "new: raw_feedback__entries: missing column domain",
        "raw_feedback__entries: unknown column mood",
        "raw_feedback__entries: unknown word domain=finance in 200 rows (33.3%)",
    ]


def test_of_many_unknown_words_the_most_frequent_are_put_down(tmp_path: Path) -> None:
    going = record(tmp_path, "a")
    going.put_account(
        "raw_feedback__entries", Account(unknown_words={f"domain={n}": n for n in range(1, 31)}), rows=465
    )
    words = [(item["name"], item["rows"]) for item in going.drift]
    assert words == [*((f"domain={n}", n) for n in range(30, 10, -1)), ("10 more", 55)]


def test_a_failed_check_in_one_line() -> None:
    offending = Check("core__x", "no_gap", "days follow each other", True, {}, 9, [{"id": n} for n in range(5)])
    assert offending.line() == (
        'core__x: no_gap does not hold (days follow each other): 9 rows, first {"id": 0}; {"id": 1}; {"id": 2}'
    )
    sums = Check("raw_x", "rows_add_up", "read = kept + quarantined", True, {"read": 3, "kept": 2})
    assert sums.line() == "raw_x: rows_add_up does not hold (read = kept + quarantined): read 3; kept 2"
