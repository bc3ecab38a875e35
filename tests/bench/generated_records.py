"""Records to measure with, the same ones every time: of a tokenizer's words, the frequent ones often, as prose has them."""

from pathlib import Path

import numpy as np
import polars as pl
import wordllama
from tokenizers import Tokenizer

PROMPT_WORDS, ANSWER_WORDS, SENTENCE_WORDS = 25, 170, 12
TWINS = 0.1  # of the records are another one with some words changed
REPLACED = 0.03  # of a twin's words


def words() -> list[str]:
    """Some 20,000, the frequent ones first."""
    file = Path(wordllama.__file__).parent / "tokenizers" / "l2_supercat_tokenizer_config.json"
    vocabulary = Tokenizer.from_file(str(file)).get_vocab()
    whole = (token[1:] for token in sorted(vocabulary, key=vocabulary.__getitem__) if token.startswith("▁"))
    return [word for word in whole if word.isascii() and word.isalpha() and len(word) > 1]


class Writer:
    """Texts of words drawn at random, the same ones for the same seed."""

    def __init__(self, seed: int) -> None:
        self.choice, self.vocabulary = np.random.default_rng(seed), pl.Series(words())
        chances = 1 / (np.arange(len(self.vocabulary)) + 10)
        self.chances = chances / chances.sum()

    def draw(self, *shape: int) -> np.ndarray:
        return self.choice.choice(len(self.vocabulary), size=shape, p=self.chances)

    def texts(self, drawn: np.ndarray) -> pl.Series:
        """A text for each row of drawn words, in sentences."""
        each = self.vocabulary.gather(drawn.ravel()).to_frame("word").with_row_index("place")
        each = each.with_columns(row=pl.col("place") // drawn.shape[1], sentence=pl.col("place") // SENTENCE_WORDS)
        sentences = each.group_by("row", "sentence", maintain_order=True).agg(pl.col("word").str.join(" "))
        begin = pl.col("word").str.slice(0, 1).str.to_uppercase() + pl.col("word").str.slice(1)
        ends = pl.Series(np.array([". ", "? ", ", since ", ".\n\n"])[self.choice.integers(0, 4, sentences.height)])
        return (
            sentences.with_columns(begin + ends)
            .group_by("row", maintain_order=True)
            .agg(pl.col("word").str.join(""))["word"]
        )


def records(count: int) -> pl.DataFrame:
    """`id`, `prompt` and `answer`; a twin stands behind what it is a twin of."""
    writer = Writer(seed=7)
    drawn = writer.draw(count, PROMPT_WORDS + ANSWER_WORDS)
    twins = np.flatnonzero(writer.choice.random(count) < TWINS)[1:]
    drawn[twins] = drawn[writer.choice.integers(0, twins)]
    other = writer.draw(*drawn[twins].shape)
    drawn[twins] = np.where(writer.choice.random(other.shape) < REPLACED, other, drawn[twins])
    ids = pl.Series("id", [f"{number * 2_654_435_761 % 2**32:016x}" for number in range(count)])
    sides = {"prompt": drawn[:, :PROMPT_WORDS], "answer": drawn[:, PROMPT_WORDS:]}
    return pl.DataFrame([ids, *(writer.texts(side).alias(name) for name, side in sides.items())])
