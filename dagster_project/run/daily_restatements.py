"""The log of restated days: which counts of a whole day were published otherwise before, and why. Of AI sessions, whose days are
frozen one day, `systems/sessions/restatements.py` tells.

The daily tables are compared with what was published of them, which are some rows a day; means and rates follow from the counts,
and weights change with every day that passes. Nothing here reads a clock, so a second run adds nothing. The log is a part of the
state, `state/daily_restatements.jsonl`, which only grows and is written with the publication.
"""

import hashlib
import json
from collections.abc import Mapping
from datetime import date, datetime
from pathlib import Path

import polars as pl

from dagster_project.code_identity import code_identity
from dagster_project.contracts import TABLES
from dagster_project.engines import queries, reading
from dagster_project.engines.stored_tables import store
from dagster_project.errors import GristmillError
from dagster_project.lake import parquet
from dagster_project.lake.lake import PART, Lake, StoredFile
from dagster_project.run.made import Made
from dagster_project.run.mill_run import MillRun

TABLE, FILE = "metric__daily_restatements", "daily_restatements.jsonl"
REVIEWS = "core__reviews"
DAY = "event_date="


def watched_tables() -> dict[str, str]:
    """Daily table -> the system whose days it counts."""
    return {name: table.days_of for name, table in TABLES.items() if table.days_of}


def make_daily_restatements(run: MillRun) -> list[Made]:
    """The log, with what this run restates."""
    lake = run.lake
    log, new = read_log(lake.home), TABLES[TABLE].empty()
    lake.catalog.inputs[TABLE] = identity = _rules()
    if not run.is_in_the_past:
        is_other_rule = lake.published.inputs.get(TABLE) not in (None, identity)
        new = pl.concat(
            [new, *(_restated(run, table, system, is_other_rule) for table, system in watched_tables().items())]
        )
    new = new.with_columns(pl.int_range(log.height + 1, log.height + 1 + pl.len(), dtype=pl.Int64).alias("entry"))
    store(lake, TABLE, [pl.concat([log, new])])
    if new.height:
        run.state_moves.append((_staged(lake, new), _log(lake.home)))
    return [Made(TABLE, new.is_empty(), {"new_entries": new.height})]


def _restated(run: MillRun, table: str, system: str, is_other_rule: bool) -> pl.DataFrame:
    """Counts of whole days that were published otherwise. A day that as_of cut short is not restated, it goes on."""
    lake, published = run.lake, run.lake.published
    before, empty = published.tables.get(table, {}).get(""), TABLES[TABLE].empty()
    if before is None or published.as_of is None or lake.versions(table) == [("", before.version)]:
        return empty
    previous = datetime.fromisoformat(published.as_of)
    old, new = parquet.read(lake.folder / table / PART), reading.read(lake, table)
    contract = TABLES[table]
    key = ["event_date", *(["domain"] if "domain" in contract.columns else [])]
    counts = [
        name
        for name, dtype in contract.polars_schema.items()
        if dtype == pl.Int64 and name not in contract.passing and name in old.columns
    ]
    is_whole = pl.col("event_date") < min(previous.date(), run.as_of.date())
    sides = [
        rows.filter(is_whole).select(*key, *counts).unpivot(index=key, variable_name="column", value_name=name)
        for name, rows in (("old", old), ("new", new))
    ]
    both = sides[0].join(sides[1], on=[*key, "column"], how="full", coalesce=True)
    changes = both.filter(pl.col("old").fill_null(0) != pl.col("new").fill_null(0)).sort(*key, "column")
    if changes.is_empty():
        return empty
    days = changes["event_date"].unique().sort().to_list()
    why = {day: _reason(lake, system, day, is_other_rule) for day in days}
    return changes.select(
        pl.lit(0, dtype=pl.Int64).alias("entry"),
        pl.lit(run.as_of).cast(pl.Datetime("us", "UTC")).alias("restated_as_of"),
        pl.lit(previous).cast(pl.Datetime("us", "UTC")).alias("previous_as_of"),
        pl.lit(table).alias("metric"),
        pl.col("event_date").alias("date"),
        (pl.col("domain") if "domain" in key else pl.lit(None, dtype=pl.String)).alias("domain"),
        "column",
        pl.col("old").cast(pl.String).alias("old_value"),
        pl.col("new").cast(pl.String).alias("new_value"),
        pl.col("event_date").replace_strict(why, return_dtype=pl.String).alias("why"),
    )


