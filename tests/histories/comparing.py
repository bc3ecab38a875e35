"""What two homes hold, compared: bytes of files, and rows in their order where a table is a view."""

import json
from datetime import date
from pathlib import Path

import duckdb
import polars as pl

from dagster_project.contracts import TABLES
from dagster_project.lake.lake import PART, Lake

# What a home may hold that a fresh one does not (issue 12), each with the reason.
EXEMPT = {
    "metric__restatements": "a log of what was published otherwise before: a fresh home published nothing",
    "metric__daily_restatements": "another such log",
    "train__anonymised": "weeks that were published are never restated (S6)",
}
# Tables by release hold the older releases too, which are written once (T5): of those the newest counts.
BY_RELEASE = "release_date="
MANIFEST, WEEKS = "manifest.json", "anonymised"
MANIFEST_EXEMPT = {
    WEEKS: "weeks that were published are never restated (S6)",
    "config_hash": "another configuration alone is no other content, the release stays as it was written (T5)",
    "code_hash": "nor is other code (T5)",
}


def differences(one: Path, other: Path, release_date: date) -> list[str]:
    """A line for each file or table in which the two homes differ."""
    return [*_tables(one, other, release_date), *_releases(one, other)]


def _tables(one: Path, other: Path, release_date: date) -> list[str]:
    found = []
    for table in TABLES:
        if table in EXEMPT:
            continue
        first, second = _files(one, table, release_date), _files(other, table, release_date)
        if not first and not second and not table.startswith("train__"):  # of which the other home may have older ones
            found += _rows(one, other, table)
        found += [
            f"{table} {place}: {_told(first, second, place)}"
            for place in sorted({*first, *second})
            if first.get(place) != second.get(place)
        ]
    return found


def _told(first: dict[str, bytes], second: dict[str, bytes], place: str) -> str:
    if place in first and place in second:
        return "other bytes"
    return f"only in the {'home with a history' if place in first else 'fresh home'}"


def _files(home: Path, table: str, release_date: date) -> dict[str, bytes]:
    lake, newest = Lake(home), f"{BY_RELEASE}{release_date}"
    files = {
        place: lake.folder / table / place / PART
        for place in lake.partitions(table)
        if not place.startswith(BY_RELEASE) or place == newest or place.startswith(f"{newest}/")
    }
    return {
        place: _without_number(path) if place.startswith(newest) else path.read_bytes() for place, path in files.items()
    }


def _without_number(path: Path) -> bytes:
    """A release's rows; its name has another number where the day had one before (`20240131.2`)."""
    return pl.read_parquet(path, hive_partitioning=False).drop("release", strict=False).serialize()


def _rows(one: Path, other: Path, table: str) -> list[str]:
    """A table without files is a view, or empty in both."""
    answers = []
    for home in (one, other):
        with duckdb.connect(str(home / "warehouse.duckdb"), read_only=True) as connection:
            connection.execute("set TimeZone = 'UTC'; set threads = 1")
            is_there = connection.execute(
                "select 1 from information_schema.tables where table_name = ?", [table]
            ).fetchall()
            answers.append(connection.execute(f'from "{table}"').fetchall() if is_there else None)
    return [] if answers[0] == answers[1] else [f"{table}: other rows in the warehouse"]


def _releases(one: Path, other: Path) -> list[str]:
    """The newest release, file by file; its folder may have another number (`20240131.2`)."""
    first, second = (_release(home) for home in (one, other))
    return [
        f"release {name}: {_told(first, second, name)}"
        for name in sorted({*first, *second})
        if first.get(name) != second.get(name)
    ]


def _release(home: Path) -> dict[str, bytes]:
    name = Lake(home).published.release.get("name")
    folder = home / "exports" / str(name)
    found = {path.name: path.read_bytes() for path in sorted(folder.iterdir())} if name else {}
    found = {name: stored for name, stored in found.items() if not name.startswith(WEEKS)}
    return found | ({MANIFEST: _judged(found[MANIFEST])} if MANIFEST in found else {})


def _judged(manifest: bytes) -> bytes:
    """What of the manifest is not exempt."""
    said = json.loads(manifest)
    files = {name: entry for name, entry in said["files"].items() if not name.startswith(WEEKS)}
    return json.dumps(
        {name: value for name, value in said.items() if name not in MANIFEST_EXEMPT} | {"files": files}
    ).encode()
