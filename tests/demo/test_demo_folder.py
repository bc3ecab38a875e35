"""`gristmill demo` writes over nothing but its own files, and a killed one leaves nothing half done."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from dagster_project.demo.own_files import RECORD, STAGING
from tests.conftest import ask, change, complaint, content, environment, gristmill

ROWS = ("--rows", "320")
REAL = "create table feedback (feedback_id text primary key, note text); insert into feedback values ('real', 'mine')"


def real_database(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as database:
        database.executescript(REAL)


def write(home: Path, *options: str) -> str:
    done = gristmill(home, "demo", *ROWS, *options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refused(home: Path, *options: str) -> str:
    """The demo says in one line why not, and nothing in the folder of sources is touched."""
    sources = home / "sources"
    before = content(sources), sorted(sources.rglob("*"))
    told = complaint(gristmill(home, "demo", *ROWS, *options))
    assert (content(sources), sorted(sources.rglob("*"))) == before
    return told


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("written") / "home"
    write(home)
    return home


@pytest.fixture
def demo(written: Path, tmp_path: Path) -> Path:
    """A home with a demo in it, to be changed."""
    return Path(shutil.copytree(written, tmp_path / "home"))


def elsewhere(home: Path) -> Path:
    return home.parent / "external disk" / "feedback.db"


def _text(name: str) -> Callable[[Path], None]:
    def put(sources: Path) -> None:
        (sources / name).parent.mkdir(parents=True, exist_ok=True)
        (sources / name).write_text("somebody's own")

    return put


def _database(name: str) -> Callable[[Path], None]:
    return lambda sources: real_database(sources / name)


def _link(sources: Path) -> None:
    target = elsewhere(sources.parent)
    real_database(target)
    (sources / "feedback.db").symlink_to(target)


def _link_to_nowhere(sources: Path) -> None:
    (sources / "feedback.db").symlink_to(elsewhere(sources.parent))


def _linked_folder(sources: Path) -> None:
    other = sources.parent / "other"
    other.mkdir()
    (other / "20260105.jsonl").write_text("{}\n")
    (sources / "transcripts").symlink_to(other)


OTHERS = {
    "a real database": _database("feedback.db"),
    "of the last system written": _database("sessions.db"),
    "a fallback file": _database("conversations_fallback.db"),
    "a database of another name": _database("crm.db"),
    "a link to an external disk": _link,
    "a link to a disk that is away": _link_to_nowhere,
    "a transcript": _text("transcripts/20260105.jsonl"),
    "a turn folder": _text("turn_000007/response.md"),
    "a user's turn folder": _text("users/henry/turns/turn_000001/context.md"),
    "a link to a folder": _linked_folder,
    "a log whose database is gone": _text("feedback.db-wal"),
    "a journal whose database is gone": _text("reactions.db-journal"),
}


@pytest.mark.parametrize("options", [(), ("--force",)])
@pytest.mark.parametrize("other", OTHERS)
def test_what_it_did_not_write_stays(other: str, options: tuple[str, ...], tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "sources").mkdir(parents=True)
    OTHERS[other](home / "sources")
    assert "not written by the demo; nothing was touched" in refused(home, *options)


def test_other_files_in_the_folder_are_left_alone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    _text("notes.txt")(home / "sources")
    write(home)
    write(home, "--seed", "2")
    assert (home / "sources" / "notes.txt").read_text() == "somebody's own"


def test_a_demo_is_replaced_by_another(demo: Path, tmp_path: Path) -> None:
    """Nothing of the older one is left, and the same seed gives the same bytes, record and all."""
    fresh = tmp_path / "fresh"
    write(fresh, "--seed", "2")
    write(demo, "--seed", "2")
    assert content(demo / "sources") == content(fresh / "sources")
    assert not (demo / "sources" / STAGING).exists()


def test_what_sqlite_left_beside_an_unchanged_demo_does_not_matter(demo: Path, written: Path) -> None:
    source = demo / "sources" / "feedback.db"
    with closing(sqlite3.connect(f"file:{source}?mode=ro", uri=True)) as database:
        database.execute("select count(*) from feedback").fetchone()
    (demo / "sources" / "sessions.db-shm").write_bytes(bytes(32))
    write(demo)
    assert content(demo / "sources") == content(written / "sources")


def test_rows_written_into_a_demo_are_not_lost_unasked(demo: Path, written: Path) -> None:
    source = demo / "sources" / "feedback.db"
    change(source, "update feedback set flag_details = 'a real remark' where rowid = 1")
    assert "feedback.db was changed since the demo was written" in refused(demo)
    told = write(demo, "--force")
    assert told.splitlines()[0] == f"replacing {source}, which was changed since the demo was written"
    assert content(demo / "sources") == content(written / "sources")


def test_rows_still_in_the_log_count_too(demo: Path) -> None:
    """A live writer's rows are in the -wal file; the database itself is as the demo wrote it."""
    source = demo / "sources" / "reactions.db"
    before = source.read_bytes()
    with closing(sqlite3.connect(source)) as database:
        database.execute("pragma wal_autocheckpoint = 0")
        database.execute("update conv_messages set text = 'a real remark' where id = 1")
        database.commit()
        assert source.read_bytes() == before
        assert "reactions.db was changed since" in refused(demo)
        write(demo, "--force")
    assert not Path(f"{source}-wal").exists()
    assert ask(source, "select count(*) from conv_messages where text = 'a real remark'") == [(0,)]


