"""Alerts: a day that is unusual is found, one that may well be chance is not, and an incident is told once."""

import random
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dagster_project.contracts.work import ALERTS
from dagster_project.lookups import unusual
from dagster_project.lookups.alerts import Series, alerts, told
from dagster_project.lookups.unusual import Unusual

OVER = date(2026, 3, 2)  # a Monday: the last day that is over is a Sunday
LAST = OVER - timedelta(days=1)


def daily(count: Callable[[int, date], int], days: int = 70, last: date = LAST) -> dict[date, int]:
    """Counts of days up to the last, by how many days before it they are."""
    return {last - timedelta(days=back): count(back, last - timedelta(days=back)) for back in range(days)}


def week(back: int, day: date) -> int:
    """A hundred on weekdays, twenty on weekends, and a seventh more every week towards the end."""
    return round((20 if day.weekday() >= 5 else 100) * 1.02 ** (-back / 7) * 3)


# --- a series --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("back", range(7))
def test_weekdays_and_growth_are_not_unusual(back: int) -> None:
    counts = daily(week, last=LAST - timedelta(days=back))
    assert unusual.volume(counts, max(counts)) is None


@pytest.mark.parametrize("factor", [0, 0.3, 3])
def test_far_more_or_fewer_rows_than_on_such_a_weekday(factor: float) -> None:
    counts = daily(lambda back, day: round(week(back, day) * (factor if back == 0 else 1)))
    found = unusual.volume(counts, LAST)
    assert found is not None
    assert found.value == round(60 * factor)
    assert found.usual == pytest.approx(60, rel=0.1)


def test_one_bad_day_does_not_make_the_next_one_usual() -> None:
    counts = daily(lambda back, day: 0 if back in (0, 1, 8) else week(back, day))
    assert unusual.volume(counts, LAST)
    back_again = daily(lambda back, day: 0 if back in (1, 2, 8) else week(back, day))
    assert unusual.volume(back_again, LAST) is None


def test_the_first_four_weeks_are_silent_and_so_are_sources_of_a_few_rows() -> None:
    assert unusual.volume(daily(lambda back, _: 0 if back == 0 else 100, days=28), LAST) is None
    assert unusual.volume(daily(lambda back, _: 0 if back == 0 else 100, days=40), LAST)
    assert unusual.volume(daily(lambda back, _: 0 if back == 0 else 9), LAST) is None
    assert unusual.share({}, LAST) is None


def test_a_share_that_is_far_higher() -> None:
    """Alone, or with the day before; lower is nobody's trouble, and a small change nothing one would act on."""

    def last(*parts: int) -> Unusual | None:
        days = daily(lambda back, _: parts[back] if back < len(parts) else 20 + back % 3)
        return unusual.share({day: (part, 100) for day, part in days.items()}, LAST)

    assert last() is None
    found = last(60)
    assert found is not None
    assert (found.value, round(found.usual, 2), round(found.spreads)) == (0.6, 0.21, 8)
    assert last(2) is None
    assert last(38) is None
    assert last(40, 40)


def test_a_share_of_few_rows_may_be_anything() -> None:
    days = daily(lambda back, _: 1 if back == 0 else 0)
    assert unusual.share({day: (part, 3) for day, part in days.items()}, LAST) is None


# --- alerts ----------------------------------------------------------------------------------------------------------


def known(**more: Any) -> dict[str, Series]:
    read = daily(week)
    whole = Series(
        read, {day: (0, rows) for day, rows in read.items()}, {day: (rows // 5, rows) for day, rows in read.items()}
    )
    for name, parts in more.items():
        getattr(whole, name).update(parts)
    return {"feedback": whole}


def said(found: dict[str, Series], *drift: dict[str, Any]) -> list[tuple[str, str]]:
    return [(alert["kind"], alert["says"]) for alert in alerts(found, drift, OVER)]


def test_what_is_told() -> None:
    assert said(known()) == []
    assert said(known(read={LAST: 400})) == [
        ("volume", "feedback: 400 rows, where 58 were to be expected on 2026-03-01"),
    ]
    assert said(known(refused={LAST: (50, 60)})) == [
        ("refused", "feedback: 83.3% of the rows refused, usually 0.1% on 2026-03-01")
    ]
    assert said(known(negative={LAST: (50, 60)})) == [
        ("negative", "feedback: 83.3% of what users say is negative, usually 19.9% on 2026-03-01")
    ]


def test_a_source_that_is_small_and_silent() -> None:
    few = Series(daily(lambda back, _: 0 if back < 3 else 2))
    assert said({"sessions": few}) == [
        ("silence", "sessions: no rows since 2026-02-26, for 3 days; until then never for more than 0")
    ]


def test_new_words_count_by_their_rows_and_new_columns_always() -> None:
    word = {"table": "raw_feedback__entries", "kind": "unknown word", "name": "domain=law", "new": True, "share": 0.01}
    column = {"table": "raw_feedback__entries", "kind": "unknown column", "name": "mood", "new": True}
    assert said(known(), word | {"rows": 9}, word | {"rows": 90, "new": False}) == []
    assert said(known(), word | {"rows": 90}, column) == [
        ("vocabulary", "raw_feedback__entries: unknown word domain=law in 90 rows, which no run had seen before"),
        ("vocabulary", "raw_feedback__entries: unknown column mood, which no run had seen before"),
    ]


def test_an_incident_is_told_once() -> None:
    def alert(day: date, kind: str = "volume") -> dict[str, Any]:
        return {"event_date": day, "system": "feedback", "kind": kind, "value": 0.0, "usual": 9.0, "says": f"{day}"}

    before = pl.DataFrame([alert(LAST - timedelta(days=9))], schema=ALERTS.polars_schema, strict=False)
    found = [alert(LAST - timedelta(days=1)), alert(LAST), alert(LAST, "refused")]
    assert [one["is_new"] for one in told(found, before)] == [True, False, True]
    again = pl.DataFrame(told(found, before), schema=ALERTS.polars_schema, strict=False)
    assert [one["is_new"] for one in told(found, again)] == [False, False, False]


@pytest.mark.slow
def test_incidents_of_a_year_are_found_and_chance_is_not() -> None:
    """Twelve incidents in a made-up year of a series with weekdays, growth and noise: found within two days, nothing else is."""
    chance = random.Random(20260301)
    days = [date(2025, 1, 1) + timedelta(days=number) for number in range(365)]
    level = [120 * (1 + number / 365) * (0.5 if day.weekday() >= 5 else 1) for number, day in enumerate(days)]
    counts = {
        day: max(0, round(chance.gauss(mean, mean**0.5 + 0.08 * mean))) for day, mean in zip(days, level, strict=True)
    }
    starts = days[60:350:26]
    for start in starts:
        factor = chance.choice((0.0, 0.3, 3.0))
        for day in (start, start + timedelta(days=1)):
            counts[day] = round(counts[day] * factor)
    found = {day for day in days[28:] if unusual.volume({d: n for d, n in counts.items() if d <= day}, day)}
    in_time = [start for start in starts if {start, start + timedelta(days=1)} & found]
    chance_days = [day for day in found if not any(0 <= (day - start).days <= 2 for start in starts)]
    assert len(starts) == 12
    assert len(in_time) >= 10
    assert len(chance_days) <= 1


def test_the_contract_knows_every_kind(tmp_path: Path) -> None:
    assert {*ALERTS.meanings["kind"].words} == {"volume", "refused", "negative", "vocabulary", "silence"}
