"""Where tables live: scan them, replace a partition of one, and publish all changes of a run together.

A run writes under `<home>/staging` and reads its own writes first, so every later stage sees the new state while
nobody else does. `commit` brings everything near its place (`placing`), writes a journal, then exchanges the lake for the next
one, all files at once; a run that finds a journal finishes it, one that finds only strays sweeps them. So a kill at any moment
leaves the old publication or the new one.
The catalogue (`<home>/lake/catalog.json`) is the authority on which files belong to which table.
"""

import contextlib
import filecmp
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from dagster_project.contracts.layout import FileLayout
from dagster_project.errors import GristmillError
from dagster_project.lake.parquet import TableWriter
from dagster_project.lake.placing import (
    CANNOT_EXCHANGE,
    NEXT,
    Move,
    bring_near,
    check_places,
    exchange,
    is_of_its_own,
    move_file,
    near,
    next_folder,
    put,
    remove,
    sync,
    sync_folder,
    target_of,
    write_atomically,
)

FORMAT = 4  # of the lake as a whole; higher where an older one's files cannot be read as ours any more
NO_DAY = "event_date=__HIVE_DEFAULT_PARTITION__"
PART, CATALOG, WAREHOUSE = "part-0.parquet", "catalog.json", "warehouse.duckdb"
# Folders of a home that may be links or mounts; each is written to by renames within itself.
PLACES = ("lake", "snapshots", "exports", "pending_review", "approved", "report", "state", "runs")


@dataclass(frozen=True)
class StoredFile:
    """One Parquet file of the lake. `version` is the number of the publication that last changed its bytes."""

    rows: int
    bytes: int
    version: int


@dataclass
class Catalog:
    """What the lake holds. Tables map a partition folder ('' where a table is not partitioned) to its file."""

    format: int = FORMAT
    publication: int = 0
    as_of: str | None = None
    snapshot: int = 0  # the folder under snapshots/ that holds this publication
    tables: dict[str, dict[str, StoredFile]] = field(default_factory=dict)
    views: dict[str, str] = field(default_factory=dict)  # view -> its query, parameters filled in
    inputs: dict[str, str] = field(default_factory=dict)  # derived table -> hash of what it was made from (G12)
    sources: dict[str, Any] = field(default_factory=dict)  # source table -> what each day looked like when read (G7)
    release: dict[str, Any] = field(default_factory=dict)  # the newest release: name, date, whether it is behind
    missing: dict[str, Any] = field(
        default_factory=dict
    )  # system -> source file -> the first publication without it (G13)

    @classmethod
    def read(cls, path: Path) -> "Catalog":
        if not path.exists():
            return cls()
        broken = f"{path} is broken: remove {path.parent} and run again, the sources hold everything"
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise GristmillError(broken) from error
        if not isinstance(stored, dict):
            raise GristmillError(broken)
        if stored.get("format") != FORMAT:
            raise GristmillError(
                f"{path.parent} was written by another version (lake format {stored.get('format')}, this one reads {FORMAT}): "
                f"with all sources there, move {path.parent} away and run again; the sources and the home's state hold everything"
            )
        try:
            stored["tables"] = {
                table: {partition: StoredFile(**entry) for partition, entry in files.items()}
                for table, files in stored["tables"].items()
            }
            return cls(**stored)
        except (KeyError, TypeError, AttributeError) as error:
            raise GristmillError(broken) from error

    def to_json(self) -> str:
        """Tables without files are not mentioned, so that equal lakes have equal catalogues."""
        stored = asdict(self)
        stored["tables"] = {table: files for table, files in stored["tables"].items() if files}
        return json.dumps(stored, sort_keys=True, separators=(",", ":"))


