"""The tables about the work itself (`contracts/work.py`), kept under `<home>/runs` beside the log of runs, and read from there.

`checks` and `drift` are appended to by every run, failed ones too, and keep some hundred runs; `rows_read_daily` and
`review_daily` have a row a day and are written anew by a run that went well; `runs` and `publications` are the log itself. A
file that is gone or cannot be read is one without rows: the next run writes it again.
"""

import json
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import polars as pl

from dagster_project.contracts.table import Table
from dagster_project.contracts.work import (
    ALERTS,
    CHECKS,
    DRIFT,
    PUBLICATIONS,
    REVIEW_DAILY,
    ROWS_READ_DAILY,
    RUNS,
    WORK,
)
from dagster_project.intake.fingerprints import UNDATED
from dagster_project.intake.held_rows import QUARANTINE
from dagster_project.lake import parquet
from dagster_project.lake.lake import NO_DAY, Catalog
from dagster_project.run import run_log
from dagster_project.run.made import DRIFT_CLAIM

KEPT_RUNS = 400  # whose checks and drift are kept: more than a year of nightly runs
RULE_NUMBERS = re.compile(r" \((?:[A-Z]\d+(?:, )?)+\)")  # for developers; an analyst has no use for them
KEPT = (CHECKS.name, DRIFT.name, ALERTS.name, ROWS_READ_DAILY.name, REVIEW_DAILY.name)

# --- files -------------------------------------------------------------------------------------------------------


def place(home: Path, name: str) -> Path:
    return home / "runs" / f"{name}.parquet"


def kept(home: Path, name: str) -> pl.DataFrame:
    """A table as the last run left it. What an earlier version did not know is null."""
    file, table = place(home, name), WORK[name]
    if not file.exists():
        return table.empty()
    try:
        return fitted(table, parquet.read(file))
    except (pl.exceptions.PolarsError, OSError):
        return table.empty()


def unreadable(home: Path) -> list[Path]:
    """Files of the record that are there and cannot be read."""
    found = [place(home, name) for name in KEPT if place(home, name).exists() and not _is_readable(place(home, name))]
    log = run_log.place(home)
    is_torn = log.exists() and log.stat().st_size > 0 and not run_log.as_put_down(home)
    return [*([log] if is_torn else []), *found]


def _is_readable(file: Path) -> bool:
    try:
        parquet.scan(file).select(pl.len()).collect()
    except (pl.exceptions.PolarsError, OSError):
        return False
    return True


def put(home: Path, name: str, rows: pl.DataFrame) -> None:
    """Replace a table as a whole; who reads meanwhile has the old one."""
    file = place(home, name)
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f"{file.name}.tmp")
    fitted(WORK[name], rows).write_parquet(part, compression="zstd", compression_level=1)
    part.replace(file)


def fitted(table: Table, rows: pl.DataFrame) -> pl.DataFrame:
    """The contract's columns and types."""
    return rows.select(
        (pl.col(name) if name in rows.columns else pl.lit(None)).cast(dtype).alias(name)
        for name, dtype in table.polars_schema.items()
    )


