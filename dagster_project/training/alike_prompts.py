"""All pairs of prompts whose shingles have a Jaccard of 0.7 or more (T6), without comparing all with all.

Two such sets differ in few shingles. So if shingles are dealt into cells, the same for all sets, some cell of both holds the
very same ones; and if not, then when they are dealt another time. Sets are looked for by what a cell holds; of what is found
most falls away by a checksum of bits, which differ in at most as many places as the sets do, and what is left is compared
shingle by shingle, exactly. Cells are so many, and dealt so often, that a pair just at 0.7 meets in none of them with a chance
below one in a billion (`_Cells`). To look for a shared rare shingle instead, which overlooks none at all, takes a hundred times
as long where a million prompts are made of some thousand phrases.
"""

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

import numpy as np
import polars as pl

from dagster_project.columns.shingles import ShingleSets, mixed, parts, ranges
from dagster_project.engines.workers import in_order, nothing_to_check

# Jaccard >= 7/10 in whole numbers: shared/(a + b - shared) >= 7/10, so 17 shared >= 7 (a + b), and 17 different <= 3 (a + b).
_SHARED, _OF_SUM, _APART = 17, 7, 3
_LOW = np.uint64(2**32 - 1)
_ONE_MORE = 2.0**44  # so many that what a cell's shingles are worth together, in 32 bits each, stays below it
PAIRS_TOGETHER = 1 << 19
VERIFIED_TOGETHER = 1 << 15


@dataclass(frozen=True)
class Means:
    """What a search may use: a folder for the contents of cells, about 1 KB a prompt, and workers; `check` raises to stop."""

    folder: Path | None = None
    workers: int = 1
    check: Callable[[], None] = nothing_to_check


