"""A source table that is not kept by day, brought up to date: read whole when it looks different from when it was read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import polars as pl

from dagster_project.columns.instants import INSTANT, instant, repair_milliseconds
from dagster_project.contracts import TABLES
from dagster_project.contracts.checks import Schema
from dagster_project.contracts.source_table import TableSpec
from dagster_project.engines.stored_tables import store
from dagster_project.intake.account import Account
from dagster_project.intake.day_reading import beside, lost_rows, refusals, sampled
from dagster_project.intake.fingerprints import UNDATED, look, remembered
from dagster_project.intake.held_rows import PLACE, QUARANTINE, Held, HeldRows
from dagster_project.intake.open_files import OpenFile, order_of
from dagster_project.intake.quarantine import split
from dagster_project.intake.reading_again import ASKED, DIFFERENT, NEW, RETURNED, STALE
from dagster_project.intake.relations import resolve_copies
from dagster_project.intake.stage import Stage
from dagster_project.lake.lake import NO_DAY, Lake


@dataclass(frozen=True)
class WholeTable:
    """What became of the rows of a table: refused ones (as in quarantine__rows), and how many were left out and why."""

    refused: pl.DataFrame
    copies: int
    not_sampled: int


def as_it_is(rows: pl.DataFrame) -> pl.DataFrame:
    """What a table needs that has nothing to mend."""
    return rows


def read_whole_table(
    run: Stage,
    asset: str,
    spec: TableSpec,
    schema: Schema,
    is_united: bool,
    code: str,
    mend: Callable[[pl.DataFrame], pl.DataFrame] = as_it_is,
    settings: str = "",
) -> Account:
    """An optional table that is not kept by day: read whole when it looks different from when it was read.

    `is_united`: files are united by key, else each file's row stands for itself. `mend` makes a batch canonical. `code` is
    the identity of the module that says so; another one, or other `settings`, read everything again (G12).
    """
    lake, files, missing = run.lake, run.files(spec.system, spec.name), run.missing_of(spec.system)
    known = lake.catalog.sources.get(asset, {})
    seen = look(files, spec, run.fingerprint_cache)
    seen = remembered(seen, {UNDATED: {"files": known.get("files", {})}}, missing)
    stored = {
        "rules": f"{code} {TABLES[asset].digest} {settings}",
        "order": order_of(files, missing),
        "files": seen.as_stored(None),
    }
    is_returned = {*known.get("held", ())} - {*missing}
    if run.choice.full or is_returned or {key: known.get(key) for key in stored} != stored:
        if files or known.get("files"):
            why = NEW if not known else STALE if known.get("files") == stored["files"] else DIFFERENT
            run.planned[asset] = {None: ASKED if run.choice.full else RETURNED if is_returned else why}
        gone = sum(mark.rows for label, mark in seen.days.get(None, {}).items() if label in missing)
        held_rows = HeldRows(lake, asset, spec.key, missing)
        held = held_rows.on("", gone) if gone else None
        batches = (_canonical_rows(file, batch, mend) for file in files for batch in file.database.read_all(spec))
        labels = {file.label: file for file in files}
        found = WholeTable(TABLES[QUARANTINE].empty(), 0, 0)
        if not seen.rows(None):
            lake.drop(asset, "")
            held_rows.drop("")
        else:
            found = _store_united(lake, asset, spec, schema, list(batches), labels, held_rows, held, is_united)
        if found.refused.height:
            store(lake, QUARANTINE, [found.refused], f"{asset}/{NO_DAY}")
        else:
            lake.drop(QUARANTINE, f"{asset}/{NO_DAY}")
        copies, not_sampled = found.copies, found.not_sampled
        if held:
            unsampled = min(held.left_over, known.get("not_sampled", 0))
            copies, not_sampled = copies + held.left_over - unsampled, not_sampled + unsampled
        entry = {**stored, "read": seen.rows(None), "copies": copies, "not_sampled": not_sampled}
        lake.catalog.sources[asset] = entry | ({"held": sorted(missing)} if held else {})
    entry = lake.catalog.sources[asset]
    quarantined = lake.partitions(QUARANTINE).get(f"{asset}/{NO_DAY}")
    shapes = [file.database.shape(spec) for file in files]
    return Account(
        read=entry["read"],
        kept=lake.rows(asset),
        quarantined=quarantined.rows if quarantined else 0,
        copies=entry["copies"],
        not_sampled=entry.get("not_sampled", 0),
        missing_columns=sorted({column for shape in shapes for column in shape.missing}),
        unknown_columns=sorted({column for shape in shapes for column in shape.unknown}),
    )


def _store_united(
    lake: Lake,
    asset: str,
    spec: TableSpec,
    schema: Schema,
    frames: list[pl.DataFrame],
    files: Mapping[str, OpenFile],
    held_rows: HeldRows,
    held: Held | None,
    is_united: bool,
) -> WholeTable:
    """A table of several files: which of two rows counts may depend on a file that is missing (G13), so all are looked at together."""
    kept, bad = split(pl.concat(frames), schema) if frames else (pl.DataFrame(), None)
    moment = instant(pl.col("timestamp")) if "timestamp" in spec.columns else pl.lit(None, dtype=INSTANT)
    live = [held.live.with_columns(moment.alias("occurred_at"))] if held else []
    kept = beside(kept, live)
    copied = conflicts = kept.clear().with_columns(pl.lit(None, dtype=pl.List(pl.String)).alias("reasons"))
    if is_united:
        compared = list(live[0].columns) if live else None
        kept, conflicts, copied = resolve_copies(kept, spec, (), compared)
        held_rows.store("", copied.filter("is_of_kept"), lost_rows(conflicts, copied))
    parts = [refusals(part, spec, files) for part in (bad, conflicts) if part is not None]
    refused = pl.concat([*parts, *([held.refused] if held else [])]).sort(PLACE)
    kept, left_out = sampled(kept)
    store(lake, asset, [kept.sort(spec.key, "file_order", "source_rowid")])
    return WholeTable(refused, copied.height, left_out.height)


def _canonical_rows(file: OpenFile, batch: pl.DataFrame, mend: Callable[[pl.DataFrame], pl.DataFrame]) -> pl.DataFrame:
    """A batch of a table without days, made canonical; where it has a `timestamp`, its instant says which row is later."""
    times = [column for column in ("timestamp",) if column in batch.columns]
    moment = instant(pl.col("timestamp")) if times else pl.lit(None, dtype=INSTANT)
    return mend(repair_milliseconds(batch, times)).with_columns(
        pl.lit(file.label).alias("source_file"),
        pl.lit(file.order, dtype=pl.Int32).alias("file_order"),
        moment.alias("occurred_at"),
    )