def _reason(lake: Lake, system: str, day: date, is_other_rule: bool) -> str:
    """What became of the source's rows of the day; where nothing did, what comes from elsewhere decides otherwise."""
    before, now = (_rows_of(tables, system, day) for tables in (lake.published.tables, lake.catalog.tables))
    if before == now:
        return "rules" if is_other_rule or not _is_anything_else_new(lake, system) else "other_days"
    counted = [sum(file.rows for file in files.values()) for files in (before, now)]
    what = "changed_rows" if counted[0] == counted[1] else "new_rows" if counted[0] < counted[1] else "vanished_rows"
    return f"{what}+rules" if is_other_rule else what


def _rows_of(tables: Mapping[str, Mapping[str, StoredFile]], system: str, day: date | None) -> dict[str, StoredFile]:
    """The files that hold a system's rows of a day, or of any day."""
    return {
        f"{name}/{partition}": file
        for name, files in tables.items()
        if name.startswith(f"raw_{system}__")
        for partition, file in files.items()
        if partition == f"{DAY}{day}" or (day is None and partition.startswith(DAY))
    }


def _is_anything_else_new(lake: Lake, system: str) -> bool:
    """A row of another day, one that as_of has reached, or a review."""
    published = lake.published
    return (
        _rows_of(published.tables, system, None) != _rows_of(lake.catalog.tables, system, None)
        or published.as_of != lake.catalog.as_of
        or published.tables.get(REVIEWS) != lake.catalog.tables.get(REVIEWS)
    )


def _rules() -> str:
    """Identity of what decides about rows: another one, and a figure that changed may have changed for that alone."""
    names = sorted(path.stem for layer in ("core", "metric") for path in (queries.SQL_FOLDER / layer).glob("*.sql"))
    code = [code_identity(f"dagster_project.systems.{system}.intake") for system in watched_tables().values()]
    told = [*(queries.query(name).hash for name in names), *code]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]


# --- the log -----------------------------------------------------------------------------------------------------


def _log(home: Path) -> Path:
    return home / "state" / FILE


def read_log(home: Path) -> pl.DataFrame:
    """Every entry in the order it was written."""
    file, schema = _log(home), TABLES[TABLE].polars_schema
    if not file.exists():
        return TABLES[TABLE].empty()
    try:
        entries = [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]
        rows = pl.DataFrame(entries, schema=dict.fromkeys([name for name in schema if name != "entry"], pl.String))
        return rows.with_columns(
            pl.col("restated_as_of", "previous_as_of").str.to_datetime(time_unit="us", time_zone="UTC"),
            pl.col("date").str.to_date(),
            pl.int_range(1, pl.len() + 1, dtype=pl.Int64).alias("entry"),
        ).select(*schema)
    except (ValueError, TypeError, pl.exceptions.PolarsError) as error:
        raise GristmillError(f"{file} is broken: {error}") from error


def _staged(lake: Lake, new: pl.DataFrame) -> Path:
    """The log as it is and the new entries behind it."""
    file = lake.staging / "state" / FILE
    file.parent.mkdir(parents=True, exist_ok=True)
    told = (
        {
            name: value.isoformat() if isinstance(value, date) else value
            for name, value in entry.items()
            if name != "entry"
        }
        for entry in new.iter_rows(named=True)
    )
    lines = [json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n" for entry in told]
    held = _log(lake.home)
    file.write_bytes((held.read_bytes() if held.exists() else b"") + "".join(lines).encode())
    return file