class Lake:
    """The published tables of a home, plus what the current run has staged on top of them."""

    def __init__(self, home: Path, from_snapshot: bool = False) -> None:
        """`from_snapshot`: for reading beside a run; what is read then stays as it is while it is read."""
        self.home = home.absolute()
        self.folder = self.home / "lake"
        self.staging = self.home / "staging"
        self.journal = self.home / "commit.json"
        self.catalog = Catalog.read(self.folder / CATALOG)
        self.published = Catalog.read(self.folder / CATALOG)
        self.staged: dict[tuple[str, str], Path] = {}
        if from_snapshot and self.catalog.snapshot:
            self.folder = self.home / "snapshots" / str(self.catalog.snapshot)

    # --- reading -------------------------------------------------------------------------------------------------

    def partitions(self, table: str) -> Mapping[str, StoredFile]:
        """The partitions of a table as this run sees them, in order."""
        return dict(sorted(self.catalog.tables.get(table, {}).items()))

    def path(self, table: str, partition: str = "") -> Path:
        staged = self.staged.get((table, partition))
        return staged or self.folder / table / partition / PART

    def files(self, table: str, partitions: Iterable[str] | None = None) -> list[Path]:
        known = self.partitions(table)
        chosen = known if partitions is None else [p for p in partitions if p in known]
        return [self.path(table, partition) for partition in chosen]

    def rows(self, table: str) -> int:
        return sum(entry.rows for entry in self.partitions(table).values())

    def versions(self, table: str) -> list[tuple[str, int | str]]:
        """Identity of a table's content for deciding whether what was made from it is still right."""
        if table in self.catalog.views:
            return [("", self.catalog.inputs[table])]
        return [(partition, entry.version) for partition, entry in self.partitions(table).items()]

    # --- writing -------------------------------------------------------------------------------------------------

    @property
    def next_publication(self) -> int:
        return self.published.publication + 1

    @contextlib.contextmanager
    def replacing(self, table: str, partition: str, layout: FileLayout) -> Iterator[TableWriter]:
        """Write a partition anew. It counts as changed only if its bytes differ from the published ones."""
        target = self.staged_file(table, partition)
        with TableWriter(target, layout) as writer:
            yield writer
        self.adopt(table, partition, target, writer.rows)

    def staged_file(self, table: str, partition: str) -> Path:
        """Where this run writes a partition; `adopt` it when it is whole."""
        file = self.staging / "lake" / table / partition / PART
        file.parent.mkdir(parents=True, exist_ok=True)
        return file

    def adopt(self, table: str, partition: str, file: Path, rows: int) -> None:
        """Take a finished Parquet file under `staging` as the new content of a partition."""
        self.staged.pop((table, partition), None)
        old = self.published.tables.get(table, {}).get(partition)
        current = self.folder / table / partition / PART
        if old and old.bytes == file.stat().st_size and filecmp.cmp(file, current, shallow=False):
            file.unlink()
            entry = old
        else:
            entry = StoredFile(rows, file.stat().st_size, self.next_publication)
            self.staged[table, partition] = file
        self.catalog.tables.setdefault(table, {})[partition] = entry

    def keep(self, table: str, partition: str, as_table: str, as_partition: str) -> None:
        """Give a published file a second place: its first is about to be written anew."""
        target = self.staged_file(as_table, as_partition)
        target.unlink(missing_ok=True)
        _link(self.folder / table / partition / PART, target)
        self.adopt(as_table, as_partition, target, self.published.tables[table][partition].rows)

    def drop(self, table: str, partition: str) -> None:
        self.staged.pop((table, partition), None)
        self.catalog.tables.get(table, {}).pop(partition, None)

    def is_changed(self) -> bool:
        """Whether anything the catalogue says differs from the publication."""
        return self.catalog.to_json() != self.published.to_json()

    # --- publishing ----------------------------------------------------------------------------------------------

    def keep_only(self, prefix: str) -> None:
        """Forget what was staged for other tables: a run in the past publishes its release and nothing else (G2)."""
        kept = {name: files for name, files in self.catalog.tables.items() if name.startswith(prefix)}
        others = {name: files for name, files in self.published.tables.items() if not name.startswith(prefix)}
        self.staged = {key: path for key, path in self.staged.items() if key[0].startswith(prefix)}
        self.catalog.tables = others | kept
        self.catalog.views, self.catalog.inputs = dict(self.published.views), dict(self.published.inputs)
        self.catalog.sources = self.published.sources
        self.catalog.as_of = self.published.as_of
        self.catalog.release = self.published.release
        self.catalog.missing = self.published.missing

    def commit(self, moves: Iterable[Move] = ()) -> None:
        """Publish: the whole lake changes in one exchange of folders. With it go other finished things, releases first."""
        self.catalog.publication = self.next_publication
        for source, target in moves:
            bring_near(self.home, source, target)
        self._bring_lake_near()
        write_atomically(self.journal, json.dumps({"publication": self.catalog.publication}))
        self.finish_commit()

    def _bring_lake_near(self) -> None:
        """The next lake as a whole; where the folder cannot be exchanged, what changes of it."""
        for path in self.staged.values():
            sync(path)
        if is_of_its_own(self.folder):
            waiting = self.folder / NEXT
            remove(waiting)
            for (table, partition), path in self.staged.items():
                move_file(path, waiting / table / partition / PART)
        else:
            waiting = near(self.home, self.folder)
            remove(waiting)
            self.link_all(waiting)
        waiting.mkdir(parents=True, exist_ok=True)
        (waiting / CATALOG).write_text(self.catalog.to_json(), encoding="utf-8")
        sync(waiting / CATALOG)

    def link_all(self, folder: Path) -> None:
        """Every file of the lake as this run sees it, as hard links; copies where the file system has none."""
        for table in self.catalog.tables:
            for partition in self.partitions(table):
                target = folder / table / partition / PART
                target.parent.mkdir(parents=True, exist_ok=True)
                _link(self.path(table, partition), target)
        folder.mkdir(parents=True, exist_ok=True)

    def finish_commit(self) -> None:
        """Do what is left of a commit; every step may have been done already. That there is a journal says it was decided."""
        if not self.journal.exists():
            return
        self._take_over_an_older_plan()
        waiting = self._waiting()
        releases = [path for path in waiting if target_of(self.home, path).parent == self.home / "exports"]
        for path in releases:
            put(self.home, path)
        self._put_lake()
        for path in waiting:
            if path not in releases:
                put(self.home, path)
        sync_folder(self.home)
        self.journal.unlink()
        self.catalog = Catalog.read(self.folder / CATALOG)
        self.published = Catalog.read(self.folder / CATALOG)
        self.staged = {}

    def _next_folders(self) -> list[Path]:
        """Where a publication waits, or what is left of one. Folders that other people fill are none of ours."""
        found = [folder for depth in ("*/", "*/*/") for folder in sorted(self.home.glob(depth + NEXT))]
        elsewhere = [
            path for path in found if path.relative_to(self.home).parts[0] not in ("snapshots", "sources", "runs")
        ]
        return [*([next_folder(self.home)] if next_folder(self.home).is_dir() else []), *elsewhere]

    def _waiting(self) -> list[Path]:
        """What only has to be put in its place, but for the lake."""
        found = [path for folder in self._next_folders() if folder.parent != self.folder for path in folder.iterdir()]
        lakes = [next_folder(self.home) / name for name in ("lake", "lake.old")]
        return sorted(path for path in found if path not in lakes and path.suffix != ".tmp")

    def _put_lake(self) -> None:
        whole, changes = near(self.home, self.folder), self.folder / NEXT
        if (changes / CATALOG).exists():
            self._replace_files(changes)
        elif Catalog.read(whole / CATALOG).publication > Catalog.read(self.folder / CATALOG).publication:
            if is_of_its_own(self.folder):
                self._replace_files(whole)
                return
            try:
                exchange(whole, self.folder)
            except OSError as error:
                if error.errno not in CANNOT_EXCHANGE:
                    raise
                self._replace_files(whole)

    def _replace_files(self, new: Path) -> None:
        """File by file, the catalogue last: who reads by catalogue and snapshot sees the old publication until then."""
        for file in sorted(new.rglob(PART)):
            move_file(file, self.folder / file.relative_to(new))
        tables = Catalog.read(new / CATALOG).tables
        listed = {Path(table, partition, PART) for table, files in tables.items() for partition in files}
        for file in self.folder.rglob(PART):
            place = file.relative_to(self.folder)
            if place not in listed and place.parts[0] != NEXT:
                file.unlink()
        move_file(new / CATALOG, self.folder / CATALOG)

    def _take_over_an_older_plan(self) -> None:
        """An earlier version wrote into the journal what belongs where. One that cannot be read is of no use, nor needed."""
        try:
            plan = json.loads(self.journal.read_text(encoding="utf-8"))
            publication = plan["publication"]
            moves = [(self.home / source, self.home / target) for source, target in [*plan["before"], *plan["after"]]]
        except (ValueError, TypeError, KeyError):
            return
        for source, target in moves:
            if source.exists():
                bring_near(self.home, source, target)
        older = self.staging / "next_lake"
        if older.exists():
            next_folder(self.home).mkdir(exist_ok=True)
            older.replace(near(self.home, self.folder))
        write_atomically(self.journal, json.dumps({"publication": publication}))

    def sweep(self) -> None:
        """Remove what this run staged; it is published, or will never be. What a journal still needs stays."""
        if not self.journal.exists():
            for folder in [self.staging, *self._next_folders()]:
                shutil.rmtree(folder, ignore_errors=True)

    def recover(self) -> None:
        """Put right what a killed run left: finish a commit that had begun, sweep everything else it wrote."""
        check_places(self.home, PLACES, ["staging"])
        self.finish_commit()
        strays = [path for pattern in ("*.tmp", "snapshots/*.tmp", "state/*.tmp") for path in self.home.glob(pattern)]
        snapshots = [path for path in self.home.glob("snapshots/*") if path.name.isdigit()]
        strays += [path for path in snapshots if int(path.name) > self.published.publication]
        for stray in [self.staging, *self._next_folders(), *strays]:
            remove(stray)


def partition_day(partition: str) -> date:
    """The day of a partition `event_date=<day>`."""
    return date.fromisoformat(partition.removeprefix("event_date="))


def _link(file: Path, target: Path) -> None:
    """The same file in another place; a copy where the file system has no hard links."""
    try:
        os.link(file, target)
    except OSError:
        shutil.copyfile(file, target)
        sync(target)


def published(home: Path) -> Lake:
    """The lake of a home in which something has been published."""
    lake = Lake(home, from_snapshot=True)
    if not lake.catalog.publication:
        raise GristmillError(f"nothing is published in {home} yet: `gristmill run` comes first")
    return lake
