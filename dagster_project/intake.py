"""Which days of a source table to read again (G7), and reading them: whole days, refused rows apart, copies resolved.

Works for every dated table of every system; what differs is in the `DatedTable` it is given. Writing is the caller's.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from dagster_project.day_buffer import DayBuffer
from dagster_project.extract import TableSpec
from dagster_project.instants import EPOCH
from dagster_project.looks import LookCache
from dagster_project.quarantine import Rule, split
from dagster_project.source_database import SourceDatabase

ALWAYS_READ_DAYS = 3


@dataclass(frozen=True)
class OpenFile:
    """One database of a source, open in its read transaction. `order` is its place in the configuration."""

    label: str
    order: int
    database: SourceDatabase
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class DatedTable:
    """A source table that is kept by day."""

    spec: TableSpec
    canonical: Callable[[pl.DataFrame, OpenFile], pl.DataFrame]  # adds occurred_at and event_date
    rules: Sequence[Rule]
    rewritten: Sequence[str] = ()  # columns in which two copies of a row may differ


@dataclass(frozen=True)
class Fingerprint:
    """What a day of a file looks like from outside."""

    rows: int
    lowest: int
    highest: int
    digest: int


@dataclass
class Seen:
    """What the files hold now: per day (None = no valid event time) and file, its fingerprint."""

    days: dict[date | None, dict[str, Fingerprint]]
    dated_beside: dict[str, dict[int, int]] = field(
        default_factory=dict
    )  # file -> row without a time of its own -> day

    @property
    def dates(self) -> list[date]:
        return sorted(day for day in self.days if day is not None)

    def rows(self, day: date | None) -> int:
        return sum(fingerprint.rows for fingerprint in self.days.get(day, {}).values())

    def as_stored(self, day: date | None) -> dict[str, list[int]]:
        """The part that decides whether a day changed, as it is kept in the catalogue."""
        return {label: [f.rows, f.highest, f.digest] for label, f in sorted(self.days.get(day, {}).items())}


@dataclass
class DayGroup:
    """Some whole days: the rows kept, the rows refused (as in quarantine__rows), and per day copies and rows not sampled."""

    kept: pl.DataFrame
    refused: pl.DataFrame
    copies: dict[date, int]
    days: list[date | None]
    not_sampled: dict[date, int] = field(default_factory=dict)


def look(files: Sequence[OpenFile], spec: TableSpec, cache: LookCache) -> Seen:
    """Fingerprint every day of every file."""
    seen = Seen({})
    for file in files:
        found = file.database.look(spec, cache)
        for day, rows, lowest, highest, digest in found.days:
            key = None if day is None else EPOCH + timedelta(days=day)
            seen.days.setdefault(key, {})[file.label] = Fingerprint(rows, lowest, highest, digest)
        if spec.dated_beside and found.undated:
            _move_to_days(seen, file.label, spec.dated_beside(file.database, spec, found.undated))
    return seen


def _move_to_days(seen: Seen, label: str, moved: Mapping[int, int]) -> None:
    """Rows that something beside their table dates are counted on that day."""
    seen.dated_beside[label] = dict(moved)
    for rowid, number in moved.items():
        undated, day = seen.days[None][label], EPOCH + timedelta(days=number)
        seen.days[None][label] = replace(undated, rows=undated.rows - 1)
        old = seen.days.setdefault(day, {}).get(label, Fingerprint(0, rowid, rowid, 0))
        seen.days[day][label] = Fingerprint(
            # an edit of any undated row changes their digest, and with it these days'
            old.rows + 1,
            min(old.lowest, rowid),
            max(old.highest, rowid),
            old.digest + hash((rowid, undated.digest)),
        )
    if not any(found.rows for found in seen.days.get(None, {}).values()):
        seen.days.pop(None, None)


def changed_days(seen: Seen, stored: Mapping[str, Any]) -> set[date]:
    """Days that look different from when they were read, or are new, or are gone."""
    known = {date.fromisoformat(day): entry["files"] for day, entry in stored.items()}
    return {day for day in {*seen.dates, *known} if seen.as_stored(day) != known.get(day)}


def last_days(as_of_day: date) -> set[date]:
    """The days a run always reads again: the last three before as_of, whose exclusive end is `as_of_day`."""
    return {as_of_day - timedelta(days=back) for back in range(1, ALWAYS_READ_DAYS + 1)}


def read_days(
    table: DatedTable, files: Sequence[OpenFile], seen: Seen, days: Sequence[date], spill_folder: Path
) -> Iterator[DayGroup]:
    """Read these days whole, from all files together."""
    expected = {day: seen.rows(day) for day in days if seen.rows(day)}
    buffer = DayBuffer(expected, spill_folder)

    def rows_of(file: OpenFile) -> int:
        return sum(seen.days[day][file.label].rows for day in expected if file.label in seen.days[day])

    by_label = {file.label: file for file in files}
    for file in sorted(files, key=rows_of):  # the largest last, so that days complete while it streams
        marks = [seen.days[day][file.label] for day in expected if file.label in seen.days[day]]
        if not marks:
            continue
        numbers = [(day - EPOCH).days for day in expected]
        lowest, highest = min(mark.lowest for mark in marks), max(mark.highest for mark in marks)
        everything = len(expected) == len(seen.days)
        batches = (
            file.database.read_all(table.spec)
            if everything
            else file.database.read_days(table.spec, numbers, lowest, highest)
        )
        if not everything:
            beside = {rowid: day for rowid, day in seen.dated_beside.get(file.label, {}).items() if day in numbers}
            batches = chain(batches, file.database.read_rows(table.spec, sorted(beside)) if beside else ())
        for batch in batches:
            for group in buffer.add(_placed(table, batch, file)):
                yield _sorted_out(table, group, by_label)
    for group in buffer.rest():
        yield _sorted_out(table, group, by_label)


def read_undated(table: DatedTable, files: Sequence[OpenFile], seen: Seen) -> DayGroup:
    """The rows no day will ever show (G6). All of them are refused."""
    frames = []
    for file in files:
        beside = seen.dated_beside.get(file.label, {})
        rowids = [rowid for rowid in file.database.undated_rowids(table.spec) if rowid not in beside]
        frames += (
            [_placed(table, batch, file) for batch in file.database.read_rows(table.spec, rowids)] if rowids else []
        )
    if not frames:
        return DayGroup(pl.DataFrame(), pl.DataFrame(), {}, [None])
    return _sorted_out(table, pl.concat(frames), {file.label: file for file in files})


def _placed(table: DatedTable, batch: pl.DataFrame, file: OpenFile) -> pl.DataFrame:
    return table.canonical(batch, file).with_columns(
        pl.lit(file.label, dtype=pl.String).alias("source_file"), pl.lit(file.order, dtype=pl.Int32).alias("file_order")
    )


def _sorted_out(table: DatedTable, rows: pl.DataFrame, files: Mapping[str, OpenFile]) -> DayGroup:
    """Refuse, resolve copies, and put what is kept in order."""
    kept, refused = split(rows, table.rules)
    kept, conflicts, copies = resolve_copies(kept, table.spec, table.rewritten)
    kept, left_out = sampled(kept)
    kept = kept.sort("event_date", table.spec.key)
    dropped = dict(copies.group_by("event_date").len().iter_rows()) if copies.height else {}
    refused = pl.concat([refusals(refused, table.spec, files), refusals(conflicts, table.spec, files)])
    not_sampled = dict(left_out.group_by("event_date").len().iter_rows()) if left_out.height else {}
    return DayGroup(kept, refused, dropped, sorted(rows["event_date"].unique().to_list(), key=str), not_sampled)


def sampled(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rows that are looked at further and those that are not (S7), where `canonical` says which in `is_sampled`."""
    if "is_sampled" not in rows.columns:
        return rows, rows.clear()
    return rows.filter("is_sampled"), rows.filter(~pl.col("is_sampled"))


