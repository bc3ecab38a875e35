"""One run at a time on a home, room enough for it, and a lake this version understands."""

import fcntl
import json
import os
import socket
import time
from pathlib import Path

import pytest

from dagster_project.run.run_log import runs
from tests.conftest import (
    catalog,
    change,
    complaint,
    content,
    finish,
    gristmill,
    main_source,
    published_content,
    run,
    start,
)

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


def test_three_runs_at_once(published: Path) -> None:
    """The first one runs, one that does not wait names it, one that waits runs after it and finds nothing to do."""
    change(main_source(published), "delete from feedback where feedback_type = 'flag'")
    first = start(published, "run")
    while first.poll() is None and f"process {first.pid} " not in (published / "lock").read_text(encoding="utf-8"):
        time.sleep(0.001)
    assert f"process {first.pid} on {socket.gethostname()}" in complaint(gristmill(published, "run"))
    run(published, "--wait", "600")
    assert finish(first).returncode == 0
    assert catalog(published)["publication"] == 2
    log = runs(published)
    assert [entry["outcome"] for entry in log] == ["published", "published", "nothing_new"]
    assert [entry["pid"] for entry in log[1:]] == [first.pid, os.getpid()]


def test_a_dead_holders_lock_is_taken_over(published: Path) -> None:
    """What the dead one wrote into the file means nothing: the operating system let go of its lock."""
    before = published_content(published)
    (published / "lock").write_text("process 1 on nowhere", encoding="utf-8")
    run(published)
    assert published_content(published) == before  # nothing had changed, so nothing was published
    assert (published / "lock").read_text(encoding="utf-8") == ""


def test_a_full_disk_is_refused_before_anything_is_touched(published: Path) -> None:
    before = content(published, ["lock", "runs"])
    line = complaint(gristmill(published, "run", "--full", env={"GRISTMILL_MIN_FREE_MB": "999999999"}))
    assert "MB free" in line
    assert str(published) in line
    assert content(published, ["lock", "runs"]) == before
    assert (runs(published)[-1]["outcome"], f"gristmill: {runs(published)[-1]['reason']}") == ("failed", line)


def test_a_lake_of_another_format_is_refused(published: Path) -> None:
    file = published / "lake" / "catalog.json"
    file.write_text(json.dumps({**catalog(published), "format": 999}), encoding="utf-8")
    before = content(published, ["lock", "runs"])
    for command in ("run", "status"):
        assert "format 999" in complaint(gristmill(published, command))
    assert content(published, ["lock", "runs"]) == before


def test_a_broken_catalogue_is_named(published: Path) -> None:
    (published / "lake" / "catalog.json").write_text('{"format": 1, "tab', encoding="utf-8")
    before = content(published, ["lock"])
    assert "catalog" in complaint(gristmill(published, "status"))
    assert content(published, ["lock"]) == before


def test_a_home_that_is_a_file(tmp_path: Path, demo_home: Path) -> None:
    (tmp_path / "home").write_text("in the way", encoding="utf-8")
    env = {"GRISTMILL_FEEDBACK": str(demo_home / "sources" / "feedback.db")}
    assert str(tmp_path / "home") in complaint(gristmill(tmp_path / "home", "run", env=env))
