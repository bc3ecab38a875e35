"""Where tables live: scan them, replace a partition of one, and publish all changes of a run together.

A run writes under `<home>/staging` and reads its own writes first, so every later stage sees the new state while
nobody else does. `commit` writes a journal, then exchanges the lake for the next one, all files at once; a run that finds a
journal finishes it, one that finds only strays sweeps them. So a kill at any moment leaves the old publication or the new one.
The catalogue (`<home>/lake/catalog.json`) is the authority on which files belong to which table.
"""

import contextlib
import ctypes
import filecmp
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dagster_project.errors import GristmillError

FORMAT = 1
ROW_GROUP_ROWS = 32_768
NO_DAY = "event_date=__HIVE_DEFAULT_PARTITION__"
AT_FDCWD, RENAME_EXCHANGE = -100, 2  # Linux: exchange two paths atomically

Move = tuple[Path, Path]


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
    inputs: dict[str, str] = field(default_factory=dict)  # derived table -> hash of what it was made from (G12)
    sources: dict[str, Any] = field(default_factory=dict)  # source table -> what each day looked like when read (G7)
    release: dict[str, Any] = field(default_factory=dict)  # the newest release: name, folder, candidates

    @classmethod
    def read(cls, path: Path) -> "Catalog":
        if not path.exists():
            return cls()
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise GristmillError(
                f"{path} is broken ({error}): remove {path.parent} and run again, the sources hold everything"
            ) from error
        if stored.get("format") != FORMAT:
            raise GristmillError(
                f"{path.parent} was written in lake format {stored.get('format')}, this version reads format {FORMAT}: "
                "use a new --home and run once more, the sources hold everything"
            )
        stored["tables"] = {
            table: {partition: StoredFile(**entry) for partition, entry in files.items()}
            for table, files in stored["tables"].items()
        }
        return cls(**stored)

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
        self.catalog = Catalog.read(self.folder / "catalog.json")
        self.published = Catalog.read(self.folder / "catalog.json")
        self.staged: dict[tuple[str, str], Path] = {}
        if from_snapshot and self.catalog.snapshot:
            self.folder = self.home / "snapshots" / str(self.catalog.snapshot)

    # --- reading -------------------------------------------------------------------------------------------------

    def partitions(self, table: str) -> Mapping[str, StoredFile]:
        """The partitions of a table as this run sees them, in order."""
        return dict(sorted(self.catalog.tables.get(table, {}).items()))

    def path(self, table: str, partition: str = "") -> Path:
        staged = self.staged.get((table, partition))
        return staged or self.folder / table / partition / "part-0.parquet"

    def files(self, table: str, partitions: Iterable[str] | None = None) -> list[Path]:
        known = self.partitions(table)
        chosen = known if partitions is None else [p for p in partitions if p in known]
        return [self.path(table, partition) for partition in chosen]

    def rows(self, table: str) -> int:
        return sum(entry.rows for entry in self.partitions(table).values())

    def versions(self, table: str) -> list[tuple[str, int]]:
        """Identity of a table's content for deciding whether what was made from it is still right."""
        return [(partition, entry.version) for partition, entry in self.partitions(table).items()]

    # --- writing -------------------------------------------------------------------------------------------------

    @property
    def next_publication(self) -> int:
        return self.published.publication + 1

    @contextlib.contextmanager
    def replacing(self, table: str, partition: str, layout: "FileLayout") -> Iterator["TableWriter"]:
        """Write a partition anew. It counts as changed only if its bytes differ from the published ones."""
        target = self.staged_file(table, partition)
        with TableWriter(target, layout) as writer:
            yield writer
        self.adopt(table, partition, target, writer.rows)

    def staged_file(self, table: str, partition: str) -> Path:
        """Where this run writes a partition; `adopt` it when it is whole."""
        file = self.staging / "lake" / table / partition / "part-0.parquet"
        file.parent.mkdir(parents=True, exist_ok=True)
        return file

    def adopt(self, table: str, partition: str, file: Path, rows: int) -> None:
        """Take a finished Parquet file under `staging` as the new content of a partition."""
        self.staged.pop((table, partition), None)
        old = self.published.tables.get(table, {}).get(partition)
        current = self.folder / table / partition / "part-0.parquet"
        if old and old.bytes == file.stat().st_size and filecmp.cmp(file, current, shallow=False):
            file.unlink()
            entry = old
        else:
            entry = StoredFile(rows, file.stat().st_size, self.next_publication)
            self.staged[table, partition] = file
        self.catalog.tables.setdefault(table, {})[partition] = entry

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
        self.catalog.inputs = dict(self.published.inputs)
        self.catalog.sources = self.published.sources
        self.catalog.as_of = self.published.as_of
        self.catalog.release = self.published.release

    def commit(self, before: Iterable[Move] = (), after: Iterable[Move] = ()) -> None:
        """Publish: the whole lake changes in one exchange of folders. `before` and `after` it go other finished things."""
        self.catalog.publication = self.next_publication
        next_lake = self.staging / "next_lake"
        self.link_all(next_lake)
        (next_lake / "catalog.json").write_text(self.catalog.to_json(), encoding="utf-8")
        for path in [*self.staged.values(), next_lake / "catalog.json", *(source for source, _ in [*before, *after])]:
            _sync(path)
        plan = {
            "publication": self.catalog.publication,
            "before": [[str(path.relative_to(self.home)) for path in move] for move in before],
            "after": [[str(path.relative_to(self.home)) for path in move] for move in after],
        }
        write_atomically(self.journal, json.dumps(plan, indent=1))
        self.finish_commit()

    def link_all(self, folder: Path) -> None:
        """Every file of the lake as this run sees it, as hard links; copies where the file system has none."""
        for table in self.catalog.tables:
            for partition in self.partitions(table):
                target = folder / table / partition / "part-0.parquet"
                target.parent.mkdir(parents=True, exist_ok=True)
                try:
                    os.link(self.path(table, partition), target)
                except OSError:
                    shutil.copyfile(self.path(table, partition), target)
        folder.mkdir(parents=True, exist_ok=True)

    def finish_commit(self) -> None:
        """Do what the journal says; every step may have been done already."""
        if not self.journal.exists():
            return
        plan = json.loads(self.journal.read_text(encoding="utf-8"))
        self._move(plan["before"])
        if not self.folder.exists() or Catalog.read(self.folder / "catalog.json").publication != plan["publication"]:
            _exchange(self.staging / "next_lake", self.folder)
        self._move(plan["after"])
        _sync_folder(self.home)
        self.journal.unlink()
        self.catalog = Catalog.read(self.folder / "catalog.json")
        self.published = Catalog.read(self.folder / "catalog.json")
        self.staged = {}

    def _move(self, moves: Iterable[Sequence[str]]) -> None:
        for source, target in moves:
            if (self.home / source).exists():
                (self.home / target).parent.mkdir(parents=True, exist_ok=True)
                (self.home / source).replace(self.home / target)

    def sweep(self) -> None:
        """Remove what this run staged; it is published, or will never be. What a journal still needs stays."""
        if not self.journal.exists():
            shutil.rmtree(self.staging, ignore_errors=True)

    def recover(self) -> None:
        """Put right what a killed run left: finish a commit that had begun, sweep everything else it wrote."""
        self.finish_commit()
        strays = [path for pattern in ("*.tmp", "snapshots/*.tmp", "state/*.tmp") for path in self.home.glob(pattern)]
        snapshots = [path for path in self.home.glob("snapshots/*") if path.name.isdigit()]
        strays += [path for path in snapshots if int(path.name) > self.published.publication]
        for stray in [self.staging, *strays]:
            if stray.is_dir():
                shutil.rmtree(stray)
            else:
                stray.unlink(missing_ok=True)


