"""G13 through the command: a source on a disk that was unplugged, named in the configuration or linked as a default source."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from dagster_project.config import SYSTEMS
from tests.conftest import catalog, content, gristmill, main_source, run
from tests.tables import table

pytestmark = pytest.mark.slow


def parquet(home: Path) -> dict[str, bytes]:
    return {name: stored for name, stored in content(home / "lake").items() if name.endswith(".parquet")}


def failure(done: subprocess.CompletedProcess[str]) -> str:
    """What the command ended with, below what it tells of its progress."""
    assert done.returncode == 1, done.stderr
    return done.stderr.splitlines()[-1]


def test_a_linked_default_source_is_unplugged_and_plugged_in_again(published: Path, tmp_path: Path) -> None:
    """Its rows stay, the run and `status` say since when it is missing; the fallback file is there, so all is well."""
    disk = tmp_path / "disk"
    disk.mkdir()
    shutil.move(main_source(published), disk / "feedback.db")
    main_source(published).symlink_to(disk / "feedback.db")
    run(published)
    before, count = parquet(published), table(published, "core__feedback").height
    assert count > 200
    disk.rename(tmp_path / "drawer")
    told = run(published).stdout
    line = (
        f"feedback: {main_source(published)} is missing since publication {catalog(published)['publication']} (as of "
    )
    assert line in told
    assert parquet(published) == before
    found = json.loads(gristmill(published, "status", "--json").stdout)
    assert [text.startswith(line) for text in found["missing"]] == [True]
    assert found["waiting_days"] == []
    marked = gristmill(published, "writeback")
    assert marked.returncode == 0, marked.stderr
    assert f"left alone, {line}" in marked.stdout
    (tmp_path / "drawer").rename(disk)
    assert "is missing" not in run(published).stdout
    assert table(published, "core__feedback").height == count


def test_a_configured_source_is_unplugged(published: Path, tmp_path: Path) -> None:
    """It has no other file: everything is published, feedback as it was, and the exit code is 1."""
    gone, settings = tmp_path / "disk" / "feedback.db", {}
    gone.parent.mkdir()
    shutil.move(main_source(published), gone)
    (published / "sources" / "feedback_fallback.db").unlink()
    settings["GRISTMILL_FEEDBACK"] = str(gone)
    run(published, env=settings)
    before = parquet(published)
    shutil.rmtree(gone.parent)
    done = gristmill(published, "run", env=settings)
    assert "no file of feedback is there" in failure(done)
    assert f"feedback: {gone} is missing since publication {catalog(published)['publication']}" in done.stdout
    assert "  distillation  read " in done.stdout
    assert parquet(published) == before


def test_every_system_is_unplugged_and_plugged_in_again(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done = gristmill(home, "demo", "--rows", "300")
    assert done.returncode == 0, done.stderr
    run(home)
    before, sources = parquet(home), catalog(home)["sources"]
    files = [home / "sources" / f"{system}.db" for system in SYSTEMS]
    drawer = tmp_path / "drawer"
    drawer.mkdir()
    for file in files:
        shutil.move(file, drawer / file.name)
    done = gristmill(home, "run", "--full")
    assert "no file of distillation, reactions, sessions is there" in failure(done)
    assert parquet(home) == before
    assert {system: [*missing] for system, missing in catalog(home)["missing"].items()} == {
        system: [f"{system}.db"] for system in SYSTEMS
    }
    for file in files:
        shutil.move(drawer / file.name, file)
    run(home)
    assert parquet(home) == before
    assert catalog(home)["sources"] == sources
    assert catalog(home)["missing"] == {}
