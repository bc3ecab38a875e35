"""Telling the sources what was exported (F10, D9): the one place that writes to a source, and only when asked to.

A row is marked only if it is still as we read it; all rows of a file in one transaction. What we write goes to a ledger in
the state with what was there before (`intake/own_writes.py`), so a second write-back changes nothing and no output depends
on it. What is written where, each system says in its `writeback.py`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from dagster_project.databases.sqlite import SqliteDatabase
from dagster_project.errors import GristmillError
from dagster_project.intake.marks import Marks, Release
from dagster_project.intake.open_files import OpenFile
from dagster_project.intake.own_writes import read_ledger, save_ledger, settled, with_own_values
from dagster_project.lake import parquet
from dagster_project.lake.lake import Lake
from dagster_project.registry import SYSTEMS
from dagster_project.run.mill_run import MillRun
from dagster_project.run.missing_files import told

GROUP_ROWS = 20_000


@dataclass
class Outcome:
    """What became of the rows of one system."""

    system: str
    written: int = 0
    already: int = 0
    changed_since: list[str] = field(default_factory=list)

    def __add__(self, other: "Outcome") -> "Outcome":
        keys = self.changed_since + other.changed_since
        return Outcome("all", self.written + other.written, self.already + other.already, keys)


@dataclass
class WriteBack:
    """What a write-back did, for every system that has a source."""

    release: str
    systems: list[Outcome] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)  # a line for each file that is not there (G13)

    @property
    def total(self) -> Outcome:
        return sum(self.systems, Outcome("all"))


def write_back(run: MillRun, name: str | None) -> WriteBack:
    """Mark in the sources what a release says of them, in one transaction per file; rows changed since are left alone."""
    name = name or run.lake.published.release.get("name")
    if not name:
        raise GristmillError("nothing is published yet: there is no release to write back")
    release = Release(run.lake, name)
    _ = release.as_of  # before any source is opened: a release that is not there is one line and no more
    done = WriteBack(name)
    for marks in [system.marks for system in SYSTEMS.values() if system.marks]:
        spec = marks.table.spec
        files = run.config.sources[spec.system]
        if any(file.address for file in files):
            raise GristmillError(f"{spec.system} is read from Postgres: write-back goes to SQLite files only (F10)")
        if not files:
            continue
        outcome, wanted = Outcome(spec.system), marks.wanted(release)
        missing = run.missing_of(spec.system)
        for file in files:
            if file.label in missing:
                continue
            with SqliteDatabase(file.path, run.config.busy_timeout_seconds, writable=True) as database:
                if spec.name in database.tables or not spec.is_optional:
                    open_file = OpenFile(file.label, file.order, database, file.options)
                    _mark_file(release, marks, open_file, database, wanted, outcome)
        done.systems.append(outcome)
        done.missing += told([found for found in run.missing if found.system == spec.system], run.lake.published)
    return done


def _mark_file(
    release: Release, marks: Marks, file: OpenFile, database: SqliteDatabase, wanted: pl.DataFrame, outcome: Outcome
) -> None:
    table, home = marks.table, release.lake.home
    database.hold_for_writing(table.spec)
    columns = [column for column in table.columns if column in file.database.shape(table.spec).present]
    ledger = read_ledger(home, table)
    found = _unchanged_rows(release, marks, file, wanted, ledger, outcome)
    if found is None:
        return
    is_counted = pl.col("releases").list.contains(release.name).alias("is_counted")
    rows = (
        found.join(wanted, on=table.key)
        .with_columns(is_counted)
        .with_columns(
            (marks.values[column] if column in columns else pl.col(column)).alias(f"written_{column}")
            for column in table.columns
        )
    )
    is_other = pl.any_horizontal(pl.col(f"written_{column}").ne_missing(pl.col(column)) for column in columns)
    outcome.already += rows.filter(~is_other).height
    rows = rows.filter(is_other)
    if rows.is_empty():
        return
    entries = rows.select(
        pl.lit(file.label).alias("source_file"),
        table.key,
        pl.lit(release.name).alias("release"),
        *(pl.col(f"written_{column}").alias(column) for column in table.columns),
        *(pl.col(f"own_{column}").alias(f"before_{column}") for column in table.columns),
        pl.when(pl.col("is_exported") & ~pl.col("is_counted"))
        .then(pl.concat_list("releases", pl.lit(release.name)))
        .otherwise("releases")
        .alias("releases"),
        pl.lit(True).alias("is_under_way"),
        *(pl.col(column).alias(f"replaced_{column}") for column in table.columns),
        pl.col("releases").alias("replaced_releases"),
    ).cast(table.schema)
    kept = ledger.join(entries, on=["source_file", table.key], how="anti")
    # The ledger first: without it, what a source has committed would be read as its own.
    save_ledger(home, table, pl.concat([kept, entries]))
    database.update_rows(
        table.spec, rows.select("source_rowid", *(pl.col(f"written_{column}").alias(column) for column in columns))
    )
    save_ledger(home, table, pl.concat([kept, settled(entries)]))
    outcome.written += rows.height


def _unchanged_rows(
    release: Release, marks: Marks, file: OpenFile, wanted: pl.DataFrame, ledger: pl.DataFrame, outcome: Outcome
) -> pl.DataFrame | None:
    """The wanted rows as the source holds them now, if they are as we read them; read in the transaction that writes."""
    table, spec = marks.table, marks.table.spec
    narrow = [table.key, "source_rowid", *table.columns, *(f"own_{column}" for column in table.columns), "releases"]
    frames = []
    canonical = marks.canonical(release.lake)
    for paths in _groups(release.lake, table.asset):
        known = parquet.scan(paths).filter(pl.col("source_file") == file.label)
        known = known.join(wanted.lazy().select(table.key), on=table.key, how="semi").collect()
        if known.is_empty():
            continue
        read = known.select("source_rowid", *(pl.col(marks.stored_as.get(c, c)).alias(c) for c in spec.columns))
        same = [read.select(table.key).clear()]
        for batch in file.database.read_rows(spec, read["source_rowid"].to_list()):
            now = with_own_values(table, ledger, batch.filter(pl.col("problems").list.len() == 0), file.label)
            own = now.with_columns(pl.col(f"own_{column}").alias(column) for column in table.columns)
            as_read = canonical(own.select(batch.columns), file).join(
                read, on=read.columns, how="semi", nulls_equal=True
            )
            frames.append(now.join(as_read, on="source_rowid", how="semi").select(narrow))
            same.append(as_read.select(table.key))
        changed = known.join(pl.concat(same), on=table.key, how="anti").sort("event_date", table.key)
        outcome.changed_since += changed[table.key].to_list()
    return pl.concat(frames) if frames else None


def _groups(lake: Lake, asset: str) -> Iterator[list[Path]]:
    """The files of neighbouring days, about GROUP_ROWS rows together: asking the source costs something each time."""
    group: list[Path] = []
    rows = 0
    for partition, stored in lake.partitions(asset).items():
        group.append(lake.path(asset, partition))
        rows += stored.rows
        if rows >= GROUP_ROWS:
            yield group
            group, rows = [], 0
    if group:
        yield group
