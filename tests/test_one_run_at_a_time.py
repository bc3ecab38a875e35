"""One run at a time on a home, room enough for it, and a lake this version understands."""

import fcntl
import json
import os
import socket
from pathlib import Path

import pytest

from tests.conftest import catalog, complaint, content, gristmill, run, start

pytestmark = pytest.mark.slow


def test_a_second_run_says_who_holds_the_home(published: Path) -> None:
    before = content(published)
    with (published / "lock").open("a+", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write(f"process {os.getpid()} on {socket.gethostname()}")
        lock.flush()
        line = complaint(gristmill(published, "run"))
        assert f"process {os.getpid()} on {socket.gethostname()}" in line
        assert str(published) in line
        assert "--wait" in line
    assert content(published) == before | {"lock": f"process {os.getpid()} on {socket.gethostname()}".encode()}


def test_two_runs_at_once(fresh: Path) -> None:
    """Whichever comes first runs, the other names it; one that waits runs after it."""
    runs = [start(fresh, "run"), start(fresh, "run"), start(fresh, "run", "--wait", "600")]
    ends = [process.communicate() for process in runs]
    codes = [process.returncode for process in runs]
    assert codes[2] == 0, ends[2]
    assert catalog(fresh)["publication"] == 1
    pids = [process.pid for process in runs]
    for process, (_, errors) in zip(runs, ends, strict=True):
        if process.returncode:
            assert process.returncode == 1, errors
            (line,) = errors.strip().splitlines()
            assert any(f"process {pid} on" in line for pid in pids if pid != process.pid), line
    log = [json.loads(line) for line in (fresh / "runs" / "runs.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(log) == codes.count(0)
    assert all(later["started"] is not None and later["outcome"] == "published" for later in log)


def test_a_dead_holders_lock_is_taken_over(published: Path) -> None:
    """What the dead one wrote into the file means nothing: the operating system let go of its lock."""
    (published / "lock").write_text("process 1 on nowhere", encoding="utf-8")
    run(published)
    assert (published / "lock").read_text(encoding="utf-8") == ""


def test_a_full_disk_is_refused_before_anything_is_touched(published: Path) -> None:
    before = content(published, ["lock"])
    line = complaint(gristmill(published, "run", "--full", env={"GRISTMILL_MIN_FREE_MB": "999999999"}))
    assert "MB free" in line
    assert str(published) in line
    assert content(published, ["lock"]) == before


def test_a_lake_of_another_format_is_refused(published: Path) -> None:
    file = published / "lake" / "catalog.json"
    file.write_text(json.dumps({**catalog(published), "format": 999}), encoding="utf-8")
    before = content(published, ["lock"])
    for command in ("run", "status"):
        assert "format 999" in complaint(gristmill(published, command))
    assert content(published, ["lock"]) == before


def test_a_broken_catalogue_is_named(published: Path) -> None:
    (published / "lake" / "catalog.json").write_text('{"format": 1, "tab', encoding="utf-8")
    before = content(published, ["lock"])
    assert "catalog" in complaint(gristmill(published, "status"))
    assert content(published, ["lock"]) == before


def test_a_home_that_is_a_file(tmp_path: Path, demo_home: Path) -> None:
    (tmp_path / "home").write_text("in the way", encoding="utf-8")
    env = {"GRISTMILL_FEEDBACK": str(demo_home / "sources" / "feedback.db")}
    assert str(tmp_path / "home") in complaint(gristmill(tmp_path / "home", "run", env=env))
