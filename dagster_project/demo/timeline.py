"""When people use the assistant: more on weekdays than at weekends, by day rather than by night, slowly growing."""

from bisect import bisect_right
from datetime import UTC, date, datetime, timedelta
from itertools import accumulate
from random import Random

LAST_DAY = date(2026, 1, 31)
DAY = 86_400.0
HOUR = 3_600.0
# Activity per hour of the (UTC) day; nobody starts in the last hour, so no session runs into the next day unasked.
HOURS = (2, 1, 1, 1, 1, 3, 6, 14, 28, 38, 40, 36, 30, 34, 38, 36, 32, 28, 26, 27, 24, 18, 8, 0)
WEEKDAYS = (1.0, 1.08, 1.1, 1.05, 0.9, 0.5, 0.45)
GROWTH = 0.6


def epoch(day: date) -> float:
    """The first instant of a day."""
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()


def start_times(count: int, days: int, last_day: date, rng: Random) -> list[float]:
    """`count` instants in order, over the `days` days that end with `last_day`."""
    first_day = last_day - timedelta(days=days - 1)
    weights: list[float] = []
    for offset in range(days):
        day_weight = WEEKDAYS[(first_day + timedelta(days=offset)).weekday()] * (1 + GROWTH * offset / days)
        day_weight *= 0.85 + 0.3 * rng.random()
        weights.extend(day_weight * hour for hour in HOURS)
    edges = [0.0, *accumulate(weights)]
    origin, total = epoch(first_day), edges[-1]
    times: list[float] = []
    for draw in sorted(rng.random() * total for _ in range(count)):
        slot = bisect_right(edges, draw) - 1
        times.append(origin + HOUR * (slot + (draw - edges[slot]) / weights[slot]))
    return times


def new_id(rng: Random) -> str:
    """Looks like the source's ids (the start of a hash); drawn, because hashing would cost more than the whole row."""
    return f"{rng.getrandbits(64):016x}"


def to_microseconds(seconds: float) -> float:
    """Cut an instant to microseconds; `round` does the same at several times the cost."""
    return int(seconds * 1e6) / 1e6
