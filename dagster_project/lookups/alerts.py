"""What is unusual about the last days of each source: volume, refused and negative shares, words nobody knows, silence.

From the daily tables of the record and of satisfaction alone (`unusual.py` judges a day of a series). An incident is told once:
what goes on within a week of the last alert of its kind is not new.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import partial
from itertools import pairwise
from typing import Any

import polars as pl

from dagster_project.lookups import unusual

LOOKED_AT = 2  # days: the last one that is over, and the one before it, of which rows may have come late
SAME_INCIDENT = timedelta(days=7)
FEW_ROWS, SHARE_OF_A_DAY = 10, 0.05  # fewer rows with a new word are a slip of the pen
SILENT_DAYS, KNOWN_DAYS = 3, 28
Parts = dict[date, tuple[int, int]]


@dataclass
class Series:
    """What one system had on each day that is over."""

    read: dict[date, int] = field(default_factory=dict)
    refused: Parts = field(default_factory=dict)
    negative: Parts = field(default_factory=dict)


def series(rows: pl.DataFrame, signals: pl.DataFrame, over: date) -> dict[str, Series]:
    """By system, of `rows_read_daily` and the daily counts of signals; days from `over` on are not over."""
    found: dict[str, Series] = {}
    daily = rows.filter(pl.col("event_date") < over).group_by("system", "event_date")
    for system, day, read, bad in daily.agg(pl.sum("read_count", "quarantined_count")).iter_rows():
        mine = found.setdefault(system, Series())
        mine.read[day], mine.refused[day] = read, (bad, read)
    said = signals.filter((pl.col("event_date") < over) & pl.col("system").is_in(list(found)))
    for system, day, bad, all_ in said.select("system", "event_date", "negative_count", "signal_count").iter_rows():
        found[system].negative[day] = (bad, all_)
    return found


def alerts(by_system: Mapping[str, Series], drift: Iterable[Mapping[str, Any]], over: date) -> list[dict[str, Any]]:
    """All that is unusual, as rows of the record but for which run found it."""
    found = [alert for system, known in sorted(by_system.items()) for alert in _of_system(system, known, over)]
    return [*found, *_new_words(by_system, drift, over)]


def _of_system(system: str, known: Series, over: date) -> Iterator[dict[str, Any]]:
    kinds: dict[str, tuple[Callable[[date], unusual.Unusual | None], str]] = {
        "volume": (partial(unusual.volume, known.read), "{value:,.0f} rows, where {usual:,.0f} were to be expected"),
        "refused": (partial(unusual.share, known.refused), "{value:.1%} of the rows refused, usually {usual:.1%}"),
        "negative": (
            partial(unusual.share, known.negative),
            "{value:.1%} of what users say is negative, usually {usual:.1%}",
        ),
    }
    for kind, (judge, words) in kinds.items():
        for day in (over - timedelta(days=back) for back in range(LOOKED_AT, 0, -1)):
            if known.read and (odd := judge(day)):
                says = f"{system}: {words.format(value=odd.value, usual=odd.usual)} on {day}"
                yield {
                    "event_date": day,
                    "system": system,
                    "kind": kind,
                    "value": odd.value,
                    "usual": odd.usual,
                    "says": says,
                }
    for worry in silence(known.read, over):
        day = over - timedelta(days=1)
        yield {
            "event_date": day,
            "system": system,
            "kind": "silence",
            "value": 0.0,
            "usual": None,
            "says": f"{system}: {worry}",
        }


def silence(read: Mapping[date, int], over: date) -> list[str]:
    """No rows for longer than ever before, though the days went by."""
    days = sorted(day for day, rows in read.items() if rows)
    if not days or days[-1] - days[0] < timedelta(days=KNOWN_DAYS):
        return []
    longest = max((after - before).days for before, after in pairwise(days)) - 1
    silent = (over - days[-1]).days - 1
    if silent >= SILENT_DAYS and silent > longest:
        return [f"no rows since {days[-1]}, for {silent} days; until then never for more than {longest}"]
    return []


def _new_words(
    by_system: Mapping[str, Series], drift: Iterable[Mapping[str, Any]], over: date
) -> Iterator[dict[str, Any]]:
    """Columns the run before knew, or did not know, and words in so many rows that it is no slip of the pen."""
    for item in drift:
        system = item["table"].removeprefix("raw_").partition("__")[0]
        read = by_system.get(system, Series()).read
        if not item["new"] or len(read) < KNOWN_DAYS:
            continue
        a_day = sum(read.values()) / len(read)
        rows = item.get("rows")
        if rows is None or rows >= max(FEW_ROWS, SHARE_OF_A_DAY * a_day):
            of_rows = f" in {rows:,} rows" if rows is not None else ""
            says = f"{item['table']}: {item['kind']} {item['name']}{of_rows}, which no run had seen before"
            value = float(rows or 0)
            day = over - timedelta(days=1)
            yield {
                "event_date": day,
                "system": system,
                "kind": "vocabulary",
                "value": value,
                "usual": 0.0,
                "says": says,
            }


def told(found: Iterable[Mapping[str, Any]], before: pl.DataFrame) -> list[dict[str, Any]]:
    """The same, each with whether it is new: no alert of its kind and system was told within the week before."""
    last: dict[tuple[str, str], date] = {}
    for system, kind, day in before.select("system", "kind", "event_date").iter_rows():
        last[system, kind] = max(day, last.get((system, kind), day))
    rows = []
    for alert in sorted(found, key=lambda alert: alert["event_date"]):
        key = alert["system"], alert["kind"]
        earlier = last.get(key)
        is_words = alert["kind"] == "vocabulary"  # each is new once, by itself
        is_new = is_words or earlier is None or alert["event_date"] - earlier > SAME_INCIDENT
        rows.append({**alert, "is_new": is_new})
        last[key] = max(alert["event_date"], earlier or alert["event_date"])
    return rows
