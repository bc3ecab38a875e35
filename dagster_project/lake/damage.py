"""What a home holds against what its catalogue and manifests say: files of the lake that are gone or cut short are made again.

Every run looks at the size of each file, which costs next to nothing. A file of the right size with other bytes is found by
`run --full`: it makes every table again, compares, and reads the releases through. A release is written once (T5): one that
was changed is told, never rewritten.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from dagster_project.lake.lake import PART, Catalog, Lake, StoredFile

# Tables whose partitions begin with the raw table their rows were read for.
BESIDE_RAW = ("quarantine__rows", "intake__copies", "intake__lost")
MOST_NAMED = 3


@dataclass
class Damage:
    """What was wrong when the run began: partitions of the lake, by table and folder, and `notes` on the rest."""

    files: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def days(self) -> set[date]:
        """Days that have to be read again, of every table: the files of a day are made together."""
        found = (re.search(r"event_date=(\d{4}-\d\d-\d\d)", partition) for _, partition in self.files)
        return {date.fromisoformat(match[1]) for match in found if match}

    def told(self, lake: Lake) -> list[str]:
        """A line for each kind of damage, once the run knows what became of it."""
        lines = list(self.notes)
        gone = [
            place
            for place in self.files
            if place[0].startswith("train__") and place[1] not in lake.partitions(place[0])
        ]
        if mended := [place for place in self.files if place not in gone]:
            lines.append(f"damaged in the lake and made again: {_named(mended)}")
        if gone:
            lines.append(
                f"damaged in the lake and left out, of earlier releases (`run --as-of` their day makes them again): {_named(gone)}"
            )
        return lines


def _named(places: list[tuple[str, str]]) -> str:
    names = [f"{table}/{partition}".rstrip("/") for table, partition in places[:MOST_NAMED]]
    return ", ".join(names) + (f" and {len(places) - MOST_NAMED} more" if len(places) > MOST_NAMED else "")


def raw_table(table: str, partition: str) -> str:
    """The raw table a partition is of, or was read for."""
    return partition.split("/", maxsplit=1)[0] if table in BESIDE_RAW else table


def wrong_files(folder: Path, tables: Mapping[str, Mapping[str, StoredFile]]) -> list[tuple[str, str]]:
    """Partitions whose file is missing or has another size than the catalogue says."""
    return [
        (table, partition)
        for table, files in sorted(tables.items())
        for partition, stored in sorted(files.items())
        if _size(folder / table / partition / PART) != stored.bytes
    ]


def _size(file: Path) -> int | None:
    try:
        return file.stat().st_size
    except OSError:
        return None


def set_aside(lake: Lake, is_full: bool) -> Damage:
    """Make the run forget files that are damaged, and what says that they are up to date: it makes them again."""
    damage = Damage(
        wrong_files(lake.folder, lake.published.tables), list(_wrong_releases(lake.home / "exports", is_full))
    )
    for table, partition in damage.files:
        for catalog in (lake.catalog, lake.published):
            catalog.tables[table].pop(partition)
        read_from = raw_table(table, partition)
        if "days" not in lake.catalog.sources.get(read_from, {"days": {}}):
            lake.catalog.sources.pop(read_from)  # a table that is read whole
    if damage.files or is_full:
        lake.catalog.inputs.clear()
    newest = lake.catalog.release.get("name")
    if newest and not (lake.home / "exports" / newest).exists():
        lake.catalog.inputs.pop("release", None)
    return damage


def _wrong_releases(exports: Path, is_full: bool) -> Iterator[str]:
    for manifest in sorted(exports.glob("[0-9]*/manifest.json")):
        try:
            files = json.loads(manifest.read_text(encoding="utf-8"))["files"]
            wrong = [
                name for name, entry in files.items() if not _is_as_written(manifest.with_name(name), entry, is_full)
            ]
        except (ValueError, KeyError, TypeError, AttributeError):
            wrong = [manifest.name]
        if wrong:
            names = ", ".join(sorted(wrong)[:MOST_NAMED])
            yield f"release {manifest.parent} is no longer as it was written ({names}): it is left alone; restore it or remove it"


def _is_as_written(file: Path, entry: Mapping[str, object], is_full: bool) -> bool:
    if _size(file) != entry["bytes"]:
        return False
    if not is_full:
        return True
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest() == entry["sha256"]


def is_whole(lake: Lake) -> bool:
    """Whether everything a reader of the publication relies on is there: cheap, for a run that has nothing else to do."""
    published: Catalog = lake.published
    snapshot = lake.home / "snapshots" / str(published.snapshot)
    return not wrong_files(lake.folder, published.tables) and not wrong_files(snapshot, published.tables)
