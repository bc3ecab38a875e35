"""Reading days of a source table: whole days, refused rows apart, copies resolved.

Works for every dated table of every system; what differs is in the `DatedTable` it is given. Which days is `dated_tables.py`'s to
say, and writing them too.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import chain
from pathlib import Path

import polars as pl

from dagster_project.columns.instants import EPOCH
from dagster_project.contracts.checks import Schema
from dagster_project.contracts.source_table import TableSpec
from dagster_project.engines.kept_days import grouped
from dagster_project.intake.day_buffer import GROUP_ROWS, DayBuffer, LargeDay
from dagster_project.intake.fingerprints import Seen
from dagster_project.intake.held_rows import Held
from dagster_project.intake.open_files import OpenFile
from dagster_project.intake.quarantine import split
from dagster_project.intake.relations import Relation, resolve_copies


@dataclass(frozen=True)
class DatedTable:
    """A source table that is kept by day."""

    spec: TableSpec
    canonical: Callable[[pl.DataFrame, OpenFile], pl.DataFrame]  # adds occurred_at and event_date
    schema: Schema  # what a row must be
    rewritten: Sequence[str] = ()  # columns in which two copies of a row may differ
    relations: Sequence[Relation] = ()  # what it must be to other tables
    stored_as: Mapping[str, str] = field(default_factory=dict)  # columns that have another name in the lake
    vocabularies: Mapping[str, Sequence[str]] = field(
        default_factory=dict
    )  # column -> the words we know; others are told (G8)


@dataclass
class ReadDays:
    """Some whole days as they were read, from all files, and what missing files gave of them before (G13)."""

    rows: pl.DataFrame
    days: list[date | None]
    held: dict[date, Held] = field(default_factory=dict)


@dataclass
class JudgedDays:
    """Some whole days: the rows kept, those refused with their `reasons`, and per day copies and rows not sampled."""

    kept: pl.DataFrame
    refused: Sequence[pl.DataFrame]  # what the schema fails, what conflicts
    copies: dict[date, int]
    days: list[date | None]
    not_sampled: dict[date, int] = field(default_factory=dict)
    copied: pl.DataFrame = field(default_factory=pl.DataFrame)  # copies of rows that are kept
    lost: pl.DataFrame = field(
        default_factory=pl.DataFrame
    )  # valid rows that others count instead of, and their copies
    held: dict[date, Held] = field(default_factory=dict)  # what missing files gave before, already among the rest (G13)


def read_days(
    table: DatedTable,
    files: Sequence[OpenFile],
    seen: Seen,
    days: Sequence[date],
    spill_folder: Path,
    hold: Callable[[date], Held | None] = lambda day: None,
) -> Iterator[ReadDays | LargeDay]:
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
        everything = len(expected) == sum(count > 0 for day, count in rows.items() if day is not None)
        batches = (
            file.database.read_all(table.spec)
            if everything
            else file.database.read_days(table.spec, numbers, lowest, highest)
        )
        if not everything:
            beside = {rowid: day for rowid, day in seen.dated_beside.get(file.label, {}).items() if day in numbers}
            batches = chain(batches, file.database.read_rows(table.spec, sorted(beside)) if beside else ())
        for batch in batches:
            # a scan without a condition on days, which costs a tenth of it, also gives the rows that have none (G6)
            for group in buffer.add(_placed(table, batch, file).filter(pl.col("event_date").is_not_null())):
                yield _with_held(group, hold)
    for group in buffer.rest():
        yield _with_held(group, hold)
    gone = [day for day in days if day not in expected and seen.rows(day)]  # only missing files have rows of them
    for group in grouped(gone, seen.rows, GROUP_ROWS):
        yield ReadDays(pl.DataFrame(), [*group], _held(group, hold))


def _with_held(rows: pl.DataFrame | LargeDay, hold: Callable[[date], Held | None]) -> ReadDays | LargeDay:
    """Rows of missing files meet those of their day in memory, however many there are."""
    if isinstance(rows, LargeDay):
        if not (held := _held([rows.day], hold)):
            return rows
        return ReadDays(pl.concat(rows.pieces()), [rows.day], held)
    days = sorted(rows["event_date"].unique().to_list())
    return ReadDays(rows, days, _held(days, hold))


def _held(days: Sequence[date], hold: Callable[[date], Held | None]) -> dict[date, Held]:
    return {day: found for day in days if (found := hold(day))}


def read_undated(table: DatedTable, files: Sequence[OpenFile], seen: Seen) -> pl.DataFrame:
    """The rows no day will ever show (G6), as in quarantine__rows: all of them are refused."""
    frames = []
    for file in files:
        beside = seen.dated_beside.get(file.label, {})
        rowids = [rowid for rowid in file.database.undated_rowids(table.spec) if rowid not in beside]
        frames += (
            [_placed(table, batch, file) for batch in file.database.read_rows(table.spec, rowids)] if rowids else []
        )
    if not frames:
        return pl.DataFrame()
    group = judged(table, ReadDays(pl.concat(frames), [None]))
    return quarantined(table, group, {file.label: file for file in files})


def _placed(table: DatedTable, batch: pl.DataFrame, file: OpenFile) -> pl.DataFrame:
    return table.canonical(batch, file).with_columns(
        pl.lit(file.label, dtype=pl.String).alias("source_file"), pl.lit(file.order, dtype=pl.Int32).alias("file_order")
    )


def judged(table: DatedTable, read: ReadDays) -> JudgedDays:
    """Whole days sorted out: rows refused, copies resolved so that a key has one row, what is kept in order.

    Looks at nothing but the rows it is given, so that many groups can be judged at once.
    """
    kept, refused = read.rows, None
    if read.rows.width:
        kept, refused = split(read.rows, table.schema, table.relations)
    live = [
        found.live.rename({new: old for old, new in table.stored_as.items()}, strict=False)
        for found in read.held.values()
    ]
    compared = list(live[0].columns) if live else None
    kept, conflicts, copies = resolve_copies(beside(kept, live), table.spec, table.rewritten, compared)
    kept, left_out = sampled(kept)
    return JudgedDays(
        kept=kept.sort("event_date", table.spec.key),
        refused=[*([] if refused is None else [refused]), conflicts],
        copies=by_day(copies),
        days=read.days,
        not_sampled=by_day(left_out),
        copied=copies.filter("is_of_kept").rename(table.stored_as, strict=False),
        lost=lost_rows(conflicts, copies).rename(table.stored_as, strict=False),
        held=read.held,
    )


def quarantined(table: DatedTable, group: JudgedDays, files: Mapping[str, OpenFile]) -> pl.DataFrame:
    """The refused rows of a group as in quarantine__rows. Asks the sources for their originals: in the reader's thread only."""
    parts = [refusals(rows, table.spec, files) for rows in group.refused]
    return pl.concat([*parts, *(found.refused for found in group.held.values())]).sort("source_file", "source_rowid")


def lost_rows(conflicts: pl.DataFrame, copies: pl.DataFrame) -> pl.DataFrame:
    """Valid rows that are neither kept nor copies of kept ones."""
    return sampled(pl.concat([conflicts, copies.filter(~pl.col("is_of_kept"))], how="diagonal"))[0]


def by_day(rows: pl.DataFrame) -> dict[date, int]:
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


def _as_read(rows: pl.DataFrame, spec: TableSpec) -> pl.Expr:
    return pl.struct(name for name in spec.columns if name in rows.columns).struct.json_encode().alias("row")


def refusals(rows: pl.DataFrame, spec: TableSpec, files: Mapping[str, OpenFile]) -> pl.DataFrame:
    """Refused rows in the shape of quarantine__rows, with their original values fetched from the source.

    A file that is missing (G13) cannot tell them any more: of its rows stands there what was read.
    """
    parts = [
        mine.join(files[label].database.originals(spec, mine["source_rowid"].to_list()), on="source_rowid")
        if label in files
        else mine.with_columns(_as_read(mine, spec))
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
