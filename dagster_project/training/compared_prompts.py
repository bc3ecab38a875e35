"""Which of some prompts are alike to any of many others, by comparing all with all: what the proof of leaks goes by (T3).

It shares no code and no idea with the search that made the splits: nothing is looked up, so nothing can be overlooked. Of every
prompt a row of bits says which of its pieces of five characters there are, by their hash; two prompts differ in at least as many
pieces as their rows do in bits. Rows are compared in rectangles that fit into the processor's cache, a few nanoseconds a pair;
the few pairs that come through are compared piece by piece, as sets of texts.
"""

from collections.abc import Sequence

import numpy as np

LENGTH = 5
ROWS, COLUMNS = 64, 2048
MOST_WORDS = 64  # of bits: the few prompts of thousands of characters are told apart by fewer
# Jaccard >= 7/10: at most 3 in 17 of the pieces of both, repeated ones counted twice, are in one alone
APART, OF_SUM = 3, 17


def pieces(prompt: str) -> set[str]:
    """Every five characters in a row; a shorter text is its own."""
    return {prompt[place : place + LENGTH] for place in range(max(1, len(prompt) - LENGTH + 1))}


def are_alike(one: set[str], other: set[str]) -> bool:
    return 10 * len(one & other) >= 7 * len(one | other)


class ComparedPrompts:
    """Prompts that others are compared with, some at a time; `alike` are those any of them was alike to."""

    def __init__(self, prompts: Sequence[str]) -> None:
        self.prompts, self.alike = list(prompts), set[str]()
        self._numbers, self._starts, self._sizes = _hashed(self.prompts)
        classes = np.ceil(np.log2(np.maximum(self._sizes, 2))).astype(np.int64)
        self._classes = [(int(found), np.flatnonzero(classes == found)) for found in np.unique(classes)]

    def compare(self, others: Sequence[str]) -> None:
        """Look at some more of the others."""
        numbers, starts, sizes = _hashed(others)
        for octave, rows in self._classes:
            largest = 2**octave  # of the prompts in this class; the smallest is half of it
            columns = np.flatnonzero((20 * sizes > 7 * largest) & (7 * sizes <= 10 * largest))
            if not len(columns):
                continue
            columns = columns[np.argsort(sizes[columns], kind="stable")]
            words = min(-(-largest * 3 // 128), MOST_WORDS)  # one and a half bits a piece
            ours = _bits(self._numbers, self._starts[rows], self._sizes[rows], words)
            theirs = _bits(numbers, starts[columns], sizes[columns], words)
            for first in range(0, len(rows), ROWS):
                for place in range(0, len(columns), COLUMNS):
                    here, there = slice(first, first + ROWS), slice(place, place + COLUMNS)
                    apart = np.zeros((len(rows[here]), len(columns[there])), np.uint16)
                    for one, other in zip(ours, theirs, strict=True):
                        apart += np.bitwise_count(one[here, None] ^ other[there])
                    most = APART * (self._sizes[rows[here]] + sizes[columns[there][-1]]) // OF_SUM
                    may_be = apart <= np.minimum(most, 64 * MOST_WORDS).astype(np.uint16)[:, None]
                    if may_be.any():
                        self._look(rows[here], columns[there], others, may_be)

    def _look(self, rows: np.ndarray, columns: np.ndarray, others: Sequence[str], may_be: np.ndarray) -> None:
        """Piece by piece."""
        for row, column in zip(*np.nonzero(may_be), strict=True):
            prompt = self.prompts[int(rows[row])]
            if prompt not in self.alike and are_alike(pieces(prompt), pieces(others[int(columns[column])])):
                self.alike.add(prompt)


def _hashed(prompts: Sequence[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The distinct pieces of all prompts as numbers of 32 bits, laid end to end; where each prompt's begin, how many there are."""
    lengths = np.array([max(len(prompt), LENGTH) for prompt in prompts], np.int64)
    text = "".join(prompt.ljust(LENGTH, "\x00") for prompt in prompts)
    codes = np.frombuffer(text.encode("utf-32-le"), np.uint32).astype(np.uint64)
    if not len(codes):
        return np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0, np.int64)
    hashes = np.zeros(len(codes) - LENGTH + 1, np.uint64)
    for place in range(LENGTH):
        hashes = hashes * np.uint64(0x100000001B3) + codes[place : len(codes) - LENGTH + 1 + place] + np.uint64(1)
    hashes = (hashes * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)
    ends = np.cumsum(lengths)
    owner = np.repeat(np.arange(len(prompts), dtype=np.uint64), lengths)[: len(hashes)]
    is_whole = np.arange(len(hashes)) + LENGTH <= np.repeat(ends, lengths)[: len(hashes)]
    found = np.sort((owner[is_whole] << np.uint64(32)) | hashes[is_whole])
    distinct = found[np.append(np.True_, found[1:] != found[:-1])]
    sizes = np.bincount((distinct >> np.uint64(32)).astype(np.int64), minlength=len(prompts))
    return distinct & np.uint64(2**32 - 1), np.cumsum(sizes) - sizes, sizes


def _bits(numbers: np.ndarray, starts: np.ndarray, sizes: np.ndarray, words: int) -> np.ndarray:
    """Of each word of bits a row: what it is for every prompt."""
    within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    bit = numbers[np.repeat(starts, sizes) + within] % np.uint64(64 * words)
    is_there = np.zeros((len(sizes), 64 * words), bool)
    is_there[np.repeat(np.arange(len(sizes)), sizes), bit.astype(np.int64)] = True
    return np.ascontiguousarray(np.packbits(is_there, axis=1).view(np.uint64).T)
