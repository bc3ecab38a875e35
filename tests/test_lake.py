"""A commit of the lake, broken off before every single file operation it makes: old or new, whole, and nothing else left.

Processes that really die are in test_killed_runs.py; here an audit hook raises before the chosen operation, which is
quick enough to try them all, on systems that can exchange two folders in one step and on those that cannot.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dagster_project import lake as lakes
from dagster_project.lake import Catalog, FileLayout, Lake
from tests.conftest import content

LAYOUT = FileLayout(pa.schema([("n", pa.int64())]), [], [], {"n": "snappy"})
OPERATIONS = ("os.rename", "os.remove", "os.link", "os.mkdir", "ctypes.dlsym")
left: list[int] = []  # how many operations may still happen; empty: any number


class BrokenOff(BaseException):
    """As good as dead."""


def count_down(event: str, _: tuple[Any, ...]) -> None:
    if left and event in OPERATIONS:
        left[0] -= 1
        if left[0] < 0:
            left.clear()
            raise BrokenOff


sys.addaudithook(count_down)  # for as long as the process lives; does nothing unless `left` says so


@contextmanager
def broken_off_after(operations: int) -> Iterator[None]:
    left[:] = [operations]
    try:
        yield
    except BrokenOff:
        pass
    finally:
        left.clear()


def write(lake: Lake, partition: str, *numbers: int) -> None:
    with lake.replacing("table", partition, LAYOUT) as writer:
        writer.write(pa.table({"n": numbers}, LAYOUT.schema))


def stage_first(home: Path) -> Lake:
    lake = Lake(home)
    for partition, number in (("a", 1), ("b", 2), ("c", 3)):
        write(lake, partition, number)
    return lake


def stage_second(home: Path) -> Lake:
    """One partition replaced, one dropped, one kept, one new."""
    lake = Lake(home)
    write(lake, "a", 10, 11)
    lake.drop("table", "b")
    write(lake, "d", 4)
    return lake


def commit(lake: Lake) -> None:
    release, warehouse = lake.staging / "release", lake.staging / "warehouse"
    release.mkdir()
    number = str(lake.next_publication)
    (release / "examples").write_text(number)
    warehouse.write_text(number)
    exports = lake.home / "exports"
    lake.commit(before=[(release, exports / number)], after=[(warehouse, lake.home / "warehouse")])


def assert_whole(home: Path) -> None:
    """The catalogue and the files are of one publication."""
    catalog = Catalog.read(home / "lake" / "catalog.json")
    rows = {1: {"a": 1, "b": 1, "c": 1}, 2: {"a": 2, "c": 1, "d": 1}}.get(catalog.publication, {})
    stored = catalog.tables.get("table", {})
    assert {partition: file.rows for partition, file in stored.items()} == rows
    found = {path.parent.name: pq.read_metadata(path).num_rows for path in (home / "lake").rglob("*.parquet")}
    assert found == rows


@pytest.mark.parametrize("can_exchange", [True, False])
@pytest.mark.parametrize("is_first", [True, False])
def test_a_commit_broken_off_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, can_exchange: bool, is_first: bool
) -> None:
    if not can_exchange:
        monkeypatch.setattr(lakes.ctypes, "CDLL", lambda *_, **__: object())
    publications = []
    for operations in range(200):
        home = tmp_path / str(operations)
        home.mkdir()
        if not is_first:
            commit(stage_first(home))
            Lake(home).recover()
        old = content(home)
        lake = stage_first(home) if is_first else stage_second(home)
        with broken_off_after(operations):
            commit(lake)
            left.clear()
            new = content(home, ["staging"])
            break
        if can_exchange or (home / "lake").exists():  # without an exchange there is a moment without a lake
            assert_whole(home)
        with broken_off_after(operations % 7):  # the run that should put it right breaks off as well
            Lake(home).recover()
        Lake(home).recover()
        assert_whole(home)
        publications.append((Catalog.read(home / "lake" / "catalog.json").publication, content(home)))
    else:
        raise AssertionError("the commit never came to its end")
    before, after = (0, 1) if is_first else (1, 2)
    numbers = [number for number, _ in publications]
    assert numbers == sorted(numbers)
    assert {*numbers} == {before, after}
    for number, found in publications:
        assert found == (old if number == before else new)
