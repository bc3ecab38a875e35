"""T6: when texts are alike: their form, their longest sentence, their shingles."""

import re
import sys
import unicodedata

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagster_project.columns import alike
from dagster_project.columns.alike import alike_form, jaccard, longest_sentences
from dagster_project.columns.shingles import ShingleSets

# Letters, marks and signs that meet in prompts, and what folds, composes, vanishes or counts as a space.
ALPHABET = (
    "abcZÀéßİΣςЖあ日本々ｱ！？，。“”’‘'`´ʼ\"«»-–—…_+=<>$*/#()[]{}|~^&%@0129²½①Ⅷﬁ™㎏한글\u1100\u1161\u0301\u0308\u0345"
    "\u200b\u200c\u200d\u2060\ufeff\u00ad\ufe0f\u034f\u180e\u3164 \t\n\r\x0b\x1c\x85\u00a0\u2003\u2028\u3000👍👩🏽\U000e0061\x00"
)
TEXTS = st.text(alphabet=st.sampled_from(ALPHABET) | st.characters(exclude_categories=("Cs", "Cn", "Co")), max_size=30)


def form(text: str) -> str:
    """The rule letter by letter, from the standard library alone."""
    ignored = {code for first, last in alike.ZERO_WIDTH for code in range(first, last + 1)}
    bare = "".join(c for c in text if ord(c) not in ignored and c not in "\x00`´ʼ")
    folded = unicodedata.normalize("NFKC", bare).casefold()
    kept = [c for c in folded if unicodedata.category(c)[0] != "P" and c not in "`ʼ" and ord(c) not in ignored]
    return " ".join("".join(kept).split())


def shingles(text: str) -> set[str]:
    return {text[place : place + 5] for place in range(max(1, len(text) - 4))}


def similarity(one: str, other: str) -> float:
    return len(shingles(one) & shingles(other)) / len(shingles(one) | shingles(other))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  What's  the\tCapital of France?! ", "whats the capital of france"),
        ("What’s the “capital” of France", "whats the capital of france"),
        ("what`s the ca\u200bpi\u00adtal of\u00a0Fra\u2060nce\ufeff", "whats the capital of france"),
        ("It´s a Straße — no, a STRASSE…", "its a strasse no a strasse"),
        ("ﬁne ２＋２＝４", "fine 2+2=4"),
        ("你好，世界！", "你好世界"),
        ("C++ is not C", "c++ is not c"),
        ("snake_case a.b.c", "snakecase abc"),
        ("e\u200b\u0301t\u00e9", "été"),
        ("👍️", "👍"),
        ("...", ""),
        ("", ""),
        (None, None),
    ],
)
def test_forms(text: str | None, expected: str | None) -> None:
    assert alike_form(pl.Series([text], dtype=pl.String)).to_list() == [expected]


@given(texts=st.lists(TEXTS | st.none(), max_size=8))
def test_the_form_is_the_rule_letter_by_letter_whatever_stands_beside(texts: list[str | None]) -> None:
    found = alike_form(pl.Series("t", texts, dtype=pl.String))
    assert found.to_list() == [None if text is None else form(text) for text in texts]
    assert (found.name, found.dtype) == ("t", pl.String)


def test_texts_of_compatible_characters_alone_are_in_nfkc() -> None:
    """Each by itself, and none takes up the one before it."""
    found = "".join(
        re.findall(
            f"[{re.sub(r'x{([0-9a-f]+)}', lambda m: f'U{int(m[1], 16):08x}', alike.COMPATIBLE)}]",
            "".join(
                chr(code)
                for code in range(sys.maxunicode)
                if not 0xD800 <= code < 0xE000 and unicodedata.category(chr(code)) != "Cn"
            ),
        )
    )
    assert len(found) > 22_000
    assert unicodedata.normalize("NFKC", found) == found
    assert not [c for c in found if unicodedata.combining(c)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hi. Please tell me what the capital of France is! Thanks.", "please tell me what the capital of france is"),
        ("One two three four five six seven.", None),
        ("a b c d e f g h. i j k l m n o p", "a b c d e f g h"),
        ("Supercalifragilisticexpialidocious-antidisestablishmentarianism. a b c d e f g h", None),
        ("line one has exactly eight words in it\nshort", "line one has exactly eight words in it"),
        ("今日はとても良い天気です。", None),
        ("", None),
        (None, None),
    ],
)
def test_longest_sentences(text: str | None, expected: str | None) -> None:
    assert longest_sentences(pl.Series([text, "x"], dtype=pl.String)).to_list() == [expected, None]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("abcdef", "abcdeg", 1 / 3),
        ("abcd", "abcd", 1.0),
        ("abcd", "abcde", 0.0),
        ("", "", 1.0),
        ("", "abc", 0.0),
        ("aaaaaaaa", "aaaaa", 1.0),
        ("今日はとても良い", "今日はとても悪い", 2 / 6),
        ("a", None, None),
    ],
)
def test_jaccard(one: str, other: str | None, expected: float | None) -> None:
    assert jaccard(pl.Series([one]), pl.Series([other], dtype=pl.String)).to_list() == [expected]


FORMS = st.text(alphabet="ab é日\U0001f44d", max_size=40)


@given(pairs=st.lists(st.tuples(FORMS, FORMS), max_size=12))
def test_jaccard_is_that_of_the_sets(pairs: list[tuple[str, str]]) -> None:
    left, right = (pl.Series([pair[side] for pair in pairs], dtype=pl.String) for side in (0, 1))
    assert jaccard(left, right).to_list() == [similarity(*pair) for pair in pairs]


@given(texts=st.lists(FORMS, max_size=9))
def test_sets_hold_each_shingle_once(texts: list[str]) -> None:
    sets = ShingleSets.of(pl.Series(texts, dtype=pl.String))
    assert sets.sizes.tolist() == [len(shingles(text)) for text in texts]


def test_numbers_of_shingles_stay_the_same_for_ever() -> None:
    """Kept signatures and releases hang on them: these may only change with every kept result."""
    sets = ShingleSets.of(pl.Series(["hello", "日本語です", "é"]))
    assert sets.numbers.tolist() == [10785760146291789011, 2083132931855275313, 12836497808066695784]
