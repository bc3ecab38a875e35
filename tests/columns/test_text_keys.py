"""Rule G10: normal forms, keys and splits (T3) are what a few lines of plain Python say they are."""

import hashlib
import sys
import unicodedata

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dagster_project.columns import text_keys
from dagster_project.columns.spaces import SPACES
from dagster_project.columns.text_keys import has_text, normal_answers, normal_prompts, prompt_keys

EVERY_SPACE = [chr(code) for code in range(sys.maxunicode + 1) if chr(code).isspace()]
# Characters that normalising, lower case or trimming treat in some way of their own.
ODD = [
    *EVERY_SPACE,
    "\r\n",
    "\u200b",
    "\ufeff",
    "\u180e",
    "\u00ad",
    "a\u0308",
    "ä",
    "\u212b",
    "\u2126",
    "ﬁ",
    "\u1e9b\u0323",
    "İ",
    "I\u0307",
    "ß",
    "ẞ",
    "Σ",
    "ΑΣ",
    "Σ ",
    "ΟΔΟΣ.",
    "ǅ",
    "ﬀ",
    "ᾈ",
    "\u0345",
    "한",
    "\u1112\u1161\u11ab",
    "\u0344",
    "🌾",
    "\ud7a4",
    "\u1f80",
    "Ⱥ",
    "\u0130",
    "\U00010400",
    "\U0001d15e",
]
SCALARS = st.characters(codec="utf-8")
TEXTS = st.one_of(
    st.text(SCALARS),
    st.text(st.characters(codec="ascii")),
    st.lists(st.one_of(st.sampled_from(ODD), st.sampled_from(["a", "B", " ", "."]), SCALARS), max_size=12).map("".join),
)
COLUMNS = st.lists(st.one_of(st.none(), TEXTS), min_size=1, max_size=20)
SAMPLES: list[str | None] = [None, "", " ", *ODD, *(f" A{odd}{odd} b{odd}" for odd in ODD)]


def prompt(text: str) -> str:
    """G10 for prompts: NFC, str.lower(), runs of str.isspace() to one space, trimmed."""
    words, word = [], ""
    for character in unicodedata.normalize("NFC", text).lower() + " ":
        if not character.isspace():
            word += character
        elif word:
            words.append(word)
            word = ""
    return " ".join(words)


def answer(text: str) -> str:
    """G10 for answers: NFC, CRLF to LF, trimmed."""
    return unicodedata.normalize("NFC", text).replace("\r\n", "\n").strip()


def key(text: str) -> str:
    return hashlib.sha256(prompt(text).encode()).hexdigest()[:16]


def split(text: str, split_key: str) -> str:
    """T3."""
    point = int(hashlib.sha256(f"{split_key}:{key(text)}".encode()).hexdigest()[:8], 16) / 2**32
    return "train" if point < 0.90 else "validation" if point < 0.95 else "test"


def series(texts: list[str | None]) -> pl.Series:
    return pl.Series("text", texts, dtype=pl.String)


def test_spaces_are_those_of_python() -> None:
    """G10: every character for which str.isspace() is true, and no other."""
    assert sorted(SPACES) == EVERY_SPACE


@settings(max_examples=150, deadline=None)
@given(COLUMNS)
@example(SAMPLES)
def test_normal_prompts(texts: list[str | None]) -> None:
    """G10: a null stays null."""
    found = normal_prompts(series(texts))
    assert found.to_list() == [None if text is None else prompt(text) for text in texts]


@settings(max_examples=150, deadline=None)
@given(COLUMNS)
@example(SAMPLES)
def test_normal_answers(texts: list[str | None]) -> None:
    """G10: case and inner space count."""
    found = normal_answers(series(texts))
    assert found.to_list() == [None if text is None else answer(text) for text in texts]


@settings(max_examples=150, deadline=None)
@given(COLUMNS)
@example(SAMPLES)
def test_has_text(texts: list[str | None]) -> None:
    """F1, T1: not null and not empty after trimming."""
    found = series(texts).to_frame().select(has_text("text")).to_series()
    assert found.to_list() == [text is not None and text.strip() != "" for text in texts]


@settings(max_examples=25, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=20), st.text(SCALARS.filter(lambda c: c != "\0"), max_size=12))
@example(["How do I reverse a list?", "HOW  do I\nreverse a list?"], "gristmill")
def test_prompt_keys(texts: list[str], split_key: str) -> None:
    """G10, T3: hashlib's digests, row by row in order, with any split_key."""
    found = prompt_keys(series([*texts]), split_key)
    assert found.rows() == [(key(text), split(text, split_key)) for text in texts]


def test_every_lower_case_is_that_of_python() -> None:
    """G10: str.lower() of every character there is, at the end of a word and at its start."""
    characters = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF]
    assigned = [c for c in characters if unicodedata.category(c) != "Cn"]
    for form in ("a{}", "{}a"):
        texts = [form.format(character) for character in assigned]
        found = normal_prompts(series([*texts])).to_list()
        different = [text for text, ours in zip(texts, found, strict=True) if ours != prompt(text)]
        assert different == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  How do I\r\n\tREVERSE a list? ", "how do i reverse a list?"),
        ("\u00a0Stra\u00dfe \u2003 TEA\u3000", "stra\u00dfe tea"),
        ("A\u030angstro\u0308m \u212b", "\u00e5ngstr\u00f6m \u00e5"),
        ("\u039f\u0394\u039f\u03a3", "\u03bf\u03b4\u03bf\u03c2"),
        ("\u0130stanbul", "i\u0307stanbul"),
        ("zero\u200bwidth", "zero\u200bwidth"),
    ],
)
def test_prompts_that_are_the_same(text: str, expected: str) -> None:
    """G10, said by example."""
    assert prompt(text) == expected
    assert normal_prompts(series([text])).to_list() == [expected]
    assert prompt_keys(series([text]), "k").rows() == prompt_keys(series([expected]), "k").rows()


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("x = 1\r\ny = 2\r\n", "x = 1\ny = 2", True),
        ("caf\u00e9", "cafe\u0301", True),
        ("\u3000a ", "a", True),
        ("a  b", "a b", False),
        ("A", "a", False),
        ("a\rb", "a\nb", False),
    ],
)
def test_answers_that_are_the_same(one: str, other: str, is_same: bool) -> None:
    """G10: a fix in code may be nothing but case or inner space."""
    found = normal_answers(series([one, other]))
    assert (found[0] == found[1]) is is_same


def test_texts_of_composed_characters_are_left_alone_because_they_are_in_nfc() -> None:
    """What `_composed` skips: each is itself in NFC, takes no part in reordering, and is the second half of no composition."""
    seconds = {
        parts[1]
        for code in range(0x110000)
        if len(parts := unicodedata.decomposition(chr(code)).split()) == 2 and not parts[0].startswith("<")
    }
    everything = pl.Series([chr(code) for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF])
    skipped = everything.filter(~everything.str.contains(f"[^{text_keys.COMPOSED}]")).to_list()
    assert [c for c in skipped if not unicodedata.is_normalized("NFC", c) or unicodedata.combining(c)] == []
    assert [c for c in skipped if f"{ord(c):04X}" in seconds] == []
