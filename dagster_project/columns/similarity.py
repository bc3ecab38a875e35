"""How alike two texts are in meaning: the cosine of their vectors, by a model that ships in a wheel or one of your own.

A model is anything with a `name` and `vectors(texts)`. `similarity_model` in the configuration chooses it: `wordllama`, or
`package.module:factory`, a function without arguments that returns one. The name stands for the model in the hash of kept
results (G12): a model that changes what it says must change its name.
"""

import importlib
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import polars as pl

from dagster_project.columns.rounding import rounded
from dagster_project.errors import GristmillError

if TYPE_CHECKING:
    import numpy as np

DECIMALS = 4  # similarities are rounded before anything is compared with them (C2)
LONGEST_TEXT = 2_000  # code points of a text that are looked at; what a message is about is said by then
BATCH_TEXTS = 4_096
SUMMED_TOGETHER = 16  # texts whose token vectors lie side by side at once: few enough for the processor's own cache
# A word with the spaces before it, and what the tokenizer reads otherwise: its marks, and its own sign for a space.
WORD = " +[^ ]*"
CUT_WHOLE = ["<s>", "</s>", "<unk>", "▁"]


@runtime_checkable
class TextModel(Protocol):
    """Texts to vectors. Equal texts must get equal vectors, whatever stands beside them."""

    name: str

    def vectors(self, texts: Sequence[str]) -> "np.ndarray":
        """One row of floats a text. Length does not matter; a row of zeros is like nothing."""
        ...


class WordLlama:
    """Averaged token vectors of 256 numbers; model and tokenizer lie in the wheel, nothing is downloaded.

    We average ourselves: the library pads a batch to its longest text, which costs time and lets a vector's last bits
    depend on its neighbours. No token reaches over the space before a word, so a text's tokens are those of its words,
    and each distinct word of a batch is cut into tokens once.
    """

    def __init__(self) -> None:
        import numpy as np  # noqa: PLC0415  a fifth of a second that only runs with conversations need
        import wordllama  # noqa: PLC0415

        self._numpy = np
        folder = Path(wordllama.__file__).parent
        model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
        self.name = f"wordllama {version('wordllama')} l2_supercat_256"
        self._tokens = np.ascontiguousarray(model.embedding, dtype=np.float32)
        self._tokenizer = model.tokenizer
        self._tokenizer.no_padding()

    def vectors(self, texts: Sequence[str]) -> "np.ndarray":
        np = self._numpy
        found = np.zeros((len(texts), self._tokens.shape[1]), dtype=np.float32)
        tokens, lengths = self.tokens(texts)
        filled = np.nonzero(lengths)[0]
        ends = np.cumsum(lengths[filled])
        starts = ends - lengths[filled]
        for first in range(0, len(filled), SUMMED_TOGETHER):
            some = slice(first, first + SUMMED_TOGETHER)
            begin, end = starts[first], ends[some][-1]
            rows = self._tokens.take(tokens[begin:end], axis=0)
            found[filled[some]] = np.add.reduceat(rows, starts[some] - begin, axis=0)
        return found

    def tokens(self, texts: Sequence[str]) -> "tuple[np.ndarray, np.ndarray]":
        """The tokens of all texts, one text after the other, and how many each has."""
        np = self._numpy
        text = pl.Series("text", texts, dtype=pl.String).to_frame()
        is_whole = pl.col("text").str.contains_any(CUT_WHOLE) | pl.col("text").str.ends_with(" ")
        words = pl.concat_str(pl.lit(" "), "text").str.extract_all(WORD).list.eval(pl.element().str.slice(1))
        pieces = text.select(pl.when(is_whole).then(pl.concat_list("text")).otherwise(words).alias("piece"))
        counts = pieces["piece"].list.len().to_numpy()
        piece = pieces.explode("piece", empty_as_null=False)
        distinct = piece.unique(maintain_order=True).with_row_index("place")
        ids = [
            cut.ids for cut in self._tokenizer.encode_batch_fast(distinct["piece"].to_list(), add_special_tokens=False)
        ]
        known_lengths = np.fromiter(map(len, ids), dtype=np.int64, count=len(ids))
        known = np.fromiter(chain.from_iterable(ids), dtype=np.int64, count=int(known_lengths.sum()))
        known_starts = np.cumsum(known_lengths) - known_lengths
        places = piece.join(distinct, on="piece", how="left", maintain_order="left")["place"].to_numpy()
        piece_lengths = known_lengths[places]
        ends = np.cumsum(piece_lengths)
        # of each token its place among the known ones: where its piece begins there, and how far into the piece it is
        shifts = known_starts[places] - (ends - piece_lengths)
        tokens = known[np.repeat(shifts, piece_lengths) + np.arange(piece_lengths.sum())]
        totals = np.concatenate([[0], ends])
        text_ends = np.cumsum(counts, dtype=np.int64)
        return tokens, totals[text_ends] - totals[text_ends - counts]


