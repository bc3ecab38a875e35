"""A commit of the lake, broken off before every single file operation it makes: old or new, whole, and nothing else left.

Processes that really die are in test_killed_runs.py; here an audit hook raises before the chosen operation, which is
quick enough to try them all, on systems that can exchange two folders in one step and on those that cannot.
"""

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dagster_project.contracts.layout import FileLayout
from dagster_project.errors import GristmillError
from dagster_project.lake import placing
from dagster_project.lake.lake import Catalog, Lake
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
    lake.commit([(release, exports / number), (warehouse, lake.home / "warehouse")])


def assert_whole(home: Path) -> None:
    """The catalogue and the files are of one publication."""
    catalog = Catalog.read(home / "lake" / "catalog.json")
    rows = {1: {"a": 1, "b": 1, "c": 1}, 2: {"a": 2, "c": 1, "d": 1}}.get(catalog.publication, {})
    stored = catalog.tables.get("table", {})
    assert {partition: file.rows for partition, file in stored.items()} == rows
    found = {path.parent.name: pq.read_metadata(path).num_rows for path in (home / "lake").rglob("*.parquet")}
    assert found == rows


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Path]:
    """A folder on another file system, where there is one that can be written to."""
    memory = Path("/dev/shm")
    base = memory if memory.is_dir() and os.access(memory, os.W_OK) else tmp_path
    with tempfile.TemporaryDirectory(dir=base) as folder:
        yield Path(folder)


def link(home: Path, folders: Sequence[str], elsewhere: Path) -> None:
    for name in folders:
        (elsewhere / home.name / name).mkdir(parents=True)
        (home / name).symlink_to(elsewhere / home.name / name)


def everything(home: Path, links: Sequence[str]) -> list[dict[str, bytes]]:
    """Which files there are, behind links too."""
    return [content(folder) for folder in (home, *(home / name for name in links))]


@pytest.mark.parametrize(
    ("can_exchange", "links"),
    [(True, ()), (False, ()), (True, ("exports",)), (True, ("lake",)), (True, ("lake", "exports"))],
)
@pytest.mark.parametrize("is_first", [True, False])
def test_a_commit_broken_off_anywhere(
    tmp_path: Path,
    elsewhere: Path,
    monkeypatch: pytest.MonkeyPatch,
    can_exchange: bool,
    links: tuple[str, ...],
    is_first: bool,
) -> None:
    if not can_exchange:
        monkeypatch.setattr(placing.ctypes, "CDLL", lambda *_, **__: object())
    publications = []
    for operations in range(200):
        home = tmp_path / str(operations)
        home.mkdir()
        link(home, links, elsewhere)
        if not is_first:
            commit(stage_first(home))
            Lake(home).recover()
        old = everything(home, links)
        lake = stage_first(home) if is_first else stage_second(home)
        with broken_off_after(operations):
            commit(lake)
            left.clear()
            Lake(home).sweep()
            new = everything(home, links)
            break
        # Without an exchange there is a moment without a lake; a lake elsewhere changes file by file.
        if "lake" not in links and (can_exchange or (home / "lake").exists()):
            assert_whole(home)
        with broken_off_after(operations % 7):  # the run that should put it right breaks off as well
            Lake(home).recover()
        Lake(home).recover()
        assert_whole(home)
        publications.append((Catalog.read(home / "lake" / "catalog.json").publication, everything(home, links)))
    else:
        raise AssertionError("the commit never came to its end")
    before, after = (0, 1) if is_first else (1, 2)
    numbers = [number for number, _ in publications]
    assert numbers == sorted(numbers)
    assert {*numbers} == {before, after}
    for number, found in publications:
        assert found == (old if number == before else new)
    assert {name for name in ("lake", "exports") if (home / name).is_symlink()} == {*links}


def test_a_lake_of_another_format_is_refused_in_one_line(tmp_path: Path) -> None:
    """A home of an earlier version: its files would be misread, so the line says what to do; nothing is touched."""
    commit(stage_first(tmp_path))
    catalog = tmp_path / "lake" / "catalog.json"
    catalog.write_text(catalog.read_text(encoding="utf-8").replace('"format":4', '"format":1'), encoding="utf-8")
    before = content(tmp_path)
    with pytest.raises(
        GristmillError, match=r"written by another version \(lake format 1, this one reads 4\).*move .*lake away"
    ) as told:
        Lake(tmp_path)
    assert "\n" not in str(told.value)
    assert content(tmp_path) == before
