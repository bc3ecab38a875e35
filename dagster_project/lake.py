"""Where tables live: scan them, replace a partition of one, and publish all changes of a run together.

A run writes under `<home>/staging` and reads its own writes first, so every later stage sees the new state while
nobody else does. `commit` writes a journal of renames, then does them; a run that finds a journal finishes it, one that
finds only strays sweeps them. So a kill at any moment leaves either the old publication or the new one.
The catalogue (`<home>/lake/catalog.json`) is the authority on which files belong to which table.
"""

import contextlib
import filecmp
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dagster_project.errors import GristmillError

FORMAT = 1
ROW_GROUP_ROWS = 32_768
NO_DAY = "event_date=__HIVE_DEFAULT_PARTITION__"


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
    tables: dict[str, dict[str, StoredFile]] = field(default_factory=dict)
    inputs: dict[str, str] = field(default_factory=dict)  # derived table -> hash of what it was made from (G12)
    sources: dict[str, Any] = field(default_factory=dict)  # source table -> what each day looked like when read (G7)
    release: dict[str, Any] = field(default_factory=dict)  # the newest release: name, folder, candidates

    @classmethod
    def read(cls, path: Path) -> "Catalog":
        if not path.exists():
            return cls()
        stored = json.loads(path.read_text(encoding="utf-8"))
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
        return json.dumps(asdict(self), sort_keys=True, separators=(",", ":"))


class Lake:
    """The published tables of a home, plus what the current run has staged on top of them."""

    def __init__(self, home: Path) -> None:
        self.home = home.absolute()
        self.folder = self.home / "lake"
        self.staging = self.home / "staging"
        self.journal = self.home / "commit.json"
        self.catalog = Catalog.read(self.folder / "catalog.json")
        self.published = Catalog.read(self.folder / "catalog.json")
        self.staged: dict[tuple[str, str], Path] = {}

    # --- reading -------------------------------------------------------------------------------------------------

    def partitions(self, table: str) -> Mapping[str, StoredFile]:
        """The partitions of a table as this run sees them, in order."""
        return dict(sorted(self.catalog.tables.get(table, {}).items()))

    def days(self, table: str) -> list[str]:
        return [p.removeprefix("event_date=") for p in self.partitions(table) if p != NO_DAY]

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
        target = self.staging / "lake" / table / partition / "part-0.parquet"
        target.parent.mkdir(parents=True, exist_ok=True)
        with TableWriter(target, layout) as writer:
            yield writer
        self.adopt(table, partition, target, writer.rows)

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

    def is_changed(self, only: tuple[str, ...] = ("",)) -> bool:
        """Whether a table whose name starts with one of `only` differs from the publication."""
        return self._selected(self.catalog.tables, only) != self._selected(self.published.tables, only)

    @staticmethod
    def _selected(tables: Mapping[str, Any], prefixes: tuple[str, ...]) -> dict[str, Any]:
        return {name: files for name, files in tables.items() if files and name.startswith(prefixes)}

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

    def commit(self, moves: Iterable[tuple[Path, Path]] = ()) -> None:
        """Publish: journal first, then renames. `moves` are finished files or folders that go along (releases, ...)."""
        self.catalog.publication = self.next_publication
        catalog_file = self.staging / "catalog.json"
        self.staging.mkdir(parents=True, exist_ok=True)
        catalog_file.write_text(self.catalog.to_json(), encoding="utf-8")
        renames = [(path, self.folder / key[0] / key[1] / "part-0.parquet") for key, path in self.staged.items()]
        gone = [
            self.folder / table / partition / "part-0.parquet"
            for table, files in self.published.tables.items()
            for partition in files
            if partition not in self.catalog.tables.get(table, {})
        ]
        plan = {
            "renames": [[str(a.relative_to(self.home)), str(b.relative_to(self.home))] for a, b in [*renames, *moves]],
            "deletes": [str(path.relative_to(self.home)) for path in gone],
            "catalog": str(catalog_file.relative_to(self.home)),
        }
        for source, _ in [*renames, *moves]:
            _sync(source)
        _sync(catalog_file)
        write_atomically(self.journal, json.dumps(plan, indent=1))
        self.finish_commit()

    def finish_commit(self) -> None:
        """Do what the journal says; every step may have been done already. The catalogue comes last."""
        if not self.journal.exists():
            return
        plan = json.loads(self.journal.read_text(encoding="utf-8"))
        for source, target in plan["renames"]:
            _rename(self.home / source, self.home / target)
        for path in plan["deletes"]:
            file = self.home / path
            file.unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # the folder goes when it is empty
                file.parent.rmdir()
        _rename(self.home / plan["catalog"], self.folder / "catalog.json")
        self.journal.unlink()
        self.catalog = Catalog.read(self.folder / "catalog.json")
        self.published = Catalog.read(self.folder / "catalog.json")
        self.staged = {}

    def recover(self) -> None:
        """Put right what a killed run left: finish a commit that had begun, sweep everything else it wrote."""
        self.finish_commit()
        shutil.rmtree(self.staging, ignore_errors=True)
        for pattern in ("*.tmp", "snapshots/*.tmp", "exports/*.tmp"):
            for stray in self.home.glob(pattern):
                shutil.rmtree(stray) if stray.is_dir() else stray.unlink()


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
            compression=layout.compression,
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
    _sync(path.parent)


def _rename(source: Path, target: Path) -> None:
    if source.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        source.replace(target)


def _sync(path: Path) -> None:
    for part in [path, *path.rglob("*")] if path.is_dir() else [path]:
        handle = os.open(part, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
