"""Which days of a source table to read again (G7), and reading them: whole days, refused rows apart, copies resolved.

Works for every dated table of every system; what differs is in the `DatedTable` it is given. Writing is the caller's.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from itertools import accumulate, chain, groupby
from pathlib import Path
from typing import Any

import polars as pl

from dagster_project.columns.instants import EPOCH
from dagster_project.contracts.checks import Schema
from dagster_project.contracts.source_table import TableSpec
from dagster_project.databases.look_cache import LookCache
from dagster_project.databases.source_database import SourceDatabase
from dagster_project.intake.day_buffer import GROUP_ROWS, DayBuffer
from dagster_project.intake.held_rows import Held
from dagster_project.intake.quarantine import split
from dagster_project.intake.relations import Relation, resolve_copies

ALWAYS_READ_DAYS = 3
UNDATED = "undated"  # stands in the catalogue for the day of rows that have none


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
    schema: Schema  # what a row must be
    rewritten: Sequence[str] = ()  # columns in which two copies of a row may differ
    relations: Sequence[Relation] = ()  # what it must be to other tables
    stored_as: Mapping[str, str] = field(default_factory=dict)  # columns that have another name in the lake


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
    copied: pl.DataFrame = field(default_factory=pl.DataFrame)  # copies of rows that are kept
    lost: pl.DataFrame = field(
        default_factory=pl.DataFrame
    )  # valid rows that others count instead of, and their copies
    held: dict[date, Held] = field(default_factory=dict)  # what missing files gave before, already among the rest (G13)


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


def remembered(seen: Seen, stored: Mapping[str, Any], missing: Collection[str]) -> Seen:
    """With the files that are missing as they looked when they were read (G13); `stored` are days of the catalogue."""
    for day, entry in stored.items() if missing else ():
        key = None if day == UNDATED else date.fromisoformat(day)
        for label, (rows, highest, digest) in entry["files"].items():
            if label in missing:
                seen.days.setdefault(key, {})[label] = Fingerprint(rows, highest, highest, digest)
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
    table: DatedTable,
    files: Sequence[OpenFile],
    seen: Seen,
    days: Sequence[date],
    spill_folder: Path,
    hold: Callable[[date], Held | None] = lambda day: None,
) -> Iterator[DayGroup]:
    """Read these days whole, from all files together. `hold` tells what missing files gave of a day before (G13)."""
    by_label = {file.label: file for file in files}
    rows = {
        day: sum(mark.rows for label, mark in marks.items() if label in by_label) for day, marks in seen.days.items()
    }
    expected = {day: rows[day] for day in days if rows.get(day)}
    buffer = DayBuffer(expected, spill_folder)

    def rows_of(file: OpenFile) -> int:
        return sum(seen.days[day][file.label].rows for day in expected if file.label in seen.days[day])

    for file in sorted(files, key=rows_of):  # the largest last, so that days complete while it streams
        marks = [seen.days[day][file.label] for day in expected if file.label in seen.days[day]]
        if not marks:
            continue
        numbers = [(day - EPOCH).days for day in expected]
        lowest, highest = min(mark.lowest for mark in marks), max(mark.highest for mark in marks)
        everything = len(expected) == sum(count > 0 for count in rows.values())
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
                yield _sorted_out(table, group, by_label, hold)
    for group in buffer.rest():
        yield _sorted_out(table, group, by_label, hold)
    gone = [day for day in days if day not in expected and seen.rows(day)]  # only missing files have rows of them
    for _, group in groupby(zip(gone, accumulate(map(seen.rows, gone)), strict=True), lambda it: it[1] // GROUP_ROWS):
        yield _settled(table, pl.DataFrame(), None, [day for day, _ in group], by_label, hold)


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


def _sorted_out(
    table: DatedTable,
    rows: pl.DataFrame,
    files: Mapping[str, OpenFile],
    hold: Callable[[date], Held | None] = lambda day: None,
) -> DayGroup:
    """Refuse, resolve copies, and put what is kept in order."""
    kept, refused = split(rows, table.schema, table.relations)
    days = sorted(rows["event_date"].unique().to_list(), key=str)
    return _settled(table, kept, refusals(refused, table.spec, files), days, files, hold)


def _settled(
    table: DatedTable,
    kept: pl.DataFrame,
    refused: pl.DataFrame | None,
    days: list[date | None],
    files: Mapping[str, OpenFile],
    hold: Callable[[date], Held | None],
) -> DayGroup:
    """Whole days of rows that were judged: one row per key, in order."""
    held = {day: found for day in days if day is not None and (found := hold(day))}
    live = [
        found.live.rename({new: old for old, new in table.stored_as.items()}, strict=False) for found in held.values()
    ]
    compared = list(live[0].columns) if live else None
    kept, conflicts, copies = resolve_copies(beside(kept, live), table.spec, table.rewritten, compared)
    kept, left_out = sampled(kept)
    parts = [*([] if refused is None else [refused]), refusals(conflicts, table.spec, files)]
    return DayGroup(
        kept=kept.sort("event_date", table.spec.key),
        refused=pl.concat([*parts, *(found.refused for found in held.values())]).sort("source_file", "source_rowid"),
        copies=_by_day(copies),
        days=days,
        not_sampled=_by_day(left_out),
        copied=copies.filter("is_of_kept").rename(table.stored_as, strict=False),
        lost=lost_rows(conflicts, copies).rename(table.stored_as, strict=False),
        held=held,
    )


def lost_rows(conflicts: pl.DataFrame, copies: pl.DataFrame) -> pl.DataFrame:
    """Valid rows that are neither kept nor copies of kept ones."""
    return sampled(pl.concat([conflicts, copies.filter(~pl.col("is_of_kept"))], how="diagonal"))[0]


def _by_day(rows: pl.DataFrame) -> dict[date, int]:
    return dict(rows.group_by("event_date").len().iter_rows()) if rows.height else {}


def beside(rows: pl.DataFrame, judged: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Rows just read, and beside them such as the lake has them; what only one of the two knows is null in the other."""
    if not judged or rows.is_empty():
        return pl.concat(judged) if judged else rows
    known = [
        part.select(pl.col(name).cast(rows.schema[name]) for name in part.columns if name in rows.columns)
        for part in judged
    ]
    return pl.concat([rows, *known], how="diagonal")


def sampled(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rows that are looked at further and those that are not (S7), where `canonical` says which in `is_sampled`."""
    if "is_sampled" not in rows.columns:
        return rows, rows.clear()
    is_sampled = pl.col("is_sampled").fill_null(True)  # what was kept before
    return rows.filter(is_sampled), rows.filter(~is_sampled)


def refusals(rows: pl.DataFrame, spec: TableSpec, files: Mapping[str, OpenFile]) -> pl.DataFrame:
    """Refused rows in the shape of quarantine__rows, with their original values fetched from the source.

    A file that is missing (G13) cannot tell them any more: of its rows stands there what was read.
    """
    as_read = pl.struct(name for name in spec.columns if name in rows.columns).struct.json_encode().alias("row")
    parts = [
        mine.join(files[label].database.originals(spec, mine["source_rowid"].to_list()), on="source_rowid")
        if label in files
        else mine.with_columns(as_read)
        for (label,), mine in rows.partition_by("source_file", as_dict=True, maintain_order=True).items()
    ] or [rows.with_columns(pl.lit(None, dtype=pl.String).alias("row"))]
    return pl.concat(parts).select(
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
