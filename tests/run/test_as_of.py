"""G2: a run has one as_of, never a piece of today by itself, never a moment that has not come."""

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagster_project import config
from dagster_project.definitions import defs
from dagster_project.errors import Misused
from dagster_project.intake.stage import Choice
from dagster_project.registry import open_run
from dagster_project.run.moments import parse_as_of
from tests.conftest import change, complaint, content, gristmill, run
from tests.systems.feedback.feedback_rows import add_feedback

BEGAN = datetime(2026, 3, 10, 2, 21, tzinfo=UTC)
TODAY = BEGAN.date()
MIDNIGHT = datetime(2026, 3, 10, tzinfo=UTC)


def days(*numbers: int) -> list[dict[str, date]]:
    """A row on each day, counted from today."""
    return [{"day": TODAY + timedelta(days=number)} for number in numbers]


def chosen(home: Path, choice: Choice = Choice(), began: datetime = BEGAN) -> tuple[datetime, str]:  # noqa: B008
    with open_run(config.load(home=home, environ={}), choice, began) as mill:
        return mill.as_of, mill.as_of_choice


@pytest.mark.parametrize(
    ("held", "as_of"),
    [
        ((-3, -2), MIDNIGHT - timedelta(days=1)),
        ((-3, -1), MIDNIGHT),
        ((-1, 0), MIDNIGHT),  # today is not over
        ((-9, 0, 1, 300), MIDNIGHT - timedelta(days=8)),  # nor is what is yet to come
    ],
)
def test_the_newest_day_that_is_over(tmp_path: Path, held: tuple[int, ...], as_of: datetime) -> None:
    add_feedback(tmp_path / "sources" / "feedback.db", *days(*held))
    assert chosen(tmp_path) == (as_of, "the end of the newest day that is over")


@pytest.mark.parametrize("held", [(), (0,), (0, 5)])
def test_no_day_is_over(tmp_path: Path, held: tuple[int, ...]) -> None:
    add_feedback(tmp_path / "sources" / "feedback.db", *days(*held))
    assert chosen(tmp_path) == (MIDNIGHT, "no source holds a day that is over, so the start of today")


@given(st.lists(st.integers(-400, 400), max_size=5))
def test_a_run_left_to_itself_never_takes_a_piece_of_today(
    tmp_path_factory: pytest.TempPathFactory, held: list[int]
) -> None:
    home = tmp_path_factory.mktemp("home")
    add_feedback(home / "sources" / "feedback.db", *days(*held))
    as_of, _ = chosen(home)
    assert as_of <= MIDNIGHT
    assert as_of.time() == MIDNIGHT.time()


def test_given_and_now(tmp_path: Path) -> None:
    """A bare date is its first instant; `now` is the moment the run began, read once."""
    add_feedback(tmp_path / "sources" / "feedback.db", *days(-1))
    assert chosen(tmp_path, Choice(parse_as_of("2026-03-01"))) == (datetime(2026, 3, 1, tzinfo=UTC), "as given")
    assert chosen(tmp_path, Choice(parse_as_of("now"))) == (BEGAN, "now")
    assert chosen(tmp_path, Choice(BEGAN)) == (BEGAN, "as given")


def test_days_to_read_again_do_not_choose_it(tmp_path: Path) -> None:
    add_feedback(tmp_path / "sources" / "feedback.db", *days(-5, -1))
    earlier = TODAY - timedelta(days=5)
    assert chosen(tmp_path, Choice(days=(earlier, earlier)))[0] == MIDNIGHT


def test_what_has_not_come_is_refused_before_anything_is_touched(tmp_path: Path) -> None:
    add_feedback(tmp_path / "sources" / "feedback.db", *days(-1))
    before = content(tmp_path)
    with pytest.raises(Misused, match=r"2026-03-10T02:21:01Z has not come yet, it is 2026-03-10T02:21:00Z"):
        chosen(tmp_path, Choice(BEGAN + timedelta(seconds=1)))
    assert content(tmp_path) == before


def test_the_command_refuses_it(tmp_path: Path) -> None:
    add_feedback(tmp_path / "home" / "sources" / "feedback.db", *days(-1))
    before = content(tmp_path)
    done = gristmill(tmp_path / "home", "run", "--as-of", "2090-01-01")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert "as-of 2090-01-01T00:00:00Z has not come yet" in done.stderr
    assert content(tmp_path) == before


def test_dagster_refuses_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_feedback(tmp_path / "home" / "sources" / "feedback.db", *days(-1))
    monkeypatch.chdir(tmp_path)
    given_to_it = {"home": str(tmp_path / "home"), "as_of": "2090-01-01"}
    with dg.DagsterInstance.ephemeral() as instance:
        result = defs.resolve_job_def("refresh").execute_in_process(
            {"resources": {"mill": {"config": given_to_it}}}, instance, raise_on_error=False
        )
        (failed,) = [event for event in result.all_events if event.is_failure]
    assert not result.success
    assert "as-of 2090-01-01T00:00:00Z has not come yet" in str(failed)
    assert not (tmp_path / "home" / "lake").exists()


@pytest.mark.slow
def test_a_nightly_run_leaves_today_alone(tmp_path: Path) -> None:
    """With rows of today at the source: as_of is midnight, they wait; the choice is printed and stored."""
    home, today = tmp_path / "home", datetime.now(UTC).date()
    rows = [{"day": today + timedelta(days=number)} for number in (-2, -1, -1)]
    moments = [datetime.combine(today, datetime.min.time(), UTC).timestamp(), datetime.now(UTC).timestamp()]
    add_feedback(home / "sources" / "feedback.db", *rows, *({"timestamp": moment} for moment in moments))
    first = run(home)
    assert f"as of {today} 00:00 UTC (the end of the newest day that is over), publication 1" in first.stdout
    assert "waiting    2 rows dated at or after as_of" in first.stdout
    stats = json.loads(gristmill(home, "stats", "--json").stdout)
    assert (stats["total_feedback"], stats["recent_24h"]) == (3, 2)
    assert [path.name for path in (home / "exports").iterdir()] == [f"{today - timedelta(days=1):%Y%m%d}"]
    log = (home / "runs" / "runs.jsonl").read_text(encoding="utf-8")
    assert json.loads(log.splitlines()[-1])["as_of_choice"] == "the end of the newest day that is over"

    assert "(now), publication 2" in run(home, "--as-of", "now").stdout
    assert json.loads(gristmill(home, "stats", "--json").stdout)["total_feedback"] == 5

    assert ", only its release in" in run(home).stdout  # what was published of today is not taken back by a plain run
    assert json.loads(gristmill(home, "stats", "--json").stdout)["total_feedback"] == 5
    change(home / "sources" / "feedback.db", f"delete from feedback where timestamp >= {moments[0]}")
    assert "publication 3" in run(home).stdout  # but rows that vanished at the source vanish here (G7)
    assert json.loads(gristmill(home, "stats", "--json").stdout)["total_feedback"] == 3


def test_an_empty_as_of_is_a_mistake(tmp_path: Path) -> None:
    """As an unset variable in somebody's crontab gives it."""
    add_feedback(tmp_path / "home" / "sources" / "feedback.db", *days(-1))
    assert "as-of '' is not `now` and not a date" in complaint(gristmill(tmp_path / "home", "run", "--as-of", ""))