@dataclass(frozen=True)
class FileLayout:
    """Columns of a Parquet file, and what each is worth: a dictionary, statistics, compression (hashes have no pattern)."""

    schema: pa.Schema
    with_dictionary: list[str]
    with_statistics: list[str]
    compression: dict[str, str]


class TableWriter:
    """Writes Arrow tables to one Parquet file in row groups of a fixed size, so bytes do not depend on batching."""

    def __init__(self, path: Path, layout: FileLayout) -> None:
        self.schema = layout.schema
        self.rows = 0
        self._waiting: list[pa.Table] = []
        self._waiting_rows = 0
        self._writer = pq.ParquetWriter(
            path,
            layout.schema,
            compression=layout.compression,  # pyright: ignore[reportArgumentType]
            compression_level={path: 1 for path, codec in layout.compression.items() if codec == "zstd"},
            use_dictionary=layout.with_dictionary,  # pyright: ignore[reportArgumentType]
            write_statistics=layout.with_statistics,  # pyright: ignore[reportArgumentType]
        )

    def __enter__(self) -> "TableWriter":
        return self

    def write(self, table: pa.Table) -> None:
        self._waiting.append(table.cast(self.schema) if table.schema != self.schema else table)
        self._waiting_rows += table.num_rows
        self.rows += table.num_rows
        if self._waiting_rows >= ROW_GROUP_ROWS:
            self._flush(keep=self._waiting_rows % ROW_GROUP_ROWS)

    def _flush(self, keep: int = 0) -> None:
        if not self._waiting_rows:
            return
        table = pa.concat_tables(self._waiting)
        whole = table.num_rows - keep
        self._writer.write_table(table.slice(0, whole), row_group_size=ROW_GROUP_ROWS)
        self._waiting = [table.slice(whole)] if keep else []
        self._waiting_rows = keep

    def __exit__(self, *failure: object) -> None:
        if failure[0] is None:
            self._flush()
        self._writer.close()


def write_atomically(path: Path, text: str) -> None:
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(text, encoding="utf-8")
    _sync(temporary)
    temporary.replace(path)
    _sync_folder(path.parent)


def _exchange(new: Path, old: Path) -> None:
    """Put `new` in the place of `old` in one step where the system can, so that there is always a lake."""
    if not new.exists():
        raise GristmillError(
            f"{new} is missing though a commit was under way: remove commit.json and run again with --full"
        )
    if not old.exists():
        new.replace(old)
        return
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if renameat2 is None or renameat2(AT_FDCWD, os.fsencode(new), AT_FDCWD, os.fsencode(old), RENAME_EXCHANGE):
        old.replace(new.with_name("old_lake"))
        new.replace(old)


def _sync(path: Path) -> None:
    for part in [path, *path.rglob("*")] if path.is_dir() else [path]:
        handle = os.open(part, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _sync_folder(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