def _rows(table: Table, rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Few rows, with what a table knows of them."""
    found = [{name: row.get(name) for name in table.columns} for row in rows]
    return pl.DataFrame(found, schema=table.polars_schema, strict=False)


# --- what a run found --------------------------------------------------------------------------------------------


def put_found(
    home: Path,
    run_id: str,
    started: datetime,
    checks: Iterable[Any],
    drift: Iterable[Mapping[str, Any]],
    alerts: Iterable[Mapping[str, Any]] = (),
) -> None:
    """The checks, the drift and the alerts of a run, beside those of the runs before it."""
    for table, rows in _found(run_id, started, checks, drift, alerts).items():
        put(home, table.name, _of_kept_runs(pl.concat([kept(home, table.name), rows])))


def _found(
    run_id: str,
    started: datetime,
    checks: Iterable[Any],
    drift: Iterable[Mapping[str, Any]],
    alerts: Iterable[Mapping[str, Any]],
) -> dict[Table, pl.DataFrame]:
    who = {"run_id": run_id, "started_at": started}
    found_checks = (
        {
            **who,
            "table": check.table,
            "claim": check.claim,
            "says": RULE_NUMBERS.sub("", check.says),
            "is_blocking": check.blocks,
            "holds": check.holds,
            "is_unchanged": check.is_unchanged,
            "offending_count": check.offending_rows,
            "found": _json(check.found) if check.found else None,
            "first_rows": _json(check.first) if check.first else None,
        }
        for check in checks
    )
    found_drift = (
        {**who, **item, "row_count": item.get("rows"), "is_new": item["new"], "first_seen_at": item["first_seen_at"]}
        for item in drift
    )
    found_alerts = ({**who, **alert} for alert in alerts)
    return {
        CHECKS: _rows(CHECKS, found_checks),
        DRIFT: _rows(DRIFT, found_drift),
        ALERTS: _rows(ALERTS, found_alerts),
    }


def _json(value: Any) -> str:
    return json.dumps(value, default=str, ensure_ascii=False).encode(errors="replace").decode()


def _of_kept_runs(rows: pl.DataFrame) -> pl.DataFrame:
    newest = rows["started_at"].unique().sort(descending=True).head(KEPT_RUNS)
    return rows if newest.len() < KEPT_RUNS else rows.filter(pl.col("started_at") >= newest.min())


def drift_key(item: Mapping[str, Any]) -> tuple[str, ...]:
    return (item["table"], item["kind"], item["name"])


def drift_of(home: Path, run_id: str) -> dict[tuple[str, ...], datetime]:
    """What a run found, and since when every run had found it."""
    rows = kept(home, DRIFT.name).filter(pl.col("run_id") == run_id)
    return {drift_key(row): row["first_seen_at"] for row in rows.iter_rows(named=True)}


def failed_checks(home: Path, run_id: str) -> list[dict[str, Any]]:
    """The claims that did not hold in a run, but for those about drift, which has a table of its own."""
    rows = kept(home, CHECKS.name).filter(
        (pl.col("run_id") == run_id) & ~pl.col("holds") & (pl.col("claim") != DRIFT_CLAIM)
    )
    return [
        {
            **{name: row[name] for name in ("table", "claim", "says")},
            "blocks": row["is_blocking"],
            "offending_rows": row["offending_count"],
            "found": json.loads(row["found"] or "{}"),
            "first": json.loads(row["first_rows"] or "[]"),
        }
        for row in rows.iter_rows(named=True)
    ]


# --- rows by day -------------------------------------------------------------------------------------------------


def rows_read_daily(catalog: Catalog) -> pl.DataFrame:
    """Where the rows of every source table went, by day, as the lake's own account of them has it."""
    found = []
    for table, entry in catalog.sources.items():
        days = entry["days"] if "days" in entry else {UNDATED: _whole(catalog, table, entry)}
        for day, account in days.items():
            found.append(
                {
                    "system": table.removeprefix("raw_").partition("__")[0],
                    "table": table,
                    "event_date": None if day == UNDATED else date.fromisoformat(day),
                    "read_count": account.get("read", 0),
                    "kept_count": account["kept"],
                    "quarantined_count": account["quarantined"],
                    "copy_count": account["copies"],
                    "not_sampled_count": account.get("not_sampled", 0),
                }
            )
    return _rows(ROWS_READ_DAILY, found).sort("table", "event_date", nulls_last=True)


def _whole(catalog: Catalog, table: str, entry: Mapping[str, Any]) -> dict[str, int]:
    """A table that is not kept by day."""
    refused = catalog.tables.get(QUARANTINE, {}).get(f"{table}/{NO_DAY}")
    rows = sum(file.rows for file in catalog.tables.get(table, {}).values())
    return {**entry, "kept": rows, "quarantined": refused.rows if refused else 0, "copies": entry.get("copies", 0)}


def with_waiting(before: pl.DataFrame, today: date, waiting: pl.DataFrame, decided: pl.DataFrame) -> pl.DataFrame:
    """The days of the queues: `waiting` is what waits now, `decided` what people decided on which day, of all days."""
    told = before.filter(pl.col("waiting_count").is_not_null() & (pl.col("date") != today)).drop("decided_count")
    now = waiting.with_columns(pl.lit(today).alias("date"))
    days = fitted(REVIEW_DAILY, pl.concat([told, now.select(told.columns)], how="vertical_relaxed")).drop(
        "decided_count"
    )
    found = days.join(decided, on=["date", "queue"], how="full", coalesce=True)
    return fitted(REVIEW_DAILY, found.with_columns(pl.col("decided_count").fill_null(0))).sort("date", "queue")


# --- the log as tables -------------------------------------------------------------------------------------------


def runs_table(entries: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    return _rows(RUNS, (_as_row(entry) for entry in entries)).sort("started_at", "run_id")


def publications_table(entries: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Of two runs that say they made the same one the later did: a lake was removed, and its numbers began anew."""
    made = runs_table(entry for entry in entries if entry.get("outcome") == "published").drop_nulls("publication")
    rows = made.with_columns(pl.col("ended_at").alias("published_at")).drop_nulls("published_at")
    return fitted(PUBLICATIONS, rows).unique("publication", keep="last", maintain_order=True).sort("publication")


def _as_row(entry: Mapping[str, Any]) -> dict[str, Any]:
    started, ended = _moment(entry.get("started")), _moment(entry.get("finished"))
    first, last = entry.get("days") or (None, None)
    counts = {"read": "read_count", "kept": "kept_count", "quarantined": "quarantined_count", "copies": "copy_count"}
    counts |= {"not_sampled": "not_sampled_count", "waiting": "waiting_count"}
    counts |= {"days_read": "days_read_count", "days_changed": "days_changed_count"}
    return {
        **entry,
        "run_id": entry["run"],
        "started_at": started,
        "ended_at": ended,
        "duration_seconds": max(0.0, (ended - started).total_seconds()) if started and ended else None,
        "as_of": _moment(entry.get("as_of")),
        "is_full": entry.get("full"),
        "asked_from": _day(first),
        "asked_to": _day(last),
        **{name: entry.get(key) for key, name in counts.items()},
    }


def _moment(said: Any) -> datetime | None:
    found = datetime.fromisoformat(said) if isinstance(said, str) else said
    return found.astimezone(UTC) if found else None


def _day(said: Any) -> date | None:
    return date.fromisoformat(said) if isinstance(said, str) else said


# --- all of them -------------------------------------------------------------------------------------------------


def work_tables(
    home: Path,
    entry: Mapping[str, Any] | None = None,
    found: tuple[Iterable[Any], Iterable[Mapping[str, Any]], Iterable[Mapping[str, Any]]] = ((), (), ()),
    daily: Mapping[str, pl.DataFrame] | None = None,
) -> dict[str, pl.DataFrame]:
    """Every table about the work by its name, each to its contract. With the run that is about to publish: its `entry` as it
    stands, the checks, drift and alerts it `found`, and the tables by day as it leaves them."""
    entries = [run for run in run_log.runs(home, is_mine=True) if entry is None or run["run"] != entry["run"]]
    entries += [entry] if entry else []
    tables = {name: kept(home, name) for name in KEPT} | dict(daily or {})
    if entry:
        new = _found(entry["run"], entry["started"], *found)
        for table, rows in new.items():
            tables[table.name] = _of_kept_runs(pl.concat([tables[table.name], rows]))
    return {RUNS.name: runs_table(entries), PUBLICATIONS.name: publications_table(entries), **tables}
