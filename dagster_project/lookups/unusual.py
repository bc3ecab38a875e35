"""Whether a day of a daily series is unusual, judged by the weeks before it and nothing else.

Robust, so that one bad day is no reason to find the next one normal: levels and spreads are medians. Aware of weekdays, and of growth,
because the level is that of the last two weeks. Silent before four weeks are known. A day is unusual if it could hardly be chance,
alone or with the day before, *and* the difference is large enough that somebody would do something about it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from statistics import median

FEWEST_DAYS, MOST_DAYS, LEVEL_DAYS = 28, 56, 14
ONE_DAY, TWO_DAYS = 5.0, 4.6  # spreads that a day, or two in a row together, may be off
SPREAD_OF_MAD = 1.4826  # of a normal distribution
FEW_ROWS = 20  # of sources with fewer a day nothing can be said by volume
LEAST_FACTOR = 1.5  # of a volume, up or down
LEAST_POINTS = 0.05  # of a share


@dataclass(frozen=True)
class Unusual:
    """A day that is, with what was to be expected."""

    value: float
    usual: float
    spreads: float


def volume(counts: Mapping[date, int], day: date) -> Unusual | None:
    """Whether far more or far fewer rows came that day than on such a day."""
    known = _history(counts, day)
    if known is None:
        return None
    weekdays, first = _weekdays(counts, known), min(each for each, count in counts.items() if count)
    expected = {each: _expected(counts, weekdays, first, each) for each in (*known, day - timedelta(days=1), day)}
    offs = {each: _off(counts.get(each, 0), usual) for each, usual in expected.items() if usual is not None}
    if day not in offs or (expected[day] or 0) < FEW_ROWS:
        return None
    usual, value = float(expected[day] or 0), counts.get(day, 0)
    spread = max(1.0, _spread([offs[each] for each in known if each in offs]))
    spreads = _judged(offs, day, spread)
    factor = max((value + 1) / (usual + 1), (usual + 1) / (value + 1))
    return Unusual(value, usual, spreads) if spreads and factor >= LEAST_FACTOR else None


def share(parts: Mapping[date, tuple[int, int]], day: date) -> Unusual | None:
    """Whether a share, `(part, of)` for each day, is far higher that day than it was. Lower is nobody's trouble."""
    known = _history({each: of for each, (_, of) in parts.items()}, day)
    if known is None or not parts.get(day, (0, 0))[1]:
        return None
    with_rows = [each for each in known if parts.get(each, (0, 0))[1]]
    if len(with_rows) < LEVEL_DAYS:
        return None
    total = sum(parts[each][1] for each in with_rows)
    usual = median(sorted(_angle(*parts[each]) for each in with_rows))
    pooled = math.asin(math.sqrt(sum(parts[each][0] for each in with_rows) / total))
    usual = max(usual, pooled) if usual < pooled * 1.5 else usual  # of few rows the median day has none at all
    days = [*with_rows, *(each for each in (day - timedelta(days=1), day) if parts.get(each, (0, 0))[1])]
    offs = {each: 2 * math.sqrt(parts[each][1] + 0.5) * (_angle(*parts[each]) - usual) for each in days}
    spread = max(1.0, _spread([offs[each] for each in with_rows]))
    spreads = _judged(offs, day, spread)
    value, expected = parts[day][0] / parts[day][1], math.sin(usual) ** 2
    if spreads > 0 and value - expected >= LEAST_POINTS:
        return Unusual(value, expected, spreads)
    return None


def _history(counts: Mapping[date, int], day: date) -> list[date] | None:
    """The days before the last two that a day is judged by; None if they are too few."""
    first = min((each for each, count in counts.items() if count), default=day)
    days = [day - timedelta(days=back) for back in range(2, MOST_DAYS + 2)]
    known = [each for each in days if each >= first]
    return known if len(known) >= FEWEST_DAYS else None


def _weekdays(counts: Mapping[date, int], known: Sequence[date]) -> dict[int, float]:
    """What each weekday is of the week around it: the median of the weeks there are."""
    ratios: dict[int, list[float]] = {weekday: [] for weekday in range(7)}
    for day in known:
        around = [counts.get(day + timedelta(days=off), 0) for off in range(-3, 4)]
        if day + timedelta(days=3) <= known[0] and sum(around):  # `known` begins with the latest
            ratios[day.weekday()].append(counts.get(day, 0) / (sum(around) / 7))
    return {weekday: median(found) if found else 1.0 for weekday, found in ratios.items()}


def _expected(counts: Mapping[date, int], weekdays: Mapping[int, float], first: date, day: date) -> float | None:
    """The level of the two weeks before, times what such a weekday is of its week."""
    before = [day - timedelta(days=back) for back in range(2, LEVEL_DAYS + 2)]
    if before[-1] < first:
        return None
    levels = [counts.get(each, 0) / weekdays[each.weekday()] for each in before if weekdays[each.weekday()]]
    return median(levels) * weekdays[day.weekday()] if levels else None


def _off(count: int, usual: float) -> float:
    """How far a count is off, in spreads of pure chance."""
    return 2 * (math.sqrt(count + 0.375) - math.sqrt(usual + 0.375))


def _angle(part: int, of: int) -> float:
    """A share on a scale on which chance is as large everywhere."""
    return math.asin(math.sqrt((part + 0.375) / (of + 0.75)))


def _spread(offs: Sequence[float]) -> float:
    if not offs:
        return 1.0
    middle = median(offs)
    return SPREAD_OF_MAD * median(abs(off - middle) for off in offs)


def _judged(offs: Mapping[date, float], day: date, spread: float) -> float:
    """By how many spreads the day is off, alone or with the one before; 0 where that may well be chance."""
    alone = offs[day] / spread
    if abs(alone) >= ONE_DAY:
        return alone
    together = (alone + offs.get(day - timedelta(days=1), 0.0) / spread) / math.sqrt(2)
    return together if abs(together) >= TWO_DAYS else 0.0
