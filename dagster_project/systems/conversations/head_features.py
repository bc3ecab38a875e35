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
_TEXTS = ("next_message", "prev_response", "prev_query")
_IN_PAIRS = ("next_message", "prev_response")
_MIXED = 0x9E3779B97F4A7C15  # odd: multiplied by it, numbers that differ little land far apart
_UP = 49  # bits that are dropped of 64, for BUCKETS


class Rows(NamedTuple):
    """The features of several pairs, side by side: which weight each takes, and how loud it is."""

    places: "np.ndarray"
    values: "np.ndarray"
    starts: "np.ndarray"

    def __len__(self) -> int:
        return len(self.starts) - 1


Block = tuple["np.ndarray", "np.ndarray"]  # numbers, and how many of them each pair has


def features(pairs: pl.DataFrame) -> Rows:
    """Row for row. Columns: those of the detector, and what it says."""
    import numpy as np  # noqa: PLC0415

    blocks = [_facts(pairs), *_word_blocks(pairs), *_letter_blocks(pairs["prev_response"])]
    counts = np.stack([lengths for _, lengths in blocks])
    starts = np.concatenate([[0], np.cumsum(counts.sum(axis=0))])
    places, values = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.float32)
    before = starts[:-1].copy()
    for number, (found, lengths) in enumerate(blocks):
        # where each feature of the block goes: behind the blocks before it, row by row
        firsts = np.repeat(before - (np.cumsum(lengths) - lengths), lengths)
        to = firsts + np.arange(len(found))
        # the same word in another block is another feature
        places[to] = ((found + np.uint64(number)) * np.uint64(_MIXED)) >> np.uint64(_UP)
        values[to] = np.repeat(1 / np.sqrt(np.maximum(lengths, 1)), lengths)
        before += lengths
    return Rows(places, values, starts)


def _facts(pairs: pl.DataFrame) -> Block:
    """What the rules say, how alike message and query are, how long the texts are, whether they ask."""
    import numpy as np  # noqa: PLC0415

    facts = [pl.col("reason"), pl.col("feedback_status"), pl.col("similarity").fill_null(-2.0).mul(5).floor()]
    facts += [pl.col(text).fill_null("").str.len_chars().add(1).log(2).floor() for text in _TEXTS]
    facts += [pl.col(text).fill_null("").str.contains("?", literal=True) for text in ("next_message", "prev_response")]
    told = pairs.select(pl.format(f"{place} {{}}", fact).alias(str(place)) for place, fact in enumerate(facts))
    numbers = np.stack([_hashed(column) for column in told.iter_columns()], axis=1)
    return numbers.ravel(), np.full(pairs.height, len(facts))


def _word_blocks(pairs: pl.DataFrame) -> list[Block]:
    """Words of each text; and of message and response each word with the one before it."""
    import numpy as np  # noqa: PLC0415

    blocks = []
    for text in _TEXTS:
        words = pairs[text].fill_null("").str.to_lowercase().str.extract_all(_WORD).list.head(WORDS_OF_A_TEXT)
        lengths = words.list.len().to_numpy().astype(np.int64)
        numbers = _hashed(words.explode(empty_as_null=False))
        blocks.append((numbers, lengths))
        if text in _IN_PAIRS:
            earlier = np.concatenate([np.zeros(1, np.uint64), numbers[:-1]])[: len(numbers)]
            earlier[(np.cumsum(lengths) - lengths)[lengths > 0]] = 0  # the first word of a text has none before it
            blocks.append((earlier * np.uint64(_MIXED) + numbers, lengths))
    return blocks


def _hashed(texts: pl.Series) -> "np.ndarray":
    """Polars' own hash, seeded; its version is part of what a head is made from (G12)."""
    return texts.hash(seed=7).to_numpy()


def _letter_blocks(responses: pl.Series) -> list[Block]:
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
        packed = np.zeros(count, np.uint64)
        for place in range(size):
            packed = (packed << np.uint64(8)) | letters[place : place + count]
        sizes = np.maximum(lengths - size + 1, 0)
        # a run that begins in one response and ends in the next is of neither
        firsts = np.repeat(ends - lengths - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
        blocks.append((packed[firsts], sizes))
    return blocks
