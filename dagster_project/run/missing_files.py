"""Which source files are there, and which are missing (G13).

A file is missing where the configuration names it and it is not there, or where it is a default source that is not there
and the lake holds rows of it. A database server that does not answer is no missing file but an error: it is not unplugged
in the course of things, and its schemas would stay as they were without anybody noticing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from dagster_project.config import SYSTEMS, Config, SourceFile
from dagster_project.config.reachable import is_there
from dagster_project.errors import GristmillError
from dagster_project.lake.damage import raw_table
from dagster_project.lake.lake import NO_DAY, Catalog


@dataclass(frozen=True)
class MissingFile:
    """A source file that is not there. `since` is the first publication that was made without it (None: none yet)."""

    system: str
    file: SourceFile
    since: Mapping[str, Any] | None
    is_held: bool  # the lake holds rows of it
    is_alone: bool  # none of its system's files is there

    def __str__(self) -> str:
        since = "by now"
        if self.since:
            as_of = datetime.fromisoformat(self.since["as_of"])
            since = f"since publication {self.since['publication']} (as of {as_of:%Y-%m-%d %H:%M} UTC)"
        rows = "what was read from it stays as it was" if self.is_held else "nothing was ever read from it"
        return f"{self.system}: {self.file.path} is missing {since}; {rows}"


def with_missing_defaults(config: Config, catalog: Catalog) -> Config:
    """The configuration with the default sources the lake holds rows of, whether or not they are there."""
    sources = {}
    for system in SYSTEMS:
        held = labels_in_lake(catalog, system) if config.absent.get(system) else set()
        missing = [file for file in config.absent.get(system, ()) if file.label in held]
        sources[system] = tuple(sorted([*config.sources.get(system, ()), *missing], key=lambda file: file.order))
    return replace(config, sources=sources)


def labels_in_lake(catalog: Catalog, system: str) -> set[str]:
    """The files of a system of which the lake holds, or has refused, any row."""
    found: set[str] = set()
    for asset, entry in catalog.sources.items():
        if asset.startswith(f"raw_{system}__"):
            found.update(*(day["files"] for day in entry.get("days", {}).values()), entry.get("files", {}))
    return found


def missing_files(config: Config, catalog: Catalog) -> list[MissingFile]:
    """Of the sources of a configuration (`with_missing_defaults`) those that are not there now."""
    found = []
    for system, files in config.sources.items():
        gone = [file for file in files if file.address is None and not is_there(file.path)]
        held = labels_in_lake(catalog, system) if gone else set()
        since = catalog.missing.get(system, {})
        is_alone = len(gone) == len(files)
        found += [MissingFile(system, file, since.get(file.label), file.label in held, is_alone) for file in gone]
    return found


def check_lost_rows(missing: list[MissingFile], damaged: list[tuple[str, str]], catalog: Catalog) -> None:
    """Damaged files of the lake are made again from the sources; the rows of a missing one cannot be, so the run ends."""
    for table, partition in damaged:
        entry = catalog.sources.get(raw_table(table, partition), {})
        day = "undated" if partition.endswith(NO_DAY) else partition.rpartition("event_date=")[2]
        files = entry.get("days", {}).get(day, entry).get("files", {})
        for found in missing:
            if found.file.label in files and raw_table(table, partition).startswith(f"raw_{found.system}__"):
                raise GristmillError(
                    f"{table}/{partition} of the lake is damaged and held rows of {found.file.path}, which is missing: "
                    "plug it in and run again"
                )


def told(missing: list[MissingFile], catalog: Catalog) -> list[str]:
    """A line for each missing file, as of a publication's catalogue."""
    return [str(replace(found, since=catalog.missing.get(found.system, {}).get(found.file.label))) for found in missing]


def missing_since(missing: list[MissingFile], publication: int, as_of: str) -> dict[str, dict[str, Any]]:
    """What the catalogue of a publication says of missing files: each with the first publication made without it."""
    told: dict[str, dict[str, Any]] = {}
    for found in missing:
        since = found.since or {"publication": publication, "as_of": as_of}
        told.setdefault(found.system, {})[found.file.label] = dict(since)
    return told
