"""How a home is doing: one verdict, a line for each system, the last run whoever started it. Reads only.

All figures are from the record of the work (`run/work_tables.py`). `wrong` is what somebody should look at, and nothing else: what
is always orange is not looked at.
"""

import shutil
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from statistics import median
from typing import Any

import polars as pl

from dagster_project.config import Config
from dagster_project.contracts import TABLES
from dagster_project.contracts.work import ALERTS, DRIFT, REVIEW_DAILY, ROWS_READ_DAILY
from dagster_project.errors import GristmillError
from dagster_project.lake.damage import wrong_files
from dagster_project.lake.lake import CATALOG, WAREHOUSE, Catalog
from dagster_project.lookups.alerts import LOOKED_AT, silence
from dagster_project.registry import DATED_SPECS
from dagster_project.run import work_tables
from dagster_project.run.missing_files import MissingFile, missing_files, told, with_missing_defaults
from dagster_project.run.run_log import GOOD, runs
from dagster_project.run.source_changes import changed_days

WEEK, USUAL_WEEKS, USUAL_DAYS, FEWEST_WEEKDAYS, FEWEST_DAYS = 7, 8, 28, 4, 7
FEW_ROWS = 10  # so few refused rows are no reason to worry
MUCH_REFUSED, REFUSED_ALL_AT_ONCE, TIMES_USUAL = 0.25, 0.1, 3
AN_HOUR = timedelta(hours=1)
FEWEST_RUNS, NIGHT_HOURS, LATE_HOURS, TIMES_LATE = 5, 20, 36, 2.5
MOST_MISSING_TABLES = 3


def status(config: Config) -> dict[str, Any]:
    """What is published, how each source is doing, what came of the last run, and `wrong`: what somebody should look at."""
    home = config.home
    catalog = Catalog.read(home / "lake" / CATALOG)
    history = runs(home)
    ended = [run for run in history if run["outcome"] != "running"]
    looked = next((run for run in reversed(ended) if run["outcome"] in GOOD and "drift_count" in run), None)
    missing = missing_files(with_missing_defaults(config, catalog), catalog)
    sources = _sources(config, catalog, missing, drift_of(config, looked))
    waiting, trouble = _waiting_days(config)
    wrong = [
        *_wrong_runs(ended, history),
        *trouble,
        *(f"{line}" for line in told(missing, catalog)),
        *(f"{source['system']}: {worry}" for source in sources for worry in source["worries"]),
        *_alerts(config, catalog),
        *_wrong_home(config, catalog, bool(history)),
    ]
    verdict = "nothing published" if not catalog.publication else "wrong" if wrong else "well"
    return {
        "home": str(home),
        "verdict": verdict,
        "exit_code": {"well": 0, "wrong": 1, "nothing published": 2}[verdict],
        "wrong": wrong,
        "publication": catalog.publication,
        "as_of": catalog.as_of,
        "release": catalog.release.get("name"),
        "release_is_behind": catalog.release.get("is_behind", False),
        "sources": sources,
        "last_run": history[-1] if history else None,
        "running": next((run for run in history if run["outcome"] == "running"), None),
        "last_ended_run": ended[-1] if ended else None,
        "drift": [item for source in sources for item in source["drift"]],
        "failed_checks": _failed_checks(config, looked if not ended or ended[-1]["outcome"] in GOOD else ended[-1]),
        "missing": told(missing, catalog),
        "waiting_days": waiting,
        "review": _review(config),
        "tables": [_table_status(catalog, table) for table in TABLES if catalog.tables.get(table)],
    }


# --- what is wrong -----------------------------------------------------------------------------------------------


def _wrong_runs(ended: Sequence[Mapping[str, Any]], history: Sequence[Mapping[str, Any]]) -> list[str]:
    """The last run, if it did not go well; and runs that no longer come, where they came every night."""
    wrong = []
    if ended and ended[-1]["outcome"] not in GOOD:
        last = ended[-1]
        times = 0
        for run in reversed(ended):
            if run["outcome"] in GOOD:
                break
            times += 1
        again = f" (none of the last {times} runs went well)" if times > 1 else ""
        wrong.append(f"the last run {_did(last)}{again}: {last['reason']}")
    starts = [datetime.fromisoformat(run["started"]) for run in history][-FEWEST_RUNS:]
    gaps = [(after - before) / AN_HOUR for before, after in pairwise(starts)]
    if len(starts) == FEWEST_RUNS and median(gaps) >= NIGHT_HOURS:
        since, usual = datetime.now(UTC) - starts[-1], median(gaps)
        if since / AN_HOUR > max(LATE_HOURS, TIMES_LATE * usual):
            wrong.append(
                f"no run for {since.days} days and {since.seconds // 3600} hours; they came every {usual:.0f} hours"
            )
    return wrong


