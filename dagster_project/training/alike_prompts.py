"""All pairs of prompts whose shingles have a Jaccard of 0.7 or more, found exactly and without comparing all with all (T6).

Two such sets share at least 0.7 of the larger one. So if the shingles of all sets are put into one order, the rarest first, a
small part of each, its first shingles, already has one in common; sets are looked for by those alone. Of what is found most
falls away by its length or by a checksum of bits, which differ in at most as many places as the sets do. What is left is
compared shingle by shingle. No step loses a pair, and none is a guess.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from dagster_project.columns.shingles import ShingleSets, mixed, parts, ranges

# Jaccard >= 7/10 in whole numbers: shared/(a + b - shared) >= 7/10, so 17 shared >= 7 (a + b), and 17 different <= 3 (a + b).
_SHARED, _OF_SUM, _APART = 17, 7, 3
_LOOKED_FOR, _INDEXED = (7, 10), (14, 17)  # the least a set shares with a smaller one, and with a larger one
_LOW = np.uint64(2**32 - 1)
FREQUENCY_BITS = 22  # of the buckets that shingles are counted in, at most: only an order hangs on them
LEVEL_BITS = 6  # four levels of frequency a doubling; put before a shingle's number, so that rare ones sort first
PROBES_TOGETHER = 1 << 12
PAIRS_TOGETHER = 1 << 19
VERIFIED_TOGETHER = 1 << 15

Skip = Callable[[np.ndarray, np.ndarray], np.ndarray]


def alike_pairs(
    forms: pl.Series, is_new: np.ndarray | None = None, skip: Skip | None = None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Pairs of rows of distinct `forms`, in pieces, each pair at least once.

    With `is_new` only pairs of which one is new; `skip` says of pairs whether they need not be looked at any more.
    """
    if len(forms) < 2:
        return
    sizes, levels = _measured(forms)
    order = np.argsort(sizes, kind="stable")
    in_order = sizes[order]
    least = 1
    while least <= in_order[-1]:  # sets of one octave of sizes, and the smaller ones they may be alike to
        first, last = np.searchsorted(in_order, [(least * 7 + 9) // 10, 2 * least])
        rows = order[first:last]
        probes = int(np.searchsorted(in_order[first:last], least))
        if probes < len(rows) and len(rows) > 1:
            block = _Block.of(forms.gather(rows), in_order[first:last], levels)
            for left, right in block.candidates(probes, None if is_new is None else is_new[rows]):
                yield from _verified(forms, rows[left], rows[right], skip)
        least *= 2


def _measured(forms: pl.Series) -> tuple[np.ndarray, np.ndarray]:
    """How many distinct shingles each form has, and how often shingles occur, by the first bits of their number."""
    bits = min(FREQUENCY_BITS, max(8, int(forms.str.len_bytes().sum()).bit_length()))
    sizes, frequencies = [], np.zeros(1 << bits, np.int64)
    for (part,) in parts(forms):
        sets = ShingleSets.of(part)
        sizes.append(sets.sizes)
        frequencies += np.bincount(_bucket(sets.numbers, 1 << bits), minlength=1 << bits)
    levels = np.minimum(np.ceil(4 * np.log2(np.maximum(frequencies, 1))), 2**LEVEL_BITS - 1)
    return np.concatenate(sizes), levels.astype(np.uint64)


def _bucket(numbers: np.ndarray, buckets: int) -> np.ndarray:
    return (numbers & np.uint64(buckets - 1)).astype(np.int64)


@dataclass(frozen=True)
class _Block:
    """Sets of some sizes, the smallest first, with what pairs are found and thrown away by."""

    sizes: np.ndarray
    checksums: np.ndarray  # of every place whether an odd number of a set's shingles falls on it
    index: np.ndarray  # the first shingles of each set, as `_entries`, sorted
    firsts: np.ndarray  # the somewhat longer part of each set that is looked for
    counts: np.ndarray  # how many of those each set has

    @staticmethod
    def of(forms: pl.Series, sizes: np.ndarray, levels: np.ndarray) -> "_Block":
        words = 2 ** int(np.ceil(np.log2(max(2, 1.5 * sizes[-1] / 64))))
        checksums, firsts, index, start = [], [], [], 0
        for (part,) in parts(forms):
            sets = ShingleSets.of(part)
            checksums.append(_checksums(sets, words))
            level = levels[_bucket(sets.numbers, len(levels))] << np.uint64(64 - LEVEL_BITS)
            rarest = ShingleSets.sorted(level | (sets.numbers >> np.uint64(LEVEL_BITS)), sets.sizes)
            numbers = np.arange(start, start + len(part))
            firsts.append(_firsts(rarest, _LOOKED_FOR))
            index.append(_entries(_firsts(rarest, _INDEXED), np.repeat(numbers, _first_counts(sets.sizes, _INDEXED))))
            start += len(part)
        whole = np.concatenate(index)
        whole.sort()
        return _Block(
            sizes, np.concatenate(checksums), whole, np.concatenate(firsts), _first_counts(sizes, _LOOKED_FOR)
        )

    def candidates(self, probes: int, is_new: np.ndarray | None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Pairs of numbers that may be alike, the smaller set first; the larger ones are those from `probes` on."""
        before = np.cumsum(self.counts) - self.counts
        lowest = np.searchsorted(self.sizes, (self.sizes * 7 + 9) // 10)  # of each set the smallest it may be alike to
        for start in range(probes, len(self.sizes), PROBES_TOGETHER):
            numbers = np.arange(start, min(start + PROBES_TOGETHER, len(self.sizes)))
            counts = self.counts[numbers]
            wanted = self.firsts[before[start] : before[start] + int(counts.sum())]
            looked_for = _entries(wanted, np.repeat(numbers, counts))
            looked_for.sort()
            larger = (looked_for & _LOW).astype(np.int64)
            ends = np.searchsorted(self.index, looked_for)
            starts = np.searchsorted(self.index, (looked_for & ~_LOW) | lowest[larger].astype(np.uint64))
            found = self._near(starts, ends - starts, larger, is_new)
            if len(found):
                yield (found & _LOW).astype(np.int64), (found >> np.uint64(32)).astype(np.int64)

    def _near(
        self, starts: np.ndarray, counts: np.ndarray, larger: np.ndarray, is_new: np.ndarray | None
    ) -> np.ndarray:
        """The pairs in stretches of the index that neither length nor checksum rules out, each once, in one number."""
        found = np.empty(0, np.uint64)
        waiting: list[np.ndarray] = []
        cuts = np.searchsorted(np.cumsum(counts), np.arange(PAIRS_TOGETHER, int(counts.sum()), PAIRS_TOGETHER)) + 1
        for some in np.split(np.arange(len(counts)), np.unique(cuts)):
            left = (self.index[ranges(starts[some], counts[some])] & _LOW).astype(np.int64)
            right = np.repeat(larger[some], counts[some])
            if is_new is not None:
                wanted = is_new[left] | is_new[right]
                left, right = left[wanted], right[wanted]
            sums = _APART * (self.sizes[left] + self.sizes[right])
            apart = np.zeros(len(left), np.int64)
            for word in range(self.checksums.shape[1]):
                apart += np.bitwise_count(self.checksums[left, word] ^ self.checksums[right, word])
                if word % 2:
                    near = np.flatnonzero(_SHARED * apart <= sums)
                    left, right, sums, apart = left[near], right[near], sums[near], apart[near]
            waiting.append((right.astype(np.uint64) << np.uint64(32)) | left.astype(np.uint64))
            if sum(map(len, waiting)) > PAIRS_TOGETHER:
                found, waiting = np.unique(np.concatenate([found, *waiting])), []
        return np.unique(np.concatenate([found, *waiting]))


def _first_counts(sizes: np.ndarray, share: tuple[int, int]) -> np.ndarray:
    """How many first shingles hold one in common with every set that shares so much with it."""
    part, of = share
    return sizes - (sizes * part + of - 1) // of + 1


def _firsts(rarest: ShingleSets, share: tuple[int, int]) -> np.ndarray:
    return rarest.numbers[ranges(rarest.starts, _first_counts(rarest.sizes, share))]


def _entries(shingles: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """A shingle and the number of its set as one number. Half of the shingle's: a pair too many is found out later."""
    return (mixed(shingles.copy()) & ~_LOW) | numbers.astype(np.uint64)


def _checksums(sets: ShingleSets, words: int) -> np.ndarray:
    found = np.empty((len(sets.sizes), words), np.uint64)
    width, rows = words * 64, max(1, (1 << 20) // (words * 64))
    for start in range(0, len(sets.sizes), rows):
        sizes = sets.sizes[start : start + rows]
        first = sets.starts[start]
        places = sets.numbers[first : first + int(sizes.sum())] & np.uint64(width - 1)
        where = places.astype(np.int64) + np.repeat(np.arange(len(sizes)) * width, sizes)
        is_odd = np.bincount(where, minlength=len(sizes) * width).astype(np.uint8) & 1
        found[start : start + len(sizes)] = np.packbits(is_odd.reshape(len(sizes), width), axis=1).view(np.uint64)
    return found


def _verified(
    forms: pl.Series, left: np.ndarray, right: np.ndarray, skip: Skip | None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for start in range(0, len(left), VERIFIED_TOGETHER):
        one, other = left[start : start + VERIFIED_TOGETHER], right[start : start + VERIFIED_TOGETHER]
        if skip is not None:
            wanted = ~skip(one, other)
            one, other = one[wanted], other[wanted]
        rows, numbers = np.unique(np.concatenate([one, other]), return_inverse=True)
        if not len(rows):
            continue
        sets = ShingleSets.of(forms.gather(rows))
        first, second = numbers[: len(one)], numbers[len(one) :]
        sums = sets.sizes[first] + sets.sizes[second]
        is_alike = _SHARED * sets.shared(first, second) >= _OF_SUM * sums
        if is_alike.any():
            yield one[is_alike], other[is_alike]
