"""G7: where no file, state, setting or rule changed and as_of is the same, a run ends at once; else it goes the long way."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from dagster_project import config
from dagster_project.databases.sqlite_file import TICK_SECONDS
from dagster_project.run import nothing_new
from dagster_project.run.nothing_new import Picture
from dagster_project.run.run_log import runs
from tests.conftest import change, copy_home, environment, gristmill, main_source, published_content, run

TODAY = date(2026, 3, 1)


def table(path: Path, rows: int = 1) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as database:
        database.execute("create table if not exists things (key text)")
        database.executemany("insert into things values (?)", [(str(n),) for n in range(rows)])
        database.commit()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with one file of everything a run looks at or makes."""
    monkeypatch.setattr("dagster_project.databases.sqlite_file.TICK_SECONDS", -1.0)
    home = tmp_path / "home"
    for name in ("feedback", "conversations"):
        table(home / "sources" / f"{name}.db")
    for name in (
        "sources/transcripts/20260131.jsonl",
        "sources/turn_000001/context.md",
        "state/reviews.jsonl",
        "lake/core__feedback/part-0.parquet",
        "exports/20260131/manifest.json",
        "pending_review/batch_20260131.json",
        "snapshots/3/warehouse.duckdb",
        "warehouse.duckdb",
    ):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("as it was", encoding="utf-8")
    return home


def picture(home: Path, asked_as_of: str | None = None, next_day: str | None = None) -> Picture:
    inputs = nothing_new.look_at_inputs(config.load(home=home, environ={}))
    assert inputs is not None
    made = nothing_new.look_at_what_was_made(home, 3)
    state = nothing_new.of_state(nothing_new.look_at_state(home))
    return Picture(inputs, state, made, "2026-02-01T00:00:00+00:00", asked_as_of, next_day, 3, 3, "20260131")


def is_true(home: Path, kept: Picture, as_of: datetime | None = None, today: date = TODAY, **env: str) -> bool:
    return nothing_new.is_true(kept, config.load(home=home, environ=env), as_of, today)


def test_what_is_left_is_read_again(home: Path) -> None:
    kept = picture(home)
    assert nothing_new.latest(home) is None
    nothing_new.remember(home, None)
    (home / "runs").mkdir()
    nothing_new.remember(home, kept)
    assert nothing_new.latest(home) == kept
    assert is_true(home, kept)
    nothing_new.remember(home, None)
    assert nothing_new.latest(home) is None
    for torn in ("", "{", "[]", '{"inputs": 1}'):
        (home / "runs" / "unchanged.json").write_text(torn, encoding="utf-8")
        assert nothing_new.latest(home) is None