def _did(run: Mapping[str, Any]) -> str:
    """`failed`, or `was stopped`; with who started it, if nobody sat before it."""
    did = run["outcome"] if run["outcome"] == "failed" else f"was {run['outcome']}"
    return f"({run['started_by']}) {did}" if run.get("started_by") not in (None, "command line") else did


def _wrong_home(config: Config, catalog: Catalog, has_history: bool) -> list[str]:
    home, wrong = config.home, []
    wrong += [f"{file} cannot be read; the next run writes it anew" for file in work_tables.unreadable(home)]
    if not catalog.publication:
        return wrong
    if gone := wrong_files(home / "lake", catalog.tables):
        names = ", ".join(f"{table}/{partition}".rstrip("/") for table, partition in gone[:MOST_MISSING_TABLES])
        more = f" and {len(gone) - MOST_MISSING_TABLES} more" if len(gone) > MOST_MISSING_TABLES else ""
        wrong.append(f"files of the lake are gone or cut short ({names}{more}): the next run makes them again")
    if not (home / WAREHOUSE).is_file():
        wrong.append(f"{home / WAREHOUSE} is gone: the next run makes it again")
    free = shutil.disk_usage(home).free // 2**20
    if free < config.min_free_mb:
        wrong.append(f"{home} has {free:,} MB free, and a run wants {config.min_free_mb:,} (min_free_mb)")
    return wrong


def _waiting_days(config: Config) -> tuple[list[str] | None, list[str]]:
    try:
        return [str(day) for day in changed_days(config, DATED_SPECS)], []
    except GristmillError as error:
        return None, [f"the sources cannot be looked at: {error}"]


# --- sources -----------------------------------------------------------------------------------------------------


