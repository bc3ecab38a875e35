"""`gristmill status` and `gristmill runs` for a person: the verdict first, then what it rests on. One style of numbers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from dagster_project.run.record import Check, drift_words

MOST_NEW_DRIFT = 5  # told one by one, of all sources
MOST_REASON = 200
MINUTE, HOUR = 60, 3600


def status_lines(found: Mapping[str, Any], with_tables: bool = False) -> Iterator[str]:
    yield _verdict(found)
    yield from (f"  wrong: {line}" for line in found["wrong"])
    if found["sources"]:
        yield ""
        yield from aligned(
            [("source", "last day", "rows", "usual", "refused", "drift"), *map(_source_line, found["sources"])],
            "<<>>><",
        )
    new = [item for item in found["drift"] if item["new"]]
    yield from (f"  new drift: {item['table']}: {drift_words(item)}" for item in new[:MOST_NEW_DRIFT])
    if len(new) > MOST_NEW_DRIFT:
        yield f"  new drift: and {len(new) - MOST_NEW_DRIFT} more (--json has them all)"
    yield from (f"  warning: {Check(**check).line()}" for check in found["failed_checks"] if not check["blocks"])
    yield ""
    yield from _runs(found)
    waiting = found["waiting_days"]
    if waiting is not None:
        days = f" ({waiting[0]} to {waiting[-1]})" if len(waiting) > 1 else f" ({waiting[0]})" if waiting else ""
        yield f"at the sources  {len(waiting):,} {_plural('day', len(waiting))} not read yet{days}"
    if queues := [entry for entry in found["review"] if entry["waiting"]]:
        told = (f"{entry['queue']} {entry['waiting']:,} (oldest of {entry['oldest']})" for entry in queues)
        yield f"for people      {', '.join(told)}"
    if with_tables:
        yield ""
        yield from table_lines(found["tables"])


def table_lines(tables: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """What the lake holds."""
    rows = [
        (
            table["table"],
            f"{table['rows']:,}",
            f"{table['bytes'] / 2**20:,.1f}",
            f"{table['days']:,} days {table['first_day']} to {table['last_day']}" if table["days"] else "",
        )
        for table in tables
    ]
    yield from aligned([("table", "rows", "MB", "by day"), *rows], "<>><")


def _verdict(found: Mapping[str, Any]) -> str:
    if not found["publication"]:
        return f"nothing is published in {found['home']} yet: `gristmill run` comes first"
    number = len(found["wrong"])
    verdict = f"{number} {_plural('thing', number)} wrong" if number else "all is well"
    published = f"publication {found['publication']}, as of {_minute(found['as_of'])}"
    behind = " (what it was made from has changed since)" if found["release_is_behind"] else ""
    release = f"release {found['release']}{behind}" if found["release"] else "no release yet"
    return f"{verdict} in {found['home']}: {published}, {release}"


def _source_line(source: Mapping[str, Any]) -> Sequence[str]:
    usual, share = source["usual_rows"], source["refused_share_of_the_week"]
    known, new = len(source["drift"]), sum(item["new"] for item in source["drift"])
    drift = f"{new:,} new, {known - new:,} known" if new else f"none new, {known:,} known" if known else "none"
    return (
        source["system"],
        source["last_day"] or "never",
        f"{source['last_day_rows']:,}",
        "-" if usual is None else f"{usual:,.0f}",
        "-" if share is None else f"{share:.1%}",
        drift + ("  file missing" if source["missing"] else ""),
    )


def _runs(found: Mapping[str, Any]) -> Iterator[str]:
    if run := found["running"]:
        yield f"running         since {_minute(run['started'])}{_by(run)}, process {run.get('pid')} on {run.get('host')}"
    if run := found["last_ended_run"]:
        yield f"last run        {_outcome(run)} {_minute(run.get('finished') or run['started'])}{_by(run)}{_took(run)}"
    else:
        yield "last run        none"


def run_lines(history: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The history of runs, the newest first."""
    rows = [
        (
            _minute(run["started"], with_zone=False),
            duration(run) or "-",
            _outcome(run),
            "-" if run.get("publication") is None else f"{run['publication']:,}",
            "-" if not run.get("as_of") else _minute(run["as_of"], with_zone=False),
            run.get("started_by") or "-",
            _shortened(run.get("reason") or ""),
        )
        for run in history
    ]
    yield from aligned([("started (UTC)", "took", "outcome", "publ.", "as of", "by", "reason"), *rows], "<><><<<")


def _shortened(reason: str) -> str:
    return reason if len(reason) <= MOST_REASON else f"{reason[: MOST_REASON - 1]}…"


def _outcome(run: Mapping[str, Any]) -> str:
    return run["outcome"].replace("_", " ")


def _by(run: Mapping[str, Any]) -> str:
    return f", by {run['started_by']}" if run.get("started_by") else ""


def _took(run: Mapping[str, Any]) -> str:
    took = duration(run)
    return f", took {took}" if took else ""


def duration(run: Mapping[str, Any]) -> str | None:
    """How long a run took, as a person says it."""
    if not run.get("finished"):
        return None
    return seconds_said(
        (datetime.fromisoformat(run["finished"]) - datetime.fromisoformat(run["started"])).total_seconds()
    )


def seconds_said(seconds: float) -> str:
    if seconds < MINUTE:
        return f"{max(0.0, seconds):.1f} s"
    seconds = round(seconds)
    if seconds < HOUR:
        return f"{seconds // MINUTE:.0f} min {seconds % MINUTE:02.0f} s"
    return f"{seconds // HOUR:.0f} h {seconds % HOUR // MINUTE:02.0f} min"


def _minute(moment: str, with_zone: bool = True) -> str:
    found = datetime.fromisoformat(moment).astimezone(UTC)
    return f"{found:%Y-%m-%d %H:%M}{' UTC' if with_zone else ''}"


def _plural(noun: str, number: int) -> str:
    return noun if number == 1 else f"{noun}s"


def aligned(rows: Sequence[Sequence[str]], sides: str) -> Iterator[str]:
    """Rows of cells in columns; `sides` says of each whether it leans left or right."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(sides))]
    for row in rows:
        cells = (f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True))
        yield f"  {'  '.join(cells)}".rstrip()