@pytest.mark.parametrize("options", [(), ("--force",)])
def test_a_real_database_in_place_of_the_demos(demo: Path, options: tuple[str, ...]) -> None:
    source = demo / "sources" / "sessions.db"
    source.unlink()
    real_database(source)
    assert "sessions.db was not written by the demo" in refused(demo, *options)


def test_a_transcript_that_grew_and_one_that_was_replaced(demo: Path) -> None:
    grown, replaced = sorted((demo / "sources" / "transcripts").iterdir())[:2]
    with grown.open("a") as file:
        file.write('{"query": "a real one"}\n')
    assert f"{grown.name} was changed since" in refused(demo)
    replaced.write_text('{"query": "a real one"}\n')
    assert f"{replaced.name} was not written by the demo" in refused(demo, "--force")


@pytest.mark.parametrize("record", [None, "", "[]", '{"files": {"feedback.db": [{}]}}', '{"files": []}'])
def test_without_its_record_a_demo_is_replaced_only_by_force(demo: Path, record: str | None) -> None:
    """The mark in each database says whose it is, not whether it was changed."""
    for path in (demo / "sources").iterdir():
        if path.is_dir():
            shutil.rmtree(path)
    (demo / "sources" / RECORD).unlink()
    if record is not None:
        (demo / "sources" / RECORD).write_text(record)
    assert "changed since the demo was written" in refused(demo)
    write(demo, "--force")


def test_a_home_that_has_read_other_sources(demo: Path) -> None:
    """Its sources may be away for a while; a demo in their place would be read instead of them."""
    shutil.rmtree(demo / "sources")
    (demo / "lake" / "core__feedback").mkdir(parents=True)
    assert "holds what was read from other sources" in refused(demo)
    assert gristmill(demo, "demo", *ROWS, "--if-no-sources").stdout == ""
    assert not (demo / "sources").exists()
    write(demo, "--force")


@pytest.mark.parametrize("in_the_way", ["a file", "a link to nowhere"])
def test_no_folder_to_write_to(tmp_path: Path, in_the_way: str) -> None:
    home = tmp_path / "home"
    home.mkdir()
    if in_the_way == "a file":
        (home / "sources").write_text("somebody's own")
    else:
        (home / "sources").symlink_to(tmp_path / "away")
    assert "cannot write the demo to" in complaint(gristmill(home, "demo", *ROWS))


def test_nobody_runs_meanwhile(tmp_path: Path) -> None:
    from dagster_project.lake.lock import home_lock  # noqa: PLC0415

    home = tmp_path / "home"
    with home_lock(home):
        assert "is in use by" in complaint(gristmill(home, "demo", *ROWS))
    assert not (home / "sources").exists()


KILLED = """
import os, signal, sys
from pathlib import Path
from dagster_project import cli
from dagster_project.demo import own_files

allowed, move = int(sys.argv.pop(1)), own_files._move
def until_killed(path, target):
    global allowed
    if allowed == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    allowed -= 1
    move(path, target)
own_files._move = until_killed
cli.main()
"""


@pytest.mark.parametrize("moved", [0, 1, 60, "all but one"])
@pytest.mark.parametrize("was_there", [False, True])
def test_a_killed_demo_is_finished_by_the_next(
    moved: int | str, was_there: bool, written: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    if was_there:
        write(home, "--seed", "2")
    count = len(content(written / "sources")) - 2 if moved == "all but one" else int(moved)
    command = [sys.executable, "-c", KILLED, str(count), "--home", str(home), "demo", *ROWS]
    path = os.pathsep.join(entry for entry in sys.path if entry)
    killed = subprocess.run(command, env=environment(PYTHONPATH=path), capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    write(home, "--if-no-sources")
    assert content(home / "sources") == content(written / "sources")


def test_only_where_there_are_no_sources(demo: Path, tmp_path: Path) -> None:
    """What `make run` asks for: nothing in the usual place, and nothing configured."""
    assert write(demo, "--seed", "2", "--if-no-sources") == ""
    home = tmp_path / "other"
    real_database(tmp_path / "real.db")
    for env in (
        {"GRISTMILL_SESSIONS": str(tmp_path / "real.db")},
        {"GRISTMILL_FEEDBACK": "postgresql://reader@db/prod"},
    ):
        done = gristmill(home, "demo", *ROWS, "--if-no-sources", env=env)
        assert (done.returncode, done.stdout) == (0, "")
    assert not home.exists()
    assert write(home, "--if-no-sources")
