"""T6 on records like real ones, of all lengths and from templates, edited until they are just alike or just not: against all pairs."""

import random
from collections import Counter, defaultdict
from typing import Any

import polars as pl

from dagster_project.columns.alike import alike_form
from tests.training.test_near_duplicates import found, shingles

RECORDS = 1_000
PERMILLE_TWINS = 400  # of the records are an edit of an earlier one
FIELDS = ("prompt", "answer")
TEMPLATES = (
    "To reset your {}, open the settings, choose {}, and confirm with your {}. It takes about {} minutes. ",
    "Thank you for asking about {}! In short: {} comes first, then {}, and at last {}. ",
    "def {}({}):\n    return {}[{}]\n",
    "Dear {}, we are sorry to hear that your {} arrived {}. Please send it back within {} days. ",
)
SYLLABLES = [a + b + c for a in "bdfgklmnprst" for b in ("a", "e", "i", "o", "u", "ä", "é") for c in ("", *"lnrst")]


def words(chance: random.Random, count: int) -> list[str]:
    return ["".join(chance.choices(SYLLABLES, k=chance.choice([1, 2, 2, 3]))) for _ in range(count)]


def text(chance: random.Random, length: int) -> str:
    """From few words to many; a part of what is said comes from templates, whose words many records share."""
    if chance.random() < 0.5:
        return " ".join(words(chance, length)).capitalize() + chance.choice([".", "?", "..."])
    return "".join(
        template.format(*words(chance, 4)) for template in chance.choices(TEMPLATES, k=max(1, length // 20))
    ) + " ".join(words(chance, length // 2))


def edited(chance: random.Random, before: str) -> str:
    """Words replaced, left out or put in, so many that two texts come out at a Jaccard of 0.6 to 1; or only how it is written."""
    if chance.random() < 0.2:
        return chance.choice([before.upper(), before.replace(" ", "  "), f'"{before}"', before.replace(".", "!")])
    said = before.split(" ")
    for _ in range(round(chance.uniform(0, 0.12) * len(said))):
        place = chance.randrange(len(said))
        said[place : place + chance.choice([0, 1, 1, 2])] = words(chance, chance.choice([0, 1, 1, 2]))
        said = said or ["x"]
    return " ".join(said)


def real_like(count: int, seed: int = 6) -> list[dict[str, Any]]:
    chance = random.Random(seed)
    rows: list[dict[str, Any]] = []
    for number in range(count):
        if rows and chance.random() * 1000 < PERMILLE_TWINS:
            before = chance.choice(rows)
            told = {name: edited(chance, before[name]) if chance.random() < 0.7 else before[name] for name in FIELDS}
        else:
            told = {"prompt": text(chance, chance.randint(2, 60)), "answer": text(chance, chance.randint(3, 300))}
        rows.append({"id": f"r{number:06}", "group": number % 5, **told})
    return rows


def alike_pairs(rows: list[dict[str, Any]]) -> set[tuple[str, str]]:
    """All pairs, the earlier one first, whose fields have Jaccard 0.8 each by itself.

    Two sets at 0.8 share one of the rarest fifth of each: only records that do so are compared, and none is overlooked.
    """
    forms = {name: [shingles(form) for form in alike_form(pl.Series([row[name] for row in rows]))] for name in FIELDS}
    frequency = Counter(shingle for form in forms["answer"] for shingle in form)
    holders: dict[str, list[int]] = defaultdict(list)
    pairs = set()
    for number, answer in enumerate(forms["answer"]):
        rarest = sorted(answer, key=lambda shingle: (frequency[shingle], shingle))[: len(answer) // 5 + 1]
        for other in sorted({other for shingle in rarest for other in holders[shingle]}):
            if all(is_alike(forms[name][number], forms[name][other]) for name in FIELDS):
                pairs.add((rows[other]["id"], rows[number]["id"]))
        for shingle in rarest:
            holders[shingle].append(number)
    return pairs


def is_alike(one: set[str], other: set[str]) -> bool:
    shared = len(one & other)
    return 5 * shared >= 4 * (len(one) + len(other) - shared)


def measured(rows: list[dict[str, Any]]) -> dict[str, int]:
    """What all pairs say of who left."""
    pairs, leaving = alike_pairs(rows), found(rows)
    staying = {row["id"] for row in rows} - leaving.keys()
    told = set()  # who leaves if one goes by all pairs, the best first
    for one, other in sorted(pairs):
        if one not in told:
            told.add(other)
    return {
        "pairs": len(pairs),
        "overlooked pairs": sum(one in staying and other in staying for one, other in pairs),
        "leave by all pairs": len(told),
        "left": len(leaving),
        "left, and do so by all pairs": len(told & leaving.keys()),
        "not alike to whom they name": sum((survivor, id) not in pairs for id, survivor in leaving.items()),
        "name one that left": sum(survivor in leaving for survivor in leaving.values()),
    }


def test_nearly_all_alike_records_are_found_and_no_others() -> None:
    """Recall of at least 0.99; who leaves is that alike to a survivor that stays, so one of two mutual duplicates does."""
    told = measured(real_like(RECORDS))
    assert told["leave by all pairs"] > RECORDS // 10  # there is something to find
    assert told["not alike to whom they name"] == 0
    assert told["name one that left"] == 0
    assert 100 * told["overlooked pairs"] <= told["pairs"]
    assert 100 * told["left, and do so by all pairs"] >= 99 * told["leave by all pairs"]
