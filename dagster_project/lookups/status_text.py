"""`gristmill status` for a person: the verdict first, then the last run, drift, tables and sources."""

from collections.abc import Iterator
from typing import Any

from dagster_project.run.record import FailedCheck, drift_lines

MOST_DRIFT = 20


def status_lines(found: dict[str, Any]) -> Iterator[str]:
    if not found["publication"]:
        yield f"nothing is published in {found['home']} yet: `gristmill run` comes first"
    else:
        behind = " (what it was made from has changed since)" if found["release_is_behind"] else ""
        published = f"publication {found['publication']}, as of {found['as_of']}, release {found['release']}{behind}"
        yield f"home {found['home']}, {published}"
    for line in found["wrong"]:
        yield f"wrong: {line}"
    yield from found["missing"]
    if found["last_run"]:
        yield _run_line(found["last_run"])
    for check in found["failed_checks"]:
        yield f"check: {FailedCheck(**check).line()}"
    drift = drift_lines(found["drift"], MOST_DRIFT)
    yield from (f"drift: {line}" for line in drift)
    if len(drift) < len(found["drift"]):
        yield f"drift: and {len(found['drift']) - len(drift)} more (--json has them all)"
    for table in found["tables"]:
        days = f"{table['days']} days {table['first_day']}..{table['last_day']}" if table["days"] else ""
        yield f"  {table['table']:<34} {table['rows']:>12,} rows {table['bytes'] / 2**20:>9.1f} MB  {days}".rstrip()
    for source in found["sources"]:
        sums = f"read {source['read']:,}, quarantined {source['quarantined']:,}, copies {source['copies']:,}"
        yield f"  {source['table']:<34} {sums}"
    waiting = found["waiting_days"]
    if waiting is not None:
        yield f"waiting at the source: {len(waiting)} days" + (f" ({waiting[0]}..{waiting[-1]})" if waiting else "")


def _run_line(run: dict[str, Any]) -> str:
    """Who started it, when, and what came of it."""
    outcome = run["outcome"].replace("_", " ")
    by = f" by {run['started_by']}" if run.get("started_by") else ""
    ended = f", ended {run['finished']}" if run.get("finished") else ""
    return f"last run: {outcome}, started {run['started']}{by}{ended}"
