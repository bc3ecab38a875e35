"""Rule T1 (unseen_attempt): texts that talk about an attempt the prompt does not show, judged on hand-written texts."""

import tomllib
from pathlib import Path

import polars as pl
import pytest

from dagster_project.columns.unseen_attempt import PATTERNS, SHOWN_BY, Pattern, talks_of_unseen_attempt

TEXTS = tomllib.loads((Path(__file__).parent / "unseen_attempt_texts.toml").read_text(encoding="utf-8"))
LEAST_OF_EACH = 40
RIGHT = 0.9


def share_right(texts: list[str], *, talk: bool) -> float:
    found = talks_of_unseen_attempt(pl.Series(texts))
    return (found == talk).mean()  # pyright: ignore[reportReturnType]


@pytest.mark.parametrize("kind", ["known", "held_out", "later"])
def test_nine_of_ten_are_right_both_ways(kind: str) -> None:
    """T1: at least 40 texts of each kind, 0.9 right both ways; the held-out ones by themselves, too."""
    talks, others = TEXTS[kind]["talks"], TEXTS[kind]["does_not"]
    if kind != "held_out":
        assert min(len(set(talks)), len(set(others))) >= LEAST_OF_EACH
    assert share_right(talks, talk=True) >= RIGHT
    assert share_right(others, talk=False) >= RIGHT


@pytest.mark.parametrize("record", PATTERNS, ids=lambda record: record.catches)
def test_every_record_catches_its_example_and_nothing_catches_its_counter_example(record: Pattern) -> None:
    """T1: a table of patterns as in F9."""
    assert record.is_about in SHOWN_BY
    assert talks_of_unseen_attempt(pl.Series([record.example, record.counter_example])).to_list() == [True, False]


@pytest.mark.parametrize(
    ("prompt", "text", "talks"),
    [
        ("How do I sort a list?", "Your answer is wrong: sort returns None.", True),
        ("Is my answer right? I used sorted().", "Your answer is correct, but sort is faster.", False),
        ("What's wrong with this?\n```py\nxs.sort()\n```", "Here is the corrected version of your code:", False),
        ("Check this: 2 + 2 = 5", "You're close, but it is 4.", False),
        ("Is my answer right?", "SAM's answer was incorrect.", True),
        ("Is my answer right?", "The previous response missed the point.", True),
        (
            "User: hi\nAssistant: Paris is in Italy.\nUser: sure?",
            "The previous answer was wrong: it is in France.",
            False,
        ),
        ('[{"role": "assistant", "content": "Rome"}]\nSure?', "Your previous answer was wrong: Paris.", False),
        ("Why did SAM say so?", "SAM said so because the list was empty.", False),
        ("The moon is a planet, right?", "Not quite. It is a satellite.", False),
        ("What is the moon?", "Not quite. It is a satellite.", True),
    ],
)
def test_an_attempt_in_the_prompt_is_not_unseen(prompt: str, text: str, talks: bool) -> None:
    """T1: what counts is an attempt that is not in the prompt; the context is part of it (F6)."""
    assert talks_of_unseen_attempt(pl.Series([text]), pl.Series([prompt])).to_list() == [talks]


def test_nothing_talks_of_nothing() -> None:
    """T1: nulls, empty texts, line breaks where the pattern has a space, accents."""
    texts = pl.Series([None, "", "Your\nanswer is\nwrong.", "Café: your answer is wrong."])
    assert talks_of_unseen_attempt(texts).to_list() == [False, False, True, True]
    assert talks_of_unseen_attempt(texts, pl.Series([None, "", None, "x"])).to_list() == [False, False, True, True]
    assert talks_of_unseen_attempt(pl.Series([], dtype=pl.String)).to_list() == []
