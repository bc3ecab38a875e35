"""Telling the source what was exported (F10): the one place that writes to a source, and only when asked to.

What we wrote is in a ledger in the state, with what was there before. So a second write-back changes nothing, and a later
run reads our own values back as what they replaced: outputs do not depend on whether a write-back took place.
"""

import json
import os
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import polars as pl

from dagster_project.errors import GristmillError
from dagster_project.extract import SqliteDatabase
from dagster_project.intake import OpenFile
from dagster_project.mill_run import MillRun
from dagster_project.sources.feedback import ENTRIES, canonical

COLUMNS = ("processed", "training_format", "quality_weight", "processed_at")
ORDER = ("correction", "preference", "instruction", "unpaired")
LEDGER_SCHEMA = pl.Schema(
    {
        "source_file": pl.String, "feedback_id": pl.String, "release": pl.String,
        "processed": pl.Int64, "training_format": pl.String, "quality_weight": pl.Float64, "processed_at": pl.Float64,
        "before_processed": pl.Int64, "before_training_format": pl.String, "before_quality_weight": pl.Float64,
        "before_processed_at": pl.Float64,
    }
)  # fmt: skip


@dataclass
class WriteBack:
    """What a write-back did."""

    release: str
    written: int = 0
    already: int = 0
    changed_since: list[str] = field(default_factory=list)


def ledger_path(home: Path) -> Path:
    return home / "state" / "writeback_feedback.parquet"


def read_ledger(home: Path) -> pl.DataFrame:
    path = ledger_path(home)
    return pl.read_parquet(path) if path.exists() else pl.DataFrame(schema=LEDGER_SCHEMA)


def undo_own_writes(ledger: pl.DataFrame, rows: pl.DataFrame, file: OpenFile) -> pl.DataFrame:
    """Rows that still hold what we wrote get the source's own values back, and are marked."""
    ledger = ledger.filter(pl.col("source_file") == file.label)
    if ledger.is_empty():
        return rows.with_columns(pl.lit(False).alias("is_written_back"))
    ours = ledger.select(
        "feedback_id", *(pl.col(c).alias(f"our_{c}") for c in COLUMNS), *(f"before_{c}" for c in COLUMNS)
    )
    joined = rows.join(ours, on="feedback_id", how="left", maintain_order="left")
    is_ours = pl.col("our_processed").is_not_null() & pl.all_horizontal(
        pl.col(c).eq_missing(pl.col(f"our_{c}")) for c in COLUMNS
    )
    return joined.with_columns(is_ours.alias("is_written_back")).with_columns(
        pl.when("is_written_back").then(f"before_{c}").otherwise(c).alias(c) for c in COLUMNS
    ).select(*rows.columns, "is_written_back")  # fmt: skip


def write_back(run: MillRun, release: str | None) -> WriteBack:
    """Mark in the source what the release contains, in one transaction per file; rows changed since are left alone."""
    name = release or run.lake.published.release.get("name")
    if not name:
        raise GristmillError("nothing is published yet: there is no release to write back")
    manifest = run.lake.home / "exports" / name / "manifest.json"
    if not manifest.exists():
        raise GristmillError(f"there is no release {name!r} under {run.lake.home / 'exports'}")
    as_of = datetime.fromisoformat(json.loads(manifest.read_text(encoding="utf-8"))["as_of"])
    wanted = exported_rows(manifest.parent).with_columns(
        pl.lit(1, dtype=pl.Int64).alias("processed"), pl.lit(as_of.timestamp()).alias("processed_at")
    )
    outcome = WriteBack(name)
    for order, file in enumerate(run.config.sources["feedback"]):
        with SqliteDatabase(file.path, run.config.busy_timeout_seconds, writable=True) as database:
            open_file = OpenFile(file.label, order, database, {"rating_scale": file.rating_scale})
            _write_file(run, open_file, wanted, outcome)
    return outcome


def exported_rows(release: Path) -> pl.DataFrame:
    """Each feedback row the release contains, once: the first format it left in, and that record's weight."""
    frames = [
        pl.scan_ndjson(path, schema_overrides={"origin_ids": pl.List(pl.String)}).select(
            pl.col("origin_ids").alias("feedback_id"),
            pl.lit(ORDER.index(format)).alias("place"),
            pl.lit(format).alias("training_format"),
            pl.col("quality_weight").cast(pl.Float64),
        ).collect()
        for format in ORDER
        for path in sorted(release.glob(f"{format}_*.jsonl"))
    ]  # fmt: skip
    columns = ("feedback_id", "training_format", "quality_weight")
    if not frames:
        return pl.DataFrame(schema={name: LEDGER_SCHEMA[name] for name in columns})
    rows = pl.concat(frames).explode("feedback_id").sort("feedback_id", "place", "quality_weight")
    return rows.unique("feedback_id", keep="first", maintain_order=True).select(columns)


def _write_file(run: MillRun, file: OpenFile, wanted: pl.DataFrame, outcome: WriteBack) -> None:
    """Compare every row with what we read, in the transaction that writes."""
    file.database.hold_for_writing(ENTRIES)
    ledger = read_ledger(run.lake.home)
    updates = []
    for path in run.lake.files("raw_feedback__entries"):
        read = pl.read_parquet(path, hive_partitioning=False).filter(pl.col("source_file") == file.label)
        read = read.join(wanted.select("feedback_id"), on="feedback_id", how="semi")
        if read.is_empty():
            continue
        batches = [
            undo_own_writes(ledger, canonical(batch, file.options["rating_scale"]), file)
            for batch in file.database.read_rows(ENTRIES, read["source_rowid"].to_list())
        ]
        now = pl.concat(batches) if batches else read.clear()
        same = now.join(
            read.select("source_rowid", *ENTRIES.columns),
            on=["source_rowid", *ENTRIES.columns],
            how="semi",
            nulls_equal=True,
        )
        outcome.changed_since += sorted(set(read["feedback_id"]) - set(same["feedback_id"]))
        updates.append(
            same.select(
                "feedback_id", "source_rowid", "is_written_back", *(pl.col(c).alias(f"before_{c}") for c in COLUMNS)
            )
        )
    if not updates:
        return
    done = ledger.filter((pl.col("release") == outcome.release) & (pl.col("source_file") == file.label))
    rows = pl.concat(updates).join(wanted, on="feedback_id")
    is_done = pl.col("is_written_back") & pl.col("feedback_id").is_in(done["feedback_id"].implode())
    outcome.already += rows.filter(is_done).height
    rows = rows.filter(~is_done)
    if rows.is_empty():
        return
    entries = rows.with_columns(pl.lit(file.label).alias("source_file"), pl.lit(outcome.release).alias("release"))
    kept = ledger.join(entries, on=["source_file", "feedback_id"], how="anti")
    # The ledger first: if we die before the source commits, its rows still read as the source's own.
    _save_ledger(run.lake.home, pl.concat([kept, entries.select(LEDGER_SCHEMA.names())]))
    file.database.update_rows(ENTRIES, rows.select("source_rowid", *COLUMNS))
    outcome.written += rows.height


def _save_ledger(home: Path, ledger: pl.DataFrame) -> None:
    path = ledger_path(home)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".tmp")
    ledger.sort("source_file", "feedback_id").write_parquet(temporary)
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
    temporary.replace(path)