CHANGES: dict[str, Callable[[Path], object]] = {
    "a row at a source": lambda home: table(home / "sources" / "feedback.db"),
    "another source": lambda home: table(home / "sources" / "sessions.db"),
    "a source that is gone": lambda home: (home / "sources" / "feedback.db").unlink(),
    "a line of a transcript": lambda home: (home / "sources/transcripts/20260131.jsonl").write_text("{}"),
    "a turn folder": lambda home: (home / "sources/turn_000001/context.md").write_text("## 0. User Query"),
    "a verdict": lambda home: (home / "state/reviews.jsonl").write_text("approved"),
    "new state": lambda home: (home / "state/frozen.json").write_text("{}"),
    "a torn file": lambda home: os.truncate(home / "lake/core__feedback/part-0.parquet", 3),
    "a release that is gone": lambda home: shutil.rmtree(home / "exports"),
    "a batch that is gone": lambda home: (home / "pending_review/batch_20260131.json").unlink(),
    "a client's log": lambda home: (home / "warehouse.duckdb.wal").write_text("rows"),
    "a warehouse that was written to": lambda home: (home / "warehouse.duckdb").write_text("other"),
    "a snapshot that is gone": lambda home: shutil.rmtree(home / "snapshots/3"),
    "half of a commit": lambda home: (home / "commit.json").write_text("{}"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_any_change_is_seen(home: Path, what: str) -> None:
    kept = picture(home)
    CHANGES[what](home)
    assert not is_true(home, kept)


def test_settings_and_code_are_part_of_it(home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    kept = picture(home)
    assert not is_true(home, kept, GRISTMILL_MIN_WEIGHT="0.5")
    assert not is_true(home, kept, GRISTMILL_SAMPLE_RATE="0.5")
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "rules.py").write_text("LIMIT = 1\n", encoding="utf-8")
    monkeypatch.setattr(nothing_new, "PACKAGE", tmp_path / "code")
    kept = picture(home)
    assert is_true(home, kept)
    (tmp_path / "code" / "rules.py").write_text("LIMIT = 2\n", encoding="utf-8")
    assert not is_true(home, kept)


def test_as_of_must_be_the_same(home: Path) -> None:
    """G2: rows of a day that was not over wait; once it is, as_of is another. A given as_of never moves."""
    given = datetime(2026, 2, 1, tzinfo=UTC)
    waiting = picture(home, next_day="2026-03-01")
    assert is_true(home, waiting, today=date(2026, 3, 1))
    assert not is_true(home, waiting, today=date(2026, 3, 2))
    assert not is_true(home, waiting, as_of=given)
    asked = picture(home, asked_as_of=given.isoformat(), next_day="2026-03-01")
    assert is_true(home, asked, as_of=given, today=date(2026, 4, 1))
    assert not is_true(home, asked)


def test_what_cannot_be_told_from_outside_leaves_no_picture(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server, a model of the user's own, and a file that was written to just now: a second change might not show."""

    def looked(**env: str) -> str | None:
        return nothing_new.look_at_inputs(config.load(home=home, environ=env))

    assert looked(GRISTMILL_SESSIONS="postgresql://reader@127.0.0.1/prod") is None
    assert looked(GRISTMILL_SIMILARITY_MODEL="ours:factory") is None
    assert looked() is not None
    monkeypatch.setattr("dagster_project.databases.sqlite_file.TICK_SECONDS", 3600.0)
    assert looked() is None


def test_what_the_run_itself_put_into_the_state_is_no_change(home: Path) -> None:
    """Somebody else's verdict meanwhile is one: the run had read the state before."""
    before = nothing_new.look_at_state(home)
    for name in ("frozen.json", "weeks/2026-W01.json"):
        (home / "state" / name).parent.mkdir(exist_ok=True)
        (home / "state" / name).write_text("{}", encoding="utf-8")
    frozen, weeks = home / "state" / "frozen.json", home / "state" / "weeks"
    after = nothing_new.look_at_state(home)
    assert nothing_new.is_own_work(before, after, [(Path("staged"), frozen), (Path("staged"), weeks)])
    assert not nothing_new.is_own_work(before, after, [(Path("staged"), frozen)])
    CHANGES["a verdict"](home)
    after = nothing_new.look_at_state(home)
    assert not nothing_new.is_own_work(before, after, [(Path("staged"), frozen), (Path("staged"), weeks)])


@pytest.mark.slow
def test_runs_with_nothing_new(published_home: Path, tmp_path: Path) -> None:
    """The first run after a change goes the long way, the next one only says so, without Dagster; what is known stays known."""
    home = copy_home(published_home, tmp_path / "home")
    shutil.rmtree(home / "state", ignore_errors=True)
    change(main_source(home), "delete from feedback where rowid = (select min(rowid) from feedback)")
    time.sleep(TICK_SECONDS)
    run(home)  # which publishes, and puts something into the state
    before, status = published_content(home), gristmill(home, "status", "--json")
    code = (
        "import sys\nsys.argv[0] = 'gristmill'\nfrom dagster_project.cli import main\ntry:\n    main()\nfinally:\n"
        "    assert 'dagster' not in sys.modules and 'duckdb' not in sys.modules"
    )
    command = [sys.executable, "-c", code, "--home", str(home), "run"]
    done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=True)
    assert "nothing has changed since" in done.stdout
    assert published_content(home) == before
    last = runs(home)[-1]
    assert (last["outcome"], last["started_by"]) == ("nothing_new", "command line")
    now = json.loads(gristmill(home, "status", "--json").stdout)
    assert now["drift"] == json.loads(status.stdout)["drift"] != []
    change(main_source(home), "delete from feedback where rowid = (select max(rowid) from feedback)")
    assert "days read" in run(home).stdout
    assert "days read" in run(home, "--full").stdout