@dataclass(frozen=True)
class Need:
    """Which pairs are still needed, told by the labels of their rows. Labels may change while pairs are found: then fewer are
    looked at and yielded, and what they say together is the same."""

    labels: Callable[[], np.ndarray]
    of: Callable[[np.ndarray, np.ndarray], np.ndarray]

    def among(self, labels: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return self.of(labels[left], labels[right])


PLAIN = Means()


def alike_pairs(
    forms: pl.Series, is_new: np.ndarray | None = None, need: Need | None = None, means: Means = PLAIN
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Pairs of rows of distinct `forms`, in pieces, each pair at least once.

    With `is_new` only pairs of which one is new, with `need` only those it asks for.
    """
    if len(forms) < 2:
        return
    sizes = np.concatenate([ShingleSets.of(part).sizes for (part,) in parts(forms)])
    order = np.argsort(sizes, kind="stable")
    in_sizes = sizes[order]
    least = 1
    while least <= in_sizes[-1]:  # sets of half an octave of sizes, and the smaller ones they may be alike to
        most = max(least, least * 7 // 5)
        first, last = np.searchsorted(in_sizes, [(least * 7 + 9) // 10, most + 1])
        rows = order[first:last]
        larger = int(np.searchsorted(in_sizes[first:last], least))
        if larger < len(rows) and len(rows) > 1:
            wanted = _Wanted(rows, larger, None if is_new is None else is_new[rows], need)
            with tempfile.TemporaryFile(dir=means.folder) as file:
                block = _Block.of(forms.gather(rows), in_sizes[first:last], _Cells.of(most), file, means)
                for left, right in block.candidates(wanted, means):
                    yield from _verified(forms, left, right, need)
        least = most + 1


@dataclass(frozen=True)
class _Cells:
    """How shingles are dealt: into how many cells, how often, and how many a cell must hold to be looked at.

    The more a cell holds, the fewer sets share it by chance; the fewer it holds, the likelier a pair at 0.7 does. Measured by
    drawing pairs just at 0.7 of sets of every size: none of them is overlooked more often than once in 10^8.
    """

    count: int
    least: int
    deals: int

    @staticmethod
    def of(size: int) -> "_Cells":
        """For sets of at most so many shingles, and of half as many at least."""
        if size < 10:
            return _Cells(3, 1, 40)
        if size < 40:
            count = max(3, round(size / 4))
            return _Cells(count, 2, -(-110 // count))
        count = round(size / 5.5)
        return _Cells(count, 5, max(2, -(-240 // count)))


@dataclass(frozen=True)
class _Wanted:
    """Which pairs of a block are wanted, by their numbers in it: the larger set of each is one from `larger` on."""

    rows: np.ndarray
    larger: int
    is_new: np.ndarray | None
    need: Need | None

    def labels(self) -> np.ndarray | None:
        return None if self.need is None else self.need.labels()[self.rows]

    def of(self, left: np.ndarray, right: np.ndarray, labels: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        if self.is_new is not None:
            chosen = self.is_new[left] | self.is_new[right]
            left, right = left[chosen], right[chosen]
        if self.need is not None and labels is not None:
            chosen = self.need.among(labels, left, right)
            left, right = left[chosen], right[chosen]
        return left, right


@dataclass(frozen=True)
class _Block:
    """Sets of some sizes, the smallest first, with what pairs are found and thrown away by."""

    sizes: np.ndarray
    checksums: np.ndarray  # of every place whether an odd number of a set's shingles falls on it
    contents: list[np.ndarray]  # of some sets each: what every cell (row) holds, in 32 bits; 0: too little

    @staticmethod
    def of(forms: pl.Series, sizes: np.ndarray, cells: _Cells, file: IO[bytes], means: Means) -> "_Block":
        words = 2 ** int(np.ceil(np.log2(max(2, 1.5 * sizes[-1] / 64))))

        def work(part: tuple[pl.Series, ...]) -> tuple[np.ndarray, np.ndarray]:
            sets = ShingleSets.of(part[0])
            dealt = [_dealt(sets, cells, deal) for deal in range(cells.deals)]
            return _checksums(sets, words), np.concatenate(dealt)

        checksums, heights = [], []
        for checksum, dealt in in_order(work, parts(forms), means.workers, means.check):
            checksums.append(checksum)
            heights.append(len(checksum))
            file.write(dealt.data)
        file.flush()
        width = cells.count * cells.deals
        whole = np.memmap(file, np.uint32, "r")
        ends = np.cumsum(heights)
        contents = [
            whole[(end - height) * width : end * width].reshape(width, height)
            for end, height in zip(ends, heights, strict=True)
        ]
        return _Block(sizes, np.concatenate(checksums), contents)

    def candidates(self, wanted: _Wanted, means: Means) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Pairs of rows that may be alike."""
        lowest = np.searchsorted(self.sizes, (self.sizes * 7 + 9) // 10)  # of each set the smallest it may be alike to
        work = partial(self._sharing, wanted, lowest.astype(np.uint64))
        waiting: list[np.ndarray] = []
        for found in in_order(work, range(len(self.contents[0])), means.workers, means.check):
            waiting.append(found)
            if sum(map(len, waiting)) > PAIRS_TOGETHER:
                yield _rows(wanted, waiting)
                waiting = []
        if waiting:
            yield _rows(wanted, waiting)

    def _sharing(self, wanted: _Wanted, lowest: np.ndarray, cell: int) -> np.ndarray:
        """Pairs whose cell holds the same and that no checksum rules out, as one number each: the larger set, the smaller."""
        held = np.concatenate([some[cell] for some in self.contents])
        places = np.flatnonzero(held)
        keys = (held[places].astype(np.uint64) << np.uint64(32)) | places.astype(np.uint64)
        keys.sort()
        if wanted.is_new is not None:  # contents that nothing new has are not looked at
            contents = keys >> np.uint64(32)
            keys = keys[np.isin(contents, contents[wanted.is_new[(keys & _LOW).astype(np.int64)]])]
        numbers = (keys & _LOW).astype(np.int64)
        ends = np.flatnonzero(numbers >= wanted.larger)
        starts = np.searchsorted(keys, (keys[ends] & ~_LOW) | lowest[numbers[ends]])
        ends, starts = ends[ends > starts], starts[ends > starts]
        counts = ends - starts
        found, labels = [np.empty(0, np.uint64)], wanted.labels()
        cuts = np.searchsorted(np.cumsum(counts), np.arange(PAIRS_TOGETHER, int(counts.sum()), PAIRS_TOGETHER)) + 1
        for some in np.split(np.arange(len(counts)), np.unique(cuts)):
            left = numbers[ranges(starts[some], counts[some])]
            left, right = wanted.of(left, np.repeat(numbers[ends[some]], counts[some]), labels)
            near = self._are_near(left, right)
            found.append((right[near].astype(np.uint64) << np.uint64(32)) | left[near].astype(np.uint64))
        return np.concatenate(found)

    def _are_near(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Places of pairs that no checksum rules out."""
        near = np.arange(len(left))
        sums = _APART * (self.sizes[left] + self.sizes[right])
        apart = np.zeros(len(left), np.int64)
        for word in range(self.checksums.shape[1]):
            apart += np.bitwise_count(self.checksums[left, word] ^ self.checksums[right, word])
            if word % 2:
                kept = np.flatnonzero(_SHARED * apart <= sums)
                near, left, right, sums, apart = near[kept], left[kept], right[kept], sums[kept], apart[kept]
        return near


def _rows(wanted: _Wanted, found: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    pairs = np.unique(np.concatenate(found))
    return wanted.rows[(pairs & _LOW).astype(np.int64)], wanted.rows[(pairs >> np.uint64(32)).astype(np.int64)]


def _dealt(sets: ShingleSets, cells: _Cells, deal: int) -> np.ndarray:
    """What each cell (row) of each set (column) holds, in 32 bits; 0 where it holds too little to be looked at."""
    factor = mixed(np.array([2 * deal + 1], np.uint64))[0] | np.uint64(1)
    found = sets.numbers * factor
    found ^= found >> np.uint64(32)
    cell = ((found >> np.uint64(32)) * np.uint64(cells.count) >> np.uint64(32)).astype(np.int64)
    heights = len(sets.sizes)
    cell *= heights
    cell += np.repeat(np.arange(heights), sets.sizes)
    worth = (found & _LOW).astype(np.float64)
    worth += _ONE_MORE
    held = np.bincount(cell, worth, cells.count * heights)
    contents = mixed(held.astype(np.uint64)) | np.uint64(1)
    contents[held < cells.least * _ONE_MORE] = 0
    return contents.astype(np.uint32).reshape(cells.count, heights)


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
    forms: pl.Series, left: np.ndarray, right: np.ndarray, need: Need | None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for start in range(0, len(left), VERIFIED_TOGETHER):
        one, other = left[start : start + VERIFIED_TOGETHER], right[start : start + VERIFIED_TOGETHER]
        if need is not None:
            wanted = need.among(need.labels(), one, other)
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
