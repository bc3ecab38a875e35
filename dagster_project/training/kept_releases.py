"""Which releases are kept: those that were pinned or written back, and of the others the newest (T5).

A pin lies in the state, because no source can give it back (G12).
"""

import json
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from dagster_project.errors import GristmillError
from dagster_project.intake.own_writes import read_ledger
from dagster_project.lake.lake import Lake
from dagster_project.lake.placing import write_atomically
from dagster_project.lake.releases import EXPORTS, ReleaseName, newest_of, partitions_of_release, releases
from dagster_project.registry import SYSTEMS
from dagster_project.run.mill_run import MillRun

GOING = ".going"  # what a release's folder is called while it is removed


def pinned_releases(home: Path) -> list[ReleaseName]:
    """Those that were pinned, the oldest first."""
    path = _pins(home)
    if not path.exists():
        return []
    try:
        names = [ReleaseName.parsed(name) for name in json.loads(path.read_text(encoding="utf-8"))]
    except (ValueError, TypeError) as error:
        raise GristmillError(f"{path} is broken: it must be a JSON list of releases such as 20260131") from error
    return sorted(name for name in names if name)


def pin(home: Path, name: ReleaseName) -> None:
    path = _pins(home)
    path.parent.mkdir(parents=True, exist_ok=True)
    names = sorted({*pinned_releases(home), name})
    write_atomically(path, json.dumps([str(one) for one in names]) + "\n")


def _pins(home: Path) -> Path:
    return home / "state" / "pinned_releases.json"


def written_back(home: Path) -> set[ReleaseName]:
    """Releases a source was told of."""
    names: set[str] = set()
    for marks in (system.marks for system in SYSTEMS.values() if system.marks):
        ledger = read_ledger(home, marks.table)
        names.update(ledger["release"].drop_nulls(), ledger["releases"].explode().drop_nulls())
    return {name for said in names if (name := ReleaseName.parsed(said))}


def to_prune(run: MillRun, new: ReleaseName | None) -> list[ReleaseName]:
    """The oldest that are too many. A run in the past removes nothing: it may just have made the oldest."""
    home, most = run.lake.home, run.config.keep_releases
    if not most or run.is_in_the_past:
        return []
    known: list[ReleaseName] = sorted({*releases(home), *([new] if new else [])})
    current = ReleaseName.parsed(run.lake.catalog.release.get("name", ""))
    kept: set[ReleaseName | None] = {*known[-most:], *pinned_releases(home), *written_back(home), current}
    return [name for name in known if name not in kept]


def drop_partitions(lake: Lake, names: Iterable[ReleaseName]) -> None:
    for name in names:
        for table, partition in list(partitions_of_release(lake, name)):
            lake.drop(table, partition)


def remove_folders(home: Path, names: Iterable[ReleaseName]) -> None:
    """Once the publication without them is out. Each goes in one step first, so that nobody finds half of one."""
    exports = home / EXPORTS
    for name in names:
        (exports / str(name)).replace(exports / f"{GOING}-{name}")
    for folder in exports.glob(f"{GOING}-*"):
        shutil.rmtree(folder)


def publication_of_release(run: MillRun) -> Iterator[tuple[Path, Path]]:
    """Where the built release goes: under its day, or its day and a number. One that the day has already was not kept."""
    built, home = run.lake.staging / "release", run.lake.home
    if built.exists():
        newest = newest_of(home, run.release_date)
        yield built, home / EXPORTS / str(newest.next if newest else ReleaseName(run.release_date))