def resolve_copies(
    rows: pl.DataFrame, spec: TableSpec, rewritten: Sequence[str]
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Kept rows, conflicting ones (with `reasons`), exact copies: one row per key (F3).

    Rows that agree in everything the source does not rewrite are one. Else the latest counts, then the later file.
    """
    key = spec.key
    conflict = pl.lit([spec.conflict], dtype=pl.List(pl.String)).alias("reasons")
    is_repeated = rows[key].is_duplicated()
    if not is_repeated.any():
        return rows, rows.clear().with_columns(conflict), rows.clear()
    where_from = {"source_file", "source_rowid", "file_order", "repairs", "is_written_back", *rewritten}
    content = pl.struct(pl.exclude(*where_from)).hash()
    repeated = rows.filter(is_repeated).with_columns(content.alias("content"))
    repeated = repeated.sort("occurred_at", "file_order", "source_rowid", descending=True)
    is_first_copy = pl.struct(key, "content").is_first_distinct()
    distinct, copies = repeated.filter(is_first_copy), repeated.filter(~is_first_copy)
    is_latest = pl.col(key).is_first_distinct()
    kept = pl.concat([rows.filter(~is_repeated), distinct.filter(is_latest).drop("content")])
    return kept, distinct.filter(~is_latest).drop("content").with_columns(conflict), copies.drop("content")


def refusals(rows: pl.DataFrame, spec: TableSpec, files: Mapping[str, OpenFile]) -> pl.DataFrame:
    """Refused rows in the shape of quarantine__rows, with their original values fetched from the source."""
    parts = [
        mine.join(files[label].database.originals(spec, mine["source_rowid"].to_list()), on="source_rowid")
        for (label,), mine in rows.partition_by("source_file", as_dict=True, maintain_order=True).items()
    ] or [rows.with_columns(pl.lit(None, dtype=pl.String).alias("row"))]
    return (
        pl.concat(parts)
        .select(
            pl.lit(spec.system, dtype=pl.String).alias("system"),
            pl.lit(spec.name, dtype=pl.String).alias("table"),
            pl.when((pl.col(spec.key) != "") & ~pl.col("reasons").list.contains(f"bad_text:{spec.key}"))
            .then(pl.col(spec.key))
            .alias("key"),
            "source_rowid",
            "event_date" if "event_date" in rows.columns else pl.lit(None, dtype=pl.Date).alias("event_date"),
            "reasons",
            "row",
            "source_file",
        )
        .sort("source_file", "source_rowid")
    )


def days_of_mended_rows(table: DatedTable, files: Sequence[OpenFile], refused: pl.DataFrame) -> set[date]:
    """Quarantined rows are looked up again in every run; one that changed makes its day be read again (G7)."""
    days: set[date] = set()
    for file in files:
        mine = refused.filter((pl.col("source_file") == file.label) & pl.col("event_date").is_not_null())
        if mine.height:
            now = file.database.originals(table.spec, mine["source_rowid"].to_list()).rename({"row": "row_now"})
            looked_up = mine.join(now, on="source_rowid", how="left")
            days |= set(looked_up.filter(pl.col("row").ne_missing(pl.col("row_now")))["event_date"].to_list())
    return days
