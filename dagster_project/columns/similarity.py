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
    depend on its neighbours.
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
        encoded = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        ids = [text.ids for text in encoded]
        lengths = np.fromiter(map(len, ids), dtype=np.int64, count=len(ids))
        filled = lengths > 0
        if filled.any():
            flat = np.fromiter(chain.from_iterable(ids), dtype=np.int64, count=int(lengths.sum()))
            starts = np.concatenate([[0], np.cumsum(lengths[filled])[:-1]])
            found[filled] = np.add.reduceat(self._tokens[flat], starts, axis=0)
        return found


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
    parts = [
        np.asarray(model.vectors(cut.slice(start, BATCH_TEXTS).to_list()), dtype=np.float64)
        for start in range(0, len(cut), BATCH_TEXTS)
    ]
    vectors = np.concatenate(parts) if parts else np.zeros((0, 1))
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return vectors / np.where(lengths > 0, lengths, 1.0)[:, None]


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
