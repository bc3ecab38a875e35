"""The analysts' warehouse: a snapshot of the lake by hard links, and a DuckDB file on top of it.

A reader sees one publication and never half of a run: views point into `<home>/snapshots/<n>`, which no later run
touches, and the file is replaced by rename, so readers neither block a run nor are blocked by one.

The snapshot has the file too, for ourselves: `<home>/warehouse.duckdb` is a copy that people open with clients of their own.
It can only be read (0444), which keeps everybody but root from writing into it, from leaving a log beside it and from
locking others out; where root did so all the same, the next run puts the copy back.
"""

import filecmp
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from dagster_project.engines.warehouse_tables import NO_WORK, fill, work_in
from dagster_project.errors import GristmillError
from dagster_project.lake.damage import is_whole
from dagster_project.lake.lake import WAREHOUSE, Lake
from dagster_project.lake.placing import discard_log, move_file, sync

KEPT_SNAPSHOTS = 3
PLACE = ".home"


def own_warehouse(lake: Lake) -> Path:
    """The publication's own copy, which nobody holds open for writing and nobody leaves a log beside."""
    return lake.home / "snapshots" / str(lake.published.snapshot) / WAREHOUSE


def is_snapshot_here(lake: Lake) -> bool:
    """Whether the publication's snapshot is whole. Views name the home they were
    published in for whoever attaches the file: a home that was moved gets another one."""
    place = own_warehouse(lake).with_name(PLACE)
    if not (own_warehouse(lake).is_file() and place.is_file() and place.read_text(encoding="utf-8") == str(lake.home)):
        return False
    return is_whole(lake)


def is_warehouse_right(lake: Lake) -> bool:
    """Whether what people open is what was published: no log beside it, and not written into."""
    public, log = lake.home / WAREHOUSE, lake.home / f"{WAREHOUSE}.wal"
    if log.is_file() or public.is_symlink() or not public.is_file():
        return False
    return filecmp.cmp(own_warehouse(lake), public, shallow=False)


def put_warehouse_back(lake: Lake) -> bool:
    """For a run that publishes nothing: what a client did to the file ends here. Returns whether there was anything."""
    if is_warehouse_right(lake):
        return False
    copy = copy_for_people(own_warehouse(lake), lake)
    discard_log(lake.home / WAREHOUSE)
    move_file(copy, lake.home / WAREHOUSE)
    return True


def copy_for_people(warehouse: Path, lake: Lake) -> Path:
    lake.staging.mkdir(parents=True, exist_ok=True)
    copy = lake.staging / WAREHOUSE
    copy.unlink(missing_ok=True)
    shutil.copyfile(warehouse, copy)
    copy.chmod(_mode(lake.home))
    sync(copy)
    return copy


def _mode(home: Path) -> int:
    """Read-only. Who may enter the home may read it; where that is more than its owner, only the owner may."""
    return 0o400 if home.stat().st_mode & 0o077 else 0o444


def take_snapshot(lake: Lake, work: Mapping[str, pl.DataFrame] = NO_WORK) -> Path:
    """Hard links to every file of the lake as this run sees it, and a warehouse on top of them; returns the latter. `work` are
    the tables about the work itself, by name."""
    snapshot = lake.home / "snapshots" / str(lake.next_publication)
    temporary = snapshot.with_name(snapshot.name + ".tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    lake.link_all(temporary)
    (temporary / PLACE).write_text(str(lake.home), encoding="utf-8")
    temporary.replace(snapshot)
    build_warehouse(lake, snapshot, snapshot / WAREHOUSE, work)
    return snapshot / WAREHOUSE


def prune_snapshots(lake: Lake) -> None:
    folder = lake.home / "snapshots"
    numbers = sorted((int(path.name) for path in folder.iterdir() if path.name.isdigit()), reverse=True)
    for number in numbers[KEPT_SNAPSHOTS:]:
        shutil.rmtree(folder / str(number))


def write_portable(lake: Lake, file: Path) -> None:
    """One file with everything in it, to be carried anywhere: the present publication, which no view looks for elsewhere."""
    if os.path.lexists(file):
        raise GristmillError(f"{file} is there already: it is not written over")
    if not file.parent.is_dir():
        raise GristmillError(f"there is no folder {file.parent}")
    waiting = file.with_name(f".{file.name}.{os.getpid()}.tmp")
    try:
        fill(waiting, lake, own_warehouse(lake).parent, work_in(own_warehouse(lake)), is_portable=True)
        waiting.chmod(0o600 if _mode(lake.home) == 0o400 else 0o644)
        sync(waiting)
        waiting.replace(file)
    finally:
        waiting.unlink(missing_ok=True)


def build_warehouse(lake: Lake, snapshot: Path, path: Path, work: Mapping[str, pl.DataFrame] = NO_WORK) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    fill(path, lake, snapshot, work)
    path.chmod(_mode(lake.home))
    sync(path)
