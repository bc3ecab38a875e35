"""Records that say almost the same as a better one of their format (T6): which leave, and which survivor each of them names.

Works on what `record_traits.py` keeps of the texts of each day, the hash of a record's forms and its signatures: bands say which
records may be alike, signatures which of those are worth a look, and only then are texts fetched, a group of days at a time,
and compared shingle by shingle. Records equal in every field are one from the start.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa

from dagster_project.columns.alike import alike_form
from dagster_project.columns.minhash import BANDS, bands, likeness
from dagster_project.columns.shingles import ShingleSets, mixed, ranges

# What is compared, each by itself: the prompt with its context, the answer (the better one of a pair), the other of a pair.
FIELDS = ("prompt", "answer", "rejected")
_SHARED, _OF_SUM = 9, 4  # Jaccard >= 8/10: shared/(a + b - shared) >= 4/5, so 9 shared >= 4 (a + b)
WORTH_A_LOOK = 0.62  # of a signature's places; two texts at 0.8 agree on fewer once in ten million times
PAIRS_TOGETHER, VERIFIED_TOGETHER = 1 << 20, 1 << 12
FIRST_TURN, LARGEST_TURN, MANY_PAIRS = 64, 4096, 20_000
_LOW = np.uint64(2**32 - 1)

Texts = Callable[[int, pl.Series], pl.DataFrame]


def near_duplicates(records: pl.DataFrame, texts: Texts, folder: Path) -> pl.DataFrame:
    """`id` of every record that leaves and `survivor_id`, the first record in order that stays and is alike.

    records: id, place (in T2's order, the best first), format, label, group (of days), form_hash, prompt_signature
    and answer_signature. Only records of one
    format and label are compared. texts(group, ids) gives id and `FIELDS` of some records of a group, as they were sketched;
    what is needed of them lies in `folder` meanwhile.
    """
    records = records.sort("place").with_row_index("number").with_columns(pl.col("number").cast(pl.Int64))
    alike = ("format", "label", "form_hash")
    records = records.with_columns(pl.col("number").min().over(*alike).alias("first"))
    distinct = records.filter(pl.col("number") == pl.col("first"))
    buckets = _Buckets.of(distinct)
    forms = _Forms(folder, distinct, buckets.members(), texts)
    found = _survivors(distinct, buckets, forms)
    numbers = distinct["number"].to_numpy()
    survivor = np.arange(records.height)
    survivor[numbers] = np.where(found < 0, numbers, numbers[found])
    survivor = survivor[records["first"].to_numpy()]
    leaving = np.flatnonzero(survivor != np.arange(records.height))
    ids = records["id"]
    return pl.DataFrame({"id": ids.gather(leaving), "survivor_id": ids.gather(survivor[leaving])}).sort("id")


class _Buckets:
    """Which records share a band. Places of records are their rows in order; a bucket holds two or more, in order."""

    def __init__(self, keys: np.ndarray) -> None:
        self.keys = keys  # (bucket, row) in one number, sorted
        self.rows = (keys & _LOW).astype(np.int64)
        self._of_row = np.argsort(self.rows, kind="stable")  # entries by row
        self._sorted_rows = self.rows[self._of_row]

    @staticmethod
    def of(records: pl.DataFrame) -> "_Buckets":
        kinds = records.select(pl.struct("format", "label").rank("dense").cast(pl.UInt64)).to_series().to_numpy()
        kinds = mixed(kinds.copy())
        found, count = [np.empty(0, np.uint64)], 0
        of_bands = bands(records["prompt_signature"], records["answer_signature"]).to_numpy()
        for band in range(BANDS):
            key = mixed(of_bands[:, band] ^ kinds)
            order = np.argsort(key, kind="stable")
            in_order = key[order]
            is_same = np.zeros(len(key) + 1, bool)  # as the one before
            is_same[1:-1] = in_order[1:] == in_order[:-1]
            is_shared = is_same[:-1] | is_same[1:]
            rows = order[is_shared].astype(np.uint64)
            bucket = np.cumsum(~is_same[:-1][is_shared])
            found.append(((bucket + count).astype(np.uint64) << np.uint64(32)) | rows)
            count += int(bucket[-1]) if len(bucket) else 0
        return _Buckets(_once(np.concatenate(found)))

    def members(self) -> np.ndarray:
        return np.unique(self.rows)

    def pairs(self, chosen: np.ndarray, last: int, is_later: bool, is_wanted: np.ndarray) -> Iterator[np.ndarray]:
        """Pairs of chosen rows with those after them in a bucket, up to row `last` or beyond it, as one number each."""
        first, end = (
            np.searchsorted(self._sorted_rows, chosen),
            np.searchsorted(self._sorted_rows, chosen, side="right"),
        )
        entries = self._of_row[ranges(first, end - first)]
        bucket = self.keys[entries] & ~_LOW
        middle = np.searchsorted(self.keys, bucket | np.uint64(last), side="right")
        starts = middle if is_later else entries + 1
        ends = np.searchsorted(self.keys, bucket | _LOW, side="right") if is_later else middle
        counts = ends - starts
        cuts = np.searchsorted(np.cumsum(counts), np.arange(PAIRS_TOGETHER, int(counts.sum()), PAIRS_TOGETHER)) + 1
        for some in np.split(np.arange(len(counts)), np.unique(cuts)):
            others = self.rows[ranges(starts[some], counts[some])]
            ours = np.repeat(self.rows[entries[some]], counts[some])
            wanted = is_wanted[others]
            yield (ours[wanted].astype(np.uint64) << np.uint64(32)) | others[wanted].astype(np.uint64)


def _once(keys: np.ndarray) -> np.ndarray:
    """Buckets of the very same records are one: twins share most of their bands."""
    if not len(keys):
        return keys
    bucket = keys >> np.uint64(32)
    starts = np.flatnonzero(np.append(np.True_, bucket[1:] != bucket[:-1]))
    sizes = np.diff(np.append(starts, len(keys)))
    content = np.add.reduceat(mixed(keys & _LOW), starts)
    _, chosen = np.unique(mixed(content + sizes.astype(np.uint64)), return_index=True)
    chosen.sort()
    numbers = np.repeat(np.arange(len(chosen), dtype=np.uint64), sizes[chosen])
    return (numbers << np.uint64(32)) | (keys[ranges(starts[chosen], sizes[chosen])] & _LOW)


class _Forms:
    """Alike forms of the records that may be compared, on disk by group of days."""

    def __init__(self, folder: Path, records: pl.DataFrame, wanted: np.ndarray, texts: Texts) -> None:
        self._file, self._row = np.full(records.height, -1), np.full(records.height, -1)
        self._files: list[pa.Table] = []
        chosen = (
            records.select("id", "group").with_row_index("row").filter(pl.col("row").is_in(pl.Series(wanted).implode()))
        )
        for (group,), some in sorted(chosen.partition_by("group", as_dict=True).items()):
            told = some.select("row", "id").join(texts(int(str(group)), some["id"]), on="id", maintain_order="left")
            path = folder / f"forms.{len(self._files)}.arrow"
            forms = told.select(alike_form(told[name]).fill_null("") for name in FIELDS)
            self._files.append(_on_disk(forms, path))
            rows = told["row"].to_numpy()
            self._file[rows], self._row[rows] = len(self._files) - 1, np.arange(told.height)

    def are_alike(self, pairs: np.ndarray) -> np.ndarray:
        """Of pairs of rows, whether each of their fields is at Jaccard 0.8 by itself."""
        return np.concatenate(
            [
                np.empty(0, bool),
                *(
                    self._some(pairs[start : start + VERIFIED_TOGETHER])
                    for start in range(0, len(pairs), VERIFIED_TOGETHER)
                ),
            ]
        )

    def _some(self, pairs: np.ndarray) -> np.ndarray:
        alike = np.arange(len(pairs))
        for field in FIELDS:
            rows, numbers = np.unique(_both(pairs[alike]), return_inverse=True)
            left, right = np.split(numbers, 2)
            sets = ShingleSets.of(self._texts(field, rows))
            sums = sets.sizes[left] + sets.sizes[right]
            alike = alike[_SHARED * sets.shared(left, right) >= _OF_SUM * sums]
        return np.isin(np.arange(len(pairs)), alike)

    def _texts(self, field: str, rows: np.ndarray) -> pl.Series:
        files = self._file[rows]
        order = np.argsort(files, kind="stable")
        found = [
            pl.Series(self._files[file][field].chunk(0).take(pa.array(self._row[rows[order[files[order] == file]]])))
            for file in np.unique(files)
        ]
        back = np.empty(len(rows), np.int64)
        back[order] = np.arange(len(rows))
        return pl.concat([pl.Series([], dtype=pl.String), *found]).gather(back)


def _on_disk(forms: pl.DataFrame, path: Path) -> pa.Table:
    """The same texts, in memory only while they are read."""
    table = forms.to_arrow().cast(pa.schema([(name, pa.large_string()) for name in FIELDS])).combine_chunks()
    with pa.ipc.new_file(str(path), table.schema) as file:
        file.write_table(table)
    with pa.memory_map(str(path)) as mapped:
        return pa.ipc.open_file(mapped).read_all()


def _both(pairs: np.ndarray) -> np.ndarray:
    return np.concatenate([pairs >> np.uint64(32), pairs & _LOW]).astype(np.int64)


def _survivors(records: pl.DataFrame, buckets: _Buckets, forms: _Forms) -> np.ndarray:
    """Of every row the first row in order that stays and is alike, or -1 for those that stay themselves.

    Rows come in order, some at a turn. Which of these stay is settled among themselves; then what comes later and is alike
    leaves. So a row is compared with survivors only, but for the few of its own turn.
    """
    signs = [records[name].to_numpy() for name in ("prompt_signature", "answer_signature")]
    found, waiting, size = np.full(records.height, -1), buckets.members(), FIRST_TURN

    def alike(chosen: np.ndarray, last: int, is_later: bool) -> tuple[np.ndarray, int]:
        pieces = [np.empty(0, np.uint64)]
        for some in buckets.pairs(chosen, last, is_later, found < 0):
            near = np.unique(some)
            for sign in signs:
                left, right = np.split(_both(near), 2)
                near = near[likeness(sign[left], sign[right]) >= WORTH_A_LOOK]
            pieces.append(near)
        pairs = np.unique(np.concatenate(pieces))
        return pairs[forms.are_alike(pairs)], len(pairs)

    while len(waiting):
        turn, last = waiting[:size], int(waiting[:size][-1])
        edges, seen = alike(turn, last, is_later=False)
        staying = _staying(turn, edges)
        later, _ = alike(staying, last, is_later=True)
        left, right = np.split(_both(np.concatenate([edges, later])), 2)
        is_by_survivor = np.isin(left, staying)
        first = np.full(records.height, records.height)
        np.minimum.at(first, right[is_by_survivor], left[is_by_survivor])
        found = np.where((found < 0) & (first < records.height), first, found)
        waiting = waiting[size:]
        waiting = waiting[found[waiting] < 0]
        size = min(2 * size, LARGEST_TURN) if seen < MANY_PAIRS else max(size // 2, FIRST_TURN)
    return found


def _staying(rows: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Of rows in order those that stay: none before them stays and is alike."""
    left, right = np.split(_both(edges), 2)
    staying, undecided = np.empty(0, np.int64), rows
    while len(undecided):
        stay = undecided[~np.isin(undecided, right)]
        gone = right[np.isin(left, stay)]
        staying = np.concatenate([staying, stay])
        undecided = undecided[~np.isin(undecided, np.concatenate([stay, gone]))]
        is_open = np.isin(left, undecided) & np.isin(right, undecided)
        left, right = left[is_open], right[is_open]
    return staying
