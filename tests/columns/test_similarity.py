"""Texts to tokens and vectors: word by word is the same as text by text, and nothing depends on what stands beside."""

from itertools import chain

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagster_project.columns.similarity import SUMMED_TOGETHER, WordLlama, load_model, unit_vectors

PIECES = " |  |a|the|ing|Zürich|日本|👍|▁|<s>|</s>|<unk>|<|s>|\n|\t|.|12|\u00a0|\x00".split("|")


@pytest.fixture(scope="module")
def model() -> WordLlama:
    found = load_model("wordllama")
    assert isinstance(found, WordLlama)
    return found


def whole(model: WordLlama, texts: list[str]) -> list[list[int]]:
    """The tokens the tokenizer itself finds in each whole text."""
    return [found.ids for found in model._tokenizer.encode_batch_fast(texts, add_special_tokens=False)]


def test_no_token_reaches_over_the_space_before_a_word(model: WordLlama) -> None:
    assert [token for token in model._tokenizer.get_vocab() if "▁" in token.lstrip("▁")] == []


@given(texts=st.lists(st.lists(st.sampled_from(PIECES), max_size=8).map("".join) | st.text(max_size=12), max_size=9))
def test_tokens_word_by_word_are_those_of_the_whole_text(model: WordLlama, texts: list[str]) -> None:
    tokens, lengths = model.tokens(texts)
    expected = whole(model, texts)
    assert lengths.tolist() == [len(ids) for ids in expected]
    assert tokens.tolist() == list(chain.from_iterable(expected))


def test_a_vector_is_the_sum_of_its_tokens_whatever_stands_beside_it(model: WordLlama) -> None:
    texts = ["", "flights to Rome", " ", *(f"text number {n} of many" for n in range(2 * SUMMED_TOGETHER))]
    alone = np.concatenate([model.vectors([text]) for text in texts])
    assert np.array_equal(model.vectors(texts), alone)
    ids = whole(model, texts)[1]
    assert np.array_equal(alone[1], np.add.reduceat(model._tokens[ids], [0], axis=0)[0])
    assert not alone[0].any()
    assert np.array_equal(unit_vectors(pl.Series([None, "", "a"]), model)[:2], np.zeros((2, 256)))