@cache
def load_model(setting: str) -> TextModel:
    """The configured model, loaded once a process."""
    if setting == "wordllama":
        return WordLlama()
    module, _, factory = setting.partition(":")
    try:
        model = getattr(importlib.import_module(module), factory)()
    except Exception as error:  # it is the user's code: whatever it raises is told in one line
        raise GristmillError(
            f"similarity_model {setting!r} could not be loaded ({type(error).__name__}: {error}); "
            "it must be `wordllama` or `package.module:factory`"
        ) from error
    if not isinstance(model, TextModel):
        raise GristmillError(f"similarity_model {setting!r} gives {type(model).__name__}, without `name` and `vectors`")
    return model


def unit_vectors(texts: pl.Series, model: TextModel) -> "np.ndarray":
    """A row of length 1 a text, or of zeros where the model has nothing to say (blank, null). Long texts are cut."""
    import numpy as np  # noqa: PLC0415

    cut = texts.fill_null("").str.head(LONGEST_TEXT)
    parts = []
    for start in range(0, len(cut), BATCH_TEXTS):
        part = np.asarray(model.vectors(cut.slice(start, BATCH_TEXTS).to_list())).astype(np.float64)
        lengths = np.sqrt(np.einsum("ij,ij->i", part, part))
        part /= np.where(lengths > 0, lengths, 1.0)[:, None]
        parts.append(part)
    return np.concatenate(parts) if parts else np.zeros((0, 1))


def similarities(first: pl.Series, second: pl.Series, model: TextModel) -> pl.Series:
    """Cosines of the pairs, -1..1, rounded to 4 decimals; null where a text is null. Each distinct text is embedded once."""
    import numpy as np  # noqa: PLC0415

    pairs = pl.DataFrame([first.alias("first"), second.alias("second")]).with_row_index("place")
    needed = pairs.drop_nulls()
    distinct = pl.concat([needed["first"], needed["second"].alias("first")]).unique(maintain_order=True).rename("text")
    vectors = unit_vectors(distinct, model)
    places = distinct.to_frame().with_row_index("vector")
    linked = needed.join(places, left_on="first", right_on="text", maintain_order="left").join(
        places, left_on="second", right_on="text", suffix="_second", maintain_order="left"
    )
    found = np.empty(linked.height)
    for start in range(0, linked.height, BATCH_TEXTS):
        some = linked.slice(start, BATCH_TEXTS)
        one, other = vectors[some["vector"].to_numpy()], vectors[some["vector_second"].to_numpy()]
        found[start : start + some.height] = np.einsum("ij,ij->i", one, other)
    cosines = linked.select("place", rounded(pl.lit(pl.Series("similarity", found)).clip(-1.0, 1.0), DECIMALS))
    return pairs.join(cosines, on="place", how="left", maintain_order="left")["similarity"]
