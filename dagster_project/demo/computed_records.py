"""Records that are worked out instead of written down: the same puzzle with other numbers has another answer.

A topic of `questions/` that is named here, by the first of its fields, gets these records besides its own. They are the same
whatever the seed: what is asked for is drawn later.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from random import Random

Record = Sequence[str]
WORDS = ("no", "one hour", "two hours", "three hours", "four hours", "five hours")
VEHICLES = (
    ("train", (60, 80, 100, 120)),
    ("coach", (60, 70, 80)),
    ("ferry", (20, 24, 30)),
    ("cyclist", (15, 18, 20)),
    ("lorry", (50, 60, 80)),
    ("railcar", (60, 80, 100)),
    ("van", (50, 60, 90)),
    ("night bus", (60, 70, 90)),
    ("cargo barge", (12, 15, 18)),
    ("steam train", (30, 36, 40)),
    ("hikers' bus", (36, 40, 48)),
    ("motorbike", (54, 60, 72)),
)
THINGS = tuple(
    """
    kettle backpack tent monitor jacket guitar table carpet watch suitcase drill pram heater fridge
    telescope radio mattress kayak printer mirror
""".split()
)
ROUTES = (
    "to a lighthouse",
    "to the island ferry",
    "to a vineyard",
    "to my sister's farm",
    "to the border",
    "to a mountain pass",
    "to the training ground",
    "to a customer",
    "to the nature reserve",
    "to a concert hall",
    "to the quarry",
    "to an abbey",
)
PAIRS = (
    ("Lina", "Otto"),
    ("Ruth", "Carl"),
    ("Mila", "Jan"),
    ("Olga", "Piet"),
    ("Nele", "Arne"),
    ("Vera", "Hugo"),
    ("Rosa", "Egon"),
    ("Tilda", "Sven"),
    ("Greta", "Niko"),
    ("Alma", "Bert"),
)
JOBS = (
    "clear the cellar",
    "pick the apples",
    "wash the windows",
    "pack the parcels",
    "plaster the wall",
    "type the minutes",
    "mow the meadow",
    "shell the peas",
    "paint the boat",
    "clean the stables",
)
GOALS = (
    "a folding kayak",
    "a gas grill",
    "a drum kit",
    "a weekend in Porto",
    "a standing desk",
    "a dishwasher",
    "a violin",
    "a garden shed",
    "a telescope",
    "a moped",
    "a first-aid course",
    "a cargo bike",
    "a chest freezer",
    "a pair of skis",
    "a tattoo",
    "a knitting machine",
    "a greenhouse",
    "a pottery wheel",
)
METRICS = (
    "the share of reusable cups",
    "the click rate of the banner",
    "the share of paid invoices",
    "the attendance at the seminar",
    "the share of part-time staff",
    "the yield of the oven",
    "the share of night trains",
    "the return rate of the forms",
    "the share of vegetarian meals",
    "the hit rate of the search",
    "the utilisation of the hall",
    "the share of solar power",
)


def _duration(minutes: int) -> str:
    hours, rest = divmod(minutes, 60)
    parts = ([WORDS[hours]] if hours else []) + ([f"{rest} minutes"] if rest else [])
    return " and ".join(parts)


def _clock(minutes: int) -> str:
    return f"{minutes // 60 % 24}:{minutes % 60:02d}"


def _euros(cents: int) -> str:
    return str(cents // 100) if cents % 100 == 0 else f"{cents // 100}.{cents % 100:02d}"


def _trips(rng: Random) -> Iterator[Record]:
    for _ in range(150):
        vehicle, speeds = rng.choice(VEHICLES)
        speed, minutes, start = rng.choice(speeds), 30 * rng.randint(2, 10), 5 * rng.randint(60, 200)
        if speed * minutes % 60 == 0:
            wrong = start + minutes + rng.choice((-30, 30, 60))
            yield (
                f"A {vehicle}",
                vehicle,
                _clock(start),
                str(speed * minutes // 60),
                str(speed),
                _duration(minutes),
                _clock(start + minutes),
                _clock(wrong),
            )


def _prices(rng: Random) -> Iterator[Record]:
    for thing in THINGS:
        for rate in rng.sample((5, 10, 15, 20, 25, 30, 40, 50), 5):
            cents = 2000 * rng.randint(2, 25)  # so that every step comes out in whole cents
            high = cents * (100 + rate) // 100
            cut = high * rate // 100
            amounts = (high, cut, high - cut, cents - high + cut)
            yield (thing, _euros(cents), str(rate), *map(_euros, amounts))


def _together(rng: Random) -> Iterator[Record]:
    whole = [
        (slow, fast, slow * fast // (slow + fast))
        for slow in range(2, 61)
        for fast in range(slow + 1, 61)
        if slow * fast % (slow + fast) == 0
    ]
    for first, second in PAIRS:
        for job in rng.sample(JOBS, 4):
            slow, fast, result = rng.choice(whole)
            mean = Fraction(slow + fast, 2)
            yield (
                first,
                second,
                f"{slow} hours",
                f"{fast} hours",
                job,
                f"1/{slow}",
                f"1/{fast}",
                f"1/{result}",
                f"{result} hours",
                f"{float(mean):g} hours",
            )


def _averages(rng: Random) -> Iterator[Record]:
    for route in ROUTES:
        for out, back in rng.sample([(o, b) for o in range(6, 121, 6) for b in range(6, 121, 6) if o != b], 40):
            mean = Fraction(2 * out * back, out + back)
            length = out * back // 6
            if mean.denominator == 1 and length % out == length % back == 0:
                there, return_ = length // out, length // back
                if max(there, return_) <= 20:
                    yield (
                        route,
                        str(out),
                        str(back),
                        str(length),
                        _hours(there),
                        _hours(return_),
                        str(2 * length),
                        str(there + return_),
                        str(mean),
                        f"{(out + back) / 2:g}",
                    )


def _hours(count: int) -> str:
    return "1 hour" if count == 1 else f"{count} hours"


def _sequences(rng: Random) -> Iterator[Record]:
    for step in range(3, 40):
        start, second = rng.randint(2, 60), rng.randint(2, 9)
        plus = [start + step * place for place in range(5)]
        yield _sequence(plus, f"{step} is added each time", plus[4] + 2)
        grow = [start + step * place + second * place * (place - 1) // 2 for place in range(6)]
        rule = f"the differences are {step}, {step + second}, {step + 2 * second} and so on, {second} more each time"
        yield _sequence(grow, rule, grow[5] - second)
        if step <= 9:
            times = [second * step**place for place in range(5)]
            yield _sequence(times, f"each number is {step} times the one before", times[4] - step)


def _sequence(numbers: list[int], rule: str, guess: int) -> Record:
    *given, following = numbers
    return ", ".join(map(str, given)), str(following), rule, str(guess)


def _savings(rng: Random) -> Iterator[Record]:
    for goal in GOALS:
        for months in rng.sample(range(3, 25), 5):
            rate, saved = 10 * rng.randint(3, 32), 20 * rng.randint(2, 40)
            cost = rate * months + saved
            yield goal, str(cost), str(saved), str(rate * months), str(months), str(rate), str(round(cost / months))


def _shares(rng: Random) -> Iterator[Record]:
    for metric in METRICS:
        for before, relative in rng.sample(
            [(b, r) for b in range(4, 61) for r in (10, 20, 25, 50) if b * r % 100 == 0], 6
        ):
            points = before * relative // 100
            told = "one percentage point" if points == 1 else f"{points} percentage points"
            yield metric, str(before), str(before + points), told, str(relative), f"{points} %"


MORE: dict[tuple[str, ...], Callable[[Random], Iterator[Record]]] = {
    ("subject", "vehicle"): _trips,
    ("thing", "price"): _prices,
    ("first", "second", "slow"): _together,
    ("route", "out"): _averages,
    ("sequence", "next"): _sequences,
    ("goal", "cost"): _savings,
    ("metric", "before"): _shares,
}


def more_records(fields: Sequence[str]) -> list[Record]:
    """Further records of a topic with these fields; none where nothing can be worked out."""
    for start, work_out in MORE.items():
        if tuple(fields[: len(start)]) == start:
            return list({tuple(record): None for record in work_out(Random(f"worked out {start}"))})
    return []
