"""Runs of 13 words (T1, contaminated): what two texts share exactly if a few lines of plain Python say so."""

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from dagster_project.columns.ngrams import WORDS, word_forms, word_runs


def runs_of(texts: list[str | None]) -> list[set[int]]:
    hashes, rows = word_runs(word_forms(pl.Series(texts, dtype=pl.String)))
    return [{int(run) for run, row in zip(hashes, rows, strict=True) if row == place} for place in range(len(texts))]


def test_runs_stay_within_a_text() -> None:
    twelve, more = "a b c d e f g h i j k l", "m n o p q r s t u v w x y"
    assert [len(runs) for runs in runs_of([twelve, more, None, "", f"{twelve} {more}"])] == [0, 1, 0, 0, 13]


def test_case_punctuation_and_spaces_do_not_matter() -> None:
    text = "The quick brown fox jumps over the lazy dog, and it doesn't stop there: ever!"
    other = "the QUICK  brown\nfox jumps over the lazy dog and it doesn’t stop there ever"
    first, second = runs_of([text, other])
    assert first == second and len(first) == 3


def test_signs_of_scripts_without_spaces_are_words() -> None:
    assert word_forms(pl.Series(["如何在Python中排序？", "plain"])).to_list() == ["如 何 在 python 中 排 序", "plain"]
    assert len(runs_of(["没有烤箱怎么做面包，请告诉我"])[0]) == 1


@given(st.lists(st.lists(st.sampled_from("abc"), max_size=30), min_size=2, max_size=4))
def test_two_texts_share_runs_exactly_if_they_share_words(texts: list[list[str]]) -> None:
    found = runs_of([" ".join(words) for words in texts])
    plain = [{tuple(words[at : at + WORDS]) for at in range(len(words) - WORDS + 1)} for words in texts]
    for one, words in zip(found, plain, strict=True):
        assert len(one) == len(words)
        for other, other_words in zip(found, plain, strict=True):
            assert len(one & other) == len(words & other_words)
