"""A kept look is used only while the file is surely as it was (G7): the cache may save time, never hide a change."""

import os
import sqlite3
import time
from pathlib import Path

import pytest

from dagster_project.contracts.source_table import TableSpec
from dagster_project.databases import sqlite_file
from dagster_project.databases.fingerprint_cache import FingerprintCache
from dagster_project.databases.sqlite import SqliteDatabase

SPEC = TableSpec(
    system="feedback",
    name="things",
    columns={"id": "text", "at": "real"},
    required=("id",),
    key="id",
    event_time="at",
    edited=("id",),
)
DAY = 86_400.0
LONG_AGO_NS = 1_700_000_000 * 10**9


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "things.db"
    run(path, "create table things (id text, at real)")
    run(path, f"insert into things values ('a', {20_000 * DAY})")
    return path


def run(path: Path, statement: str) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()


def days(path: Path, home: Path) -> list[tuple[int, int]]:
    with SqliteDatabase(path) as database:
        return [(day, rows) for day, rows, *_ in database.look(SPEC, FingerprintCache(home)).days]


def is_kept(path: Path, home: Path) -> bool:
    return FingerprintCache(home).get(path, SPEC) is not None


def test_a_file_that_changed_just_now_is_looked_at_again(source: Path, tmp_path: Path) -> None:
    """Another change in the same tick of the clock would leave the same times."""
    assert days(source, tmp_path) == [(20_000, 1)]
    assert not is_kept(source, tmp_path)


def test_a_settled_file_is_looked_at_once(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_file, "TICK_SECONDS", -1.0)
    assert days(source, tmp_path) == [(20_000, 1)]
    assert is_kept(source, tmp_path)
    monkeypatch.setattr(SqliteDatabase, "fingerprints", lambda *_: pytest.fail("it was looked at again"))
    assert days(source, tmp_path) == [(20_000, 1)]


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_a_change_shows(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    """In WAL mode the file itself stays as it was; the log tells."""
    run(source, f"pragma journal_mode = {mode}")
    monkeypatch.setattr(sqlite_file, "TICK_SECONDS", -1.0)
    reader = sqlite3.connect(source)  # keeps the log from being folded in
    reader.execute("select * from things").fetchall()
    assert days(source, tmp_path) == [(20_000, 1)]
    time.sleep(0.02)
    run(source, f"insert into things values ('b', {20_001 * DAY})")
    assert days(source, tmp_path) == [(20_000, 1), (20_001, 1)]
    reader.close()


def test_times_set_back_by_hand_do_not_hide_a_change(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_file, "TICK_SECONDS", -1.0)
    os.utime(source, ns=(LONG_AGO_NS, LONG_AGO_NS))
    assert days(source, tmp_path) == [(20_000, 1)]
    time.sleep(0.02)
    run(source, f"update things set at = {20_002 * DAY}")
    os.utime(source, ns=(LONG_AGO_NS, LONG_AGO_NS))
    assert days(source, tmp_path) == [(20_002, 1)]


def test_a_broken_cache_is_no_cache(source: Path, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "fingerprints.json").write_text("{", encoding="utf-8")
    assert days(source, tmp_path) == [(20_000, 1)]


def test_undated_rows_are_kept_with_the_look(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """G6: they are quarantined in every run, also in one that did not scan."""
    monkeypatch.setattr(sqlite_file, "TICK_SECONDS", -1.0)
    run(source, "insert into things values ('never', -1)")
    for _ in range(2):
        with SqliteDatabase(source) as database:
            database.look(SPEC, FingerprintCache(tmp_path))
            assert database.undated_rowids(SPEC) == [2]
