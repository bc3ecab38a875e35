"""Folders of a home that lie elsewhere: other file systems, links, mounts. A run works there, or says why not, in one line."""

import errno
import json
import os
import shutil
from pathlib import Path

import pytest

from dagster_project.lake import lake as lakes
from dagster_project.lake.lake import Catalog, Lake
from dagster_project.run.run_log import runs
from tests.conftest import change, complaint, content, copy_home, gristmill, main_source, run
from tests.lake.test_lake import assert_whole, broken_off_after, commit, elsewhere, left, stage_first, stage_second

__all__ = ["elsewhere"]  # a fixture of test_lake's


def publication(home: Path) -> int:
    return Catalog.read(home / "lake" / "catalog.json").publication


def left_by_an_earlier_version(home: Path, elsewhere: Path) -> Path:
    """Its commit failed when the release should have gone to another file system: the journal said what belongs where."""
    commit(stage_first(home))
    Lake(home).recover()
    shutil.copytree(home / "exports", elsewhere / "exports")
    shutil.rmtree(home / "exports")
    (home / "exports").symlink_to(elsewhere / "exports")
    lake = stage_second(home)
    lake.catalog.publication = 2
    lake.link_all(lake.staging / "next_lake")
    (lake.staging / "next_lake" / "catalog.json").write_text(lake.catalog.to_json(), encoding="utf-8")
    (lake.staging / "release").mkdir()
    (lake.staging / "release" / "examples").write_text("2")
    (lake.staging / "warehouse").write_text("2")
    plan = {
        "publication": 2,
        "before": [["staging/release", "exports/2"]],
        "after": [["staging/warehouse", "warehouse"]],
    }
    lake.journal.write_text(json.dumps(plan), encoding="utf-8")
    return home


@pytest.mark.parametrize("operations", range(14))
def test_a_journal_of_an_earlier_version_is_finished(tmp_path: Path, elsewhere: Path, operations: int) -> None:
    home = left_by_an_earlier_version(tmp_path, elsewhere)
    with broken_off_after(operations):
        Lake(home).recover()
        left.clear()
    Lake(home).recover()
    assert publication(home) == 2
    assert_whole(home)
    assert (home / "warehouse").read_text() == "2"
    assert content(home / "exports") == {"1/examples": b"1", "2/examples": b"2"}
    assert {path.name for path in home.iterdir()} == {"exports", "lake", "warehouse"}


def test_a_torn_journal_of_an_earlier_version_leaves_the_old_publication(tmp_path: Path, elsewhere: Path) -> None:
    """It alone knew what belongs where. Nothing was exchanged yet: the run makes everything again."""
    home = left_by_an_earlier_version(tmp_path, elsewhere)
    (home / "commit.json").write_bytes(b'{"publication": 2, "bef')
    Lake(home).recover()
    assert publication(home) == 1
    assert_whole(home)
    assert content(home / "exports") == {"1/examples": b"1"}
    assert {path.name for path in home.iterdir()} == {"exports", "lake", "warehouse"}


TORN = [b"", b'{"publica', b"[]", b"\xff\x00", b"null", b'{"before": 1}']


@pytest.mark.parametrize("torn", TORN)
def test_a_torn_journal_still_says_that_the_commit_was_decided(tmp_path: Path, torn: bytes) -> None:
    """What waits says by its name where it belongs; the journal is only written when all of it is whole."""
    commit(stage_first(tmp_path))
    Lake(tmp_path).recover()
    lake = stage_second(tmp_path)
    for operations in range(100):
        with broken_off_after(operations):
            commit(lake)
        if lake.journal.exists():
            break
        Lake(tmp_path).recover()
        lake = stage_second(tmp_path)
    assert publication(tmp_path) == 1
    lake.journal.write_bytes(torn)
    Lake(tmp_path).recover()
    assert publication(tmp_path) == 2
    assert_whole(tmp_path)
    assert (tmp_path / "warehouse").read_text() == "2"
    assert content(tmp_path / "exports") == {"1/examples": b"1", "2/examples": b"2"}
    assert {path.name for path in tmp_path.iterdir()} == {"exports", "lake", "warehouse"}


@pytest.mark.parametrize("torn", TORN)
def test_a_torn_journal_and_nothing_that_waits(tmp_path: Path, torn: bytes) -> None:
    commit(stage_first(tmp_path))
    Lake(tmp_path).recover()
    before = content(tmp_path)
    (tmp_path / "commit.json").write_bytes(torn)
    Lake(tmp_path).recover()
    assert content(tmp_path) == before


@pytest.mark.parametrize("number", [errno.EBUSY, errno.EXDEV])
def test_a_lake_that_cannot_be_renamed_is_changed_file_by_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """As under a mount that nobody can see, or in the lower layer of an image."""

    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(lakes, "exchange", refuse)
    (tmp_path / "lake").mkdir()
    for stage in (stage_first, stage_second):
        commit(stage(tmp_path))
        Lake(tmp_path).recover()
        assert_whole(tmp_path)
    assert publication(tmp_path) == 2


@pytest.mark.parametrize("name", ["exports", "lake", "state", "snapshots", "runs"])
def test_a_link_to_what_is_not_there(demo_home: Path, tmp_path: Path, name: str) -> None:
    """An unplugged disk: one line before anything is written but the record of the run that failed."""
    home = copy_home(demo_home, tmp_path / "home")
    (home / name).symlink_to(tmp_path / "unplugged")
    before = content(home, ["lock", "runs"])
    line = complaint(gristmill(home, "run"))
    assert str(home / name) in line
    assert "unplugged" in line
    assert content(home, ["lock", "runs"]) == before
    assert [made["reason"] for made in runs(home)] == ([line.removeprefix("gristmill: ")] if name != "runs" else [])


def test_what_is_no_folder_or_not_the_runs_own(demo_home: Path, tmp_path: Path) -> None:
    home = copy_home(demo_home, tmp_path / "home")
    (home / "exports").write_text("in the way", encoding="utf-8")
    assert str(home / "exports") in complaint(gristmill(home, "run"))
    (home / "exports").unlink()
    (tmp_path / "fast_disk").mkdir()
    (home / "staging").symlink_to(tmp_path / "fast_disk")
    assert str(home / "staging") in complaint(gristmill(home, "run"))
    assert {path.name for path in home.iterdir()} == {"lock", "runs", "sources", "staging"}


@pytest.mark.slow
def test_runs_with_every_folder_elsewhere(
    published_home: Path, demo_home: Path, tmp_path: Path, elsewhere: Path
) -> None:
    """Links to another file system: the same bytes as in one place, a second publication, and the links stay."""
    home = copy_home(demo_home, tmp_path / "home")
    for name in lakes.PLACES:
        (elsewhere / name).mkdir()
        (home / name).symlink_to(elsewhere / name)
    run(home)
    for name in ("lake", "exports", "pending_review", "approved"):
        here, there = (content(each / name) if (each / name).exists() else {} for each in (published_home, home))
        assert there == here, name
    change(main_source(home), "delete from feedback where rowid % 3 = 0")
    run(home)
    assert publication(home) == 2
    asked = gristmill(home, "query", "select count(*) as n from raw_feedback__entries", "--format", "json")
    rows = Lake(home).rows("raw_feedback__entries")
    assert json.loads(asked.stdout) == [{"n": rows}]
    assert [name for name in lakes.PLACES if not (home / name).is_symlink()] == []
    assert not [str(path) for folder in (home, elsewhere) for path in folder.rglob(".next*")]
    assert not (home / "staging").exists()