def drift_of(config: Config, run: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """What the last run that went well found of drift, what was new to it first."""
    if run is None:
        return []
    rows = work_tables.kept(config.home, DRIFT.name).filter(pl.col("run_id") == run["run"])
    rows = rows.sort("is_new", pl.col("share").fill_null(1), "table", "name", descending=[True, True, False, False])
    return rows.rename({"is_new": "new", "row_count": "rows"}).drop("run_id", "started_at").rows(named=True)


def _sources(
    config: Config, catalog: Catalog, missing: Iterable[MissingFile], drift: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Each system the lake knows or the configuration names."""
    if not catalog.publication:
        return []
    rows = work_tables.kept(config.home, ROWS_READ_DAILY.name)
    rows = rows if rows.height else work_tables.rows_read_daily(catalog)  # the record was removed
    over = datetime.fromisoformat(str(catalog.as_of)).date()
    lines, gone = [], list(missing)
    for system in config.sources:
        mine = rows.filter(pl.col("system") == system)
        files = [str(found.file.path) for found in gone if found.system == system]
        if mine.is_empty() and not files:
            continue
        found = [dict(item) for item in drift if _system_of(item["table"]) == system]
        lines.append({**_source(system, mine, over), "missing": files, "drift": found})
    return lines


def _system_of(table: str) -> str:
    return table.removeprefix("raw_").partition("__")[0]


def _source(system: str, rows: pl.DataFrame, over: date) -> dict[str, Any]:
    """`over` is the first day that is not over: what is dated later waits, and says nothing yet."""
    days = (
        rows.filter(pl.col("event_date") < over).group_by("event_date").agg(pl.sum("read_count", "quarantined_count"))
    )
    read = dict(days.select("event_date", "read_count").filter(pl.col("read_count") > 0).iter_rows())
    refused = dict(days.select("event_date", "quarantined_count").iter_rows())
    sums = rows.select(pl.sum("read_count", "kept_count", "quarantined_count", "copy_count")).row(0, named=True)
    last = max(read, default=None)
    week = _shares(read, refused, over, WEEK)
    found = {
        "system": system,
        "last_day": None if last is None else str(last),
        "last_day_rows": read.get(last, 0) if last else 0,
        "usual_rows": usual_rows(read, last) if last else None,
        "read": sums["read_count"],
        "quarantined": sums["quarantined_count"],
        "copies": sums["copy_count"],
        "refused_share": round(sums["quarantined_count"] / max(1, sums["read_count"]), 6),
        "refused_share_of_the_week": week[0],
        "tables": [_table_line(table, mine) for (table,), mine in rows.group_by("table", maintain_order=True)],
    }
    return {**found, "worries": [*_much_refused(found, week), *silence(read, over)]}


def _table_line(table: Any, rows: pl.DataFrame) -> dict[str, Any]:
    sums = rows.select(pl.sum("read_count", "quarantined_count", "copy_count")).row(0)
    return {"table": table, **dict(zip(("read", "quarantined", "copies"), sums, strict=True))}


def usual_rows(read: Mapping[date, int], day: date) -> float | None:
    """What such a day had before: the median of the same weekday, or of the last weeks; None if there is too little to tell.

    Days without a row count, from the first day on: a median cares for neither a holiday nor one bad day.
    """
    first = min(read)
    same = [day - timedelta(weeks=back) for back in range(1, USUAL_WEEKS + 1)]
    same = [read.get(other, 0) for other in same if other >= first]
    if len(same) >= FEWEST_WEEKDAYS:
        return median(same)
    before = [day - timedelta(days=back) for back in range(1, USUAL_DAYS + 1)]
    before = [read.get(other, 0) for other in before if other >= first]
    return median(before) if len(before) >= FEWEST_DAYS else None


def _shares(
    read: Mapping[date, int], refused: Mapping[date, int], over: date, days: int
) -> tuple[float | None, int, float]:
    """Of the last days the share that was refused and how many rows that is; and the share of all days before."""
    start = over - timedelta(days=days)
    late = [day for day in read if day >= start]
    early = [day for day in read if day < start]
    bad = sum(refused[day] for day in late)
    share = round(bad / total, 6) if (total := sum(read[day] for day in late)) else None
    return share, bad, sum(refused[day] for day in early) / max(1, sum(read[day] for day in early))


def _much_refused(found: Mapping[str, Any], week: tuple[float | None, int, float]) -> list[str]:
    share, rows, before = week
    if found["quarantined"] >= FEW_ROWS and found["refused_share"] >= MUCH_REFUSED:
        return [f"{found['quarantined']:,} of {found['read']:,} rows are refused: `gristmill quarantine`"]
    if share is not None and rows >= FEW_ROWS and share >= max(REFUSED_ALL_AT_ONCE, TIMES_USUAL * before):
        return [
            f"{share:.1%} of the last {WEEK} days' rows are refused, before it was {before:.1%}: `gristmill quarantine`"
        ]
    return []


# --- the rest ----------------------------------------------------------------------------------------------------


def _failed_checks(config: Config, run: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    return work_tables.failed_checks(config.home, run["run"]) if run else []


def _alerts(config: Config, catalog: Catalog) -> list[str]:
    """What is unusual of the last days that are over; older ones are past."""
    if not catalog.as_of:
        return []
    since = datetime.fromisoformat(catalog.as_of).date() - timedelta(days=LOOKED_AT)
    rows = work_tables.kept(config.home, ALERTS.name).filter(pl.col("kind") != "silence")
    return rows.filter(pl.col("event_date") >= since)["says"].unique(maintain_order=True).to_list()


def _review(config: Config) -> list[dict[str, Any]]:
    """What waits for people, as of the last publication."""
    rows = work_tables.kept(config.home, REVIEW_DAILY.name).drop_nulls("waiting_count")
    rows = rows.filter(pl.col("date") == pl.col("date").max())
    return [
        {"queue": row["queue"], "waiting": row["waiting_count"], "oldest": row["oldest_waiting_date"]}
        for row in rows.iter_rows(named=True)
    ]


def _table_status(catalog: Catalog, table: str) -> dict[str, Any]:
    files = catalog.tables[table]
    days = sorted(p.removeprefix("event_date=") for p in files if p.startswith("event_date="))
    return {
        "table": table,
        "days": len(days) or None,
        "first_day": days[0] if days else None,
        "last_day": days[-1] if days else None,
        "rows": sum(file.rows for file in files.values()),
        "bytes": sum(file.bytes for file in files.values()),
    }
