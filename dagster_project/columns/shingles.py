"""Shingles of texts (T6): every 5 characters in a row as one number, and sets of them.

The number of a shingle is the same in every version and on every machine: its code points packed, mixed one to one. Below
U+1000 no two shingles share a number; above, two do with a chance of one in 2^60.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl

LENGTH = 5
TOGETHER = 1 << 20  # bytes of text worked on at once: what fits into the processor's cache
_PAD = "\x00" * LENGTH  # no form holds NUL, so a text shorter than a shingle is its own
_BITS = 12
_HIGH = [0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93, 0xA0761D6478BD642F]
_HALF, _FACTORS = np.uint64(32), (np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53))
_MISSING = np.uint64(2**64 - 1)
PAIRS_TOGETHER = 1 << 21  # shingles of pairs compared at once


def parts(*fields: pl.Series) -> Iterator[tuple[pl.Series, ...]]:
    """The rows in order, so many at once as `TOGETHER` says; one that is longer comes alone. Of no rows one part without any."""
    lengths = sum(field.str.len_bytes().cast(pl.Int64).to_numpy() for field in fields)
    numbers = (np.cumsum(lengths) - 1) // TOGETHER
    cuts = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(fields[0])]
    return (tuple(field.slice(start, end - start) for field in fields) for start, end in pairwise(cuts))


def mixed(numbers: np.ndarray) -> np.ndarray:
    """Whole numbers of 64 bits, one to one onto numbers without pattern. Changes what it is given."""
    numbers *= _FACTORS[0]
    numbers ^= (shifted := numbers >> _HALF)
    numbers *= _FACTORS[1]
    numbers ^= np.right_shift(numbers, _HALF, out=shifted)
    return numbers


def shingle_hashes(forms: pl.Series) -> tuple[np.ndarray, np.ndarray]:
    """The shingles of all forms in order, repeated ones too, and how many each form has (at least one)."""
    if not len(forms):
        return np.empty(0, np.uint64), np.empty(0, np.int64)
    lengths = forms.str.len_chars().to_numpy().astype(np.int64)
    together = forms.str.join(_PAD)[0] + _PAD
    codes = (
        np.frombuffer(together.encode("ascii"), np.uint8)
        if together.isascii()
        else np.frombuffer(together.encode("utf-32-le"), np.uint32)
    )
    is_shingle = (codes[: 1 - LENGTH] != 0) & (codes[LENGTH - 1 :] != 0)
    is_short = lengths < LENGTH
    if is_short.any():
        starts = np.cumsum(lengths + LENGTH) - (lengths + LENGTH)
        is_shingle[starts[is_short]] = True
    windows = _packed(codes.astype(np.uint64))
    return mixed(windows[is_shingle]), np.maximum(lengths - (LENGTH - 1), 1)


def _packed(codes: np.ndarray) -> np.ndarray:
    """Of each place the number of the 5 characters from there on."""
    size = len(codes) - LENGTH + 1
    high = codes >> np.uint64(_BITS)
    beyond = np.flatnonzero(high)
    low = codes & np.uint64(2**_BITS - 1) if len(beyond) else codes
    twos = low[1:] << np.uint64(_BITS)
    twos |= low[:-1]
    found = twos[2 : size + 2] << np.uint64(2 * _BITS)
    found |= twos[:size]
    found |= np.left_shift(low[4 : size + 4], np.uint64(4 * _BITS), out=high[:size])
    for place, factor in enumerate(_HIGH if len(beyond) else ()):
        within = beyond[(beyond >= place) & (beyond < size + place)]
        found[within - place] += (codes[within] >> np.uint64(_BITS)) * np.uint64(factor)
    return found


def ranges(starts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The whole numbers of many ranges, one after the other."""
    before = np.cumsum(counts) - counts
    return np.repeat(starts - before, counts) + np.arange(int(counts.sum()))


@dataclass(frozen=True)
class ShingleSets:
    """The distinct shingles of many texts, each text's in ascending order, laid end to end."""

    numbers: np.ndarray
    starts: np.ndarray
    sizes: np.ndarray

    @staticmethod
    def of(forms: pl.Series) -> "ShingleSets":
        found = [ShingleSets.sorted(*shingle_hashes(part)) for (part,) in parts(forms)]
        sizes = np.concatenate([some.sizes for some in found])
        numbers = np.concatenate([some.numbers for some in found])
        return ShingleSets(numbers, np.cumsum(sizes) - sizes, sizes)

    @staticmethod
    def sorted(numbers: np.ndarray, counts: np.ndarray) -> "ShingleSets":
        """Of numbers laid end to end."""
        before = np.cumsum(counts) - counts
        sizes = np.zeros(len(counts), np.int64)
        found: list[tuple[np.ndarray, np.ndarray]] = []
        for rows, width in _alike_long(counts):
            filled = np.sort(_padded(numbers, before[rows], counts[rows], width), axis=1)
            is_first = np.empty(filled.shape, bool)
            is_first[:, 0] = True
            np.not_equal(filled[:, 1:], filled[:, :-1], out=is_first[:, 1:])
            is_first &= filled != _MISSING
            sizes[rows] = is_first.sum(axis=1)
            found.append((rows, filled[is_first]))
        starts = np.cumsum(sizes) - sizes
        laid = np.empty(int(sizes.sum()), np.uint64)
        for rows, distinct in found:
            laid[ranges(starts[rows], sizes[rows])] = distinct
        return ShingleSets(laid, starts, sizes)

    def shared(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """How many shingles the texts of each pair have in common; texts by their number."""
        totals = self.sizes[left] + self.sizes[right]
        found = np.empty(len(left), np.int64)
        for rows, width in _alike_long(totals):
            for start in range(0, len(rows), max(1, PAIRS_TOGETHER // width)):
                some = rows[start : start + max(1, PAIRS_TOGETHER // width)]
                one, other = left[some], right[some]
                both = np.full((len(some), width), _MISSING)
                for side, shift in ((one, np.zeros(len(some), np.int64)), (other, self.sizes[one])):
                    into = ranges(np.arange(len(some)) * width + shift, self.sizes[side])
                    both.ravel()[into] = self.numbers[ranges(self.starts[side], self.sizes[side])]
                both.sort(axis=1)
                repeats = (both[:, 1:] == both[:, :-1]) & (both[:, 1:] != _MISSING)
                found[some] = repeats.sum(axis=1)
        return found

    def jaccard(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        shared = self.shared(left, right)
        return shared / (self.sizes[left] + self.sizes[right] - shared)


def _alike_long(counts: np.ndarray) -> Iterator[tuple[np.ndarray, int]]:
    """Rows put together by length, a quarter longer at most, with the longest length: what fits into one rectangle."""
    if not len(counts):
        return
    classes = np.floor(np.log(np.maximum(counts, 1)) / np.log(1.25)).astype(np.int64)
    order = np.argsort(classes, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(classes[order])) + 1):
        yield rows, max(1, int(counts[rows].max()))


def _padded(numbers: np.ndarray, starts: np.ndarray, counts: np.ndarray, width: int) -> np.ndarray:
    filled = np.full((len(starts), width), _MISSING)
    filled.ravel()[ranges(np.arange(len(starts)) * width, counts)] = numbers[ranges(starts, counts)]
    return filled
