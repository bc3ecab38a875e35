"""What a head sees of a pair (C7): hashed features, from which no word can be read back. Pure functions on columns.

Blocks of features: what the rules and the sizes say; the words of the message, of the response and of the query; pairs of
words; runs of 3, 4 and 5 letters of the response, since the labels are about it. Each block of a pair weighs as much as each other,
however long the text is.
"""

from typing import TYPE_CHECKING, NamedTuple

import polars as pl

if TYPE_CHECKING:
    import numpy as np

BUCKETS = 1 << 15
WORDS_OF_A_TEXT = 60
LETTERS_OF_A_RESPONSE = 300
RUNS = (3, 4, 5)
_WORD = r"[\p{L}\p{N}]+"
_TEXTS = {"m": "next_message", "r": "prev_response", "q": "prev_query"}
_MIXED = 0x9E3779B97F4A7C15  # odd: multiplied by it, runs that differ in their last letter land far apart
_UP = 49  # bits that are dropped of 64, for BUCKETS


class Rows(NamedTuple):
    """The features of several pairs, side by side: which weight each takes, and how loud it is."""

    places: "np.ndarray"
    values: "np.ndarray"
    starts: "np.ndarray"

    def __len__(self) -> int:
        return len(self.starts) - 1


def features(pairs: pl.DataFrame) -> Rows:
    """Row for row. Columns: those of the detector, and what it says."""
    import numpy as np  # noqa: PLC0415

    blocks = [_hashed(block) for block in _word_blocks(pairs)] + _letter_blocks(pairs["prev_response"])
    counts = np.stack([lengths for _, lengths in blocks])
    starts = np.concatenate([[0], np.cumsum(counts.sum(axis=0))])
    places, values = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.float32)
    before = starts[:-1].copy()
    for found, lengths in blocks:
        # where each feature of the block goes: behind the blocks before it, row by row
        firsts = np.repeat(before - (np.cumsum(lengths) - lengths), lengths)
        to = firsts + np.arange(len(found))
        places[to] = found
        values[to] = np.repeat(1 / np.sqrt(np.maximum(lengths, 1)), lengths)
        before += lengths
    return Rows(places, values, starts)


def _word_blocks(pairs: pl.DataFrame) -> pl.DataFrame:
    similarity = pl.col("similarity").fill_null(-2.0).mul(5).floor().cast(pl.Int64)
    facts = [
        pl.format("rule {}", "reason"),
        pl.format("status {}", "feedback_status"),
        pl.format("similarity {}", similarity),
        *(
            pl.format(
                f"size {name} {{}}", pl.col(text).fill_null("").str.len_chars().add(1).log(2).floor().cast(pl.Int64)
            )
            for name, text in _TEXTS.items()
        ),
        *(
            pl.format(f"asks {name} {{}}", pl.col(_TEXTS[name]).fill_null("").str.contains("?", literal=True))
            for name in "mr"
        ),
    ]
    words = {
        name: pl.col(text).fill_null("").str.to_lowercase().str.extract_all(_WORD).list.head(WORDS_OF_A_TEXT)
        for name, text in _TEXTS.items()
    }
    one = pl.element()
    blocks = [pl.concat_list(facts).alias("facts")]
    blocks += [words[name].list.eval(pl.format(f"{name} {{}}", one)).alias(name) for name in "mrq"]
    blocks += [
        words[name].list.eval(pl.format(f"{name}2 {{}} {{}}", one.shift(1).fill_null("^"), one)).alias(f"{name}2")
        for name in "mr"
    ]
    return pairs.select(blocks)


def _hashed(block: pl.Series) -> "tuple[np.ndarray, np.ndarray]":
    """Each feature of a row once. Polars' own hash, seeded; its version is part of what a head is made from (G12)."""
    import numpy as np  # noqa: PLC0415

    places = block.list.eval((pl.element().hash(seed=7) % BUCKETS).cast(pl.Int32)).list.unique().list.sort()
    return places.explode(empty_as_null=False).to_numpy(), places.list.len().to_numpy().astype(np.int64)


def _letter_blocks(responses: pl.Series) -> "list[tuple[np.ndarray, np.ndarray]]":
    """Runs of bytes of the responses, which lie end to end: a few multiplications over one array, however many there are."""
    import numpy as np  # noqa: PLC0415

    texts = (
        responses.fill_null("")
        .str.head(LETTERS_OF_A_RESPONSE)
        .str.to_lowercase()
        .str.replace_all(r"\s+", " ")
        .str.strip_chars(" ")
    )
    spaced = texts.to_frame("text").select(pl.format(" {} ", "text"))["text"]
    letters = np.frombuffer("".join(spaced.to_list()).encode(), np.uint8).astype(np.uint64)
    lengths = spaced.str.len_bytes().to_numpy().astype(np.int64)
    ends = np.cumsum(lengths)
    blocks = []
    for size in RUNS:
        count = max(len(letters) - size + 1, 0)
        packed = np.full(count, size, np.uint64)
        for place in range(size):
            packed = (packed << np.uint64(8)) | letters[place : place + count]
        hashed = ((packed * np.uint64(_MIXED)) >> np.uint64(_UP)).astype(np.int32)
        sizes = np.maximum(lengths - size + 1, 0)
        # a run that begins in one response and ends in the next is of neither
        firsts = np.repeat(ends - lengths - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
        blocks.append((hashed[firsts], sizes))
    return blocks
