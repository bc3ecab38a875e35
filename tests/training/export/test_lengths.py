"""--max-tokens: the oldest turns are cut first, then the record is dropped; never all of what came before (T7)."""

import json
from pathlib import Path

import polars as pl
import pytest

from dagster_project.errors import GristmillError
from dagster_project.training.export.conversations import TURN
from dagster_project.training.export.lengths import fitted, tokenizer
from tests.training.export.release_of_tests import Turn, messages

WORDS = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None}
WORDS |= {"pre_tokenizer": {"type": "Whitespace"}, "post_processor": None, "decoder": None}
WORDS |= {"model": {"type": "WordLevel", "vocab": {"?": 0}, "unk_token": "?"}}
CONTEXT = [("user", "one two"), ("assistant", "three four"), ("user", "five six"), ("assistant", "seven eight")]


@pytest.fixture
def words(tmp_path: Path) -> Path:
    """A tokenizer whose tokens are words."""
    (tmp_path / "tokenizer.json").write_text(json.dumps(WORDS), encoding="utf-8")
    return tmp_path


def fit(words: Path, most: int, before: list[Turn], format: str = "instruction", **answers: str) -> tuple[int, bool]:
    own = [("user", "a b"), ("assistant", "c d")] if format == "instruction" else [("user", "a b")]
    rows = pl.DataFrame(
        {"messages": [messages(*before, *own)], **{name: [text] for name, text in answers.items()}},
        schema_overrides={"messages": pl.List(TURN)},
    )
    count, _ = tokenizer(str(words))
    (found,) = fitted(rows, format, count, most).iter_rows()
    return found


@pytest.mark.parametrize(
    ("most", "expected"),
    [(12, (0, False)), (11, (2, False)), (8, (2, False)), (7, (2, True)), (4, (2, True)), (3, (2, True))],
)
def test_the_oldest_go_first_and_the_rest_begins_with_a_user(
    words: Path, most: int, expected: tuple[int, bool]
) -> None:
    cut, is_too_long = fit(words, most, CONTEXT)
    assert is_too_long == expected[1]
    assert is_too_long or cut == expected[0]


def test_what_the_system_said_is_never_cut(words: Path) -> None:
    assert fit(words, 9, [("system", "x"), *CONTEXT]) == (2, False)
    assert fit(words, 8, [("system", "x"), *CONTEXT])[1]


def test_a_record_alone_fits_or_does_not(words: Path) -> None:
    assert fit(words, 4, []) == (0, False)
    assert fit(words, 3, []) == (0, True)


def test_the_longer_answer_counts(words: Path) -> None:
    assert fit(words, 5, [], "preference", chosen="c", rejected="c d e") == (0, False)
    assert fit(words, 4, [], "preference", chosen="c", rejected="c d e") == (0, True)


def test_four_characters_are_a_token() -> None:
    count, told = tokenizer("chars")
    assert count(pl.Series(["", "a", "abcd", "abcde", "äöüßé"])).to_list() == [0, 1, 1, 2, 2]
    assert told == {"name": "chars"}


def test_a_file_and_its_folder_are_the_same_tokenizer(words: Path) -> None:
    assert tokenizer(str(words))[1] == tokenizer(str(words / "tokenizer.json"))[1]


def test_what_is_no_tokenizer(tmp_path: Path) -> None:
    with pytest.raises(GristmillError, match=r"no such file; it is `chars`, a tokenizer.json or the folder of one"):
        tokenizer("gpt-4")
    (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(GristmillError, match="not a tokenizer"):
        tokenizer(str(tmp_path))
