"""Signatures of texts that are the more alike the more shingles two texts share (T6), and the bands that find alike pairs.

One-permutation MinHash: a shingle's hash says into which of the places it falls and what it is worth there; the least stays.
A text with few shingles goes through it again with other hashes for the places that are still empty (as in "fast similarity
sketching"), so that a short text is compared as surely as a long one. The few places left then take what another one holds.

A place keeps one byte. 40 bands of 4 places: two texts at Jaccard 0.8 share none with a chance below 10^-9. Of two signatures
together (a record's prompt and its answers) a band is 4 places of each: at 0.8 both ways none is shared once in 1,600.
"""

import numpy as np
import polars as pl
import pyarrow as pa

from dagster_project.columns.shingles import mixed, parts, shingle_hashes

BANDS, BAND_PLACES = 40, 4
PLACES = BANDS * BAND_PLACES
SIGNATURE = pl.Array(pl.UInt8, PLACES)
_EMPTY = np.uint32(2**32 - 1)
_ENOUGH = (
    PLACES * 9 // 10
)  # places filled by shingles themselves; the nearer to all, the less it matters which text has them
_ROUNDS = 64
_STEP = 0x9E3779B97F4A7C15


def signatures(*fields: pl.Series) -> pl.Series:
    """A signature of each row's alike forms (`alike_form`): of all its fields together, each with shingles of its own kind.

    Of two rows whose every field is alike at some Jaccard, all fields together are at least as alike. A null is as empty.
    """
    forms = [field.fill_null("") for field in fields]
    return pl.Series("signature", np.concatenate([_of_part(part) for part in parts(*forms)]), dtype=SIGNATURE)


def stored(of: pl.Series) -> pl.Series:
    """Signatures as bytes, which is how they are kept; a row without one stays so."""
    given = of.drop_nulls()
    data = pa.py_buffer(np.ascontiguousarray(given.to_numpy().reshape(-1, PLACES)).tobytes())
    lengths = pa.py_buffer(np.where(of.is_null().to_numpy(), 0, PLACES).cumsum().astype(np.int64).tobytes())
    offsets = pa.py_buffer(np.zeros(1, np.int64).tobytes() + lengths.to_pybytes())
    is_there = pa.array(of.is_not_null().to_numpy()).buffers()[1]
    return pl.Series(of.name, pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(of), [is_there, offsets, data]))


def unstored(kept: pl.Series) -> np.ndarray:
    """Kept signatures as rows of bytes, zeros where there is none."""
    found = np.zeros((len(kept), PLACES), np.uint8)
    rows = kept.is_not_null().arg_true().to_numpy()
    together = b"".join(kept.drop_nulls())
    found[rows] = np.frombuffer(together, np.uint8).reshape(-1, PLACES)
    return found


def woven(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Two signatures a row as one: every second place of each. Where both are alike at some Jaccard, so is it."""
    found = one.copy()
    found[:, 1::2] = other[:, 1::2]
    return found


def bands(*of: pl.Series) -> pl.Series:
    """The bands of one signature a row, or of two together: rows that share one at the same place may be alike."""
    places = [signature.to_numpy().reshape(-1, BANDS, BAND_PLACES) for signature in of]
    width = {1: np.dtype("<u4"), 2: np.dtype("<u8")}[len(of)]
    found = np.ascontiguousarray(np.concatenate(places, axis=2)).view(width)[:, :, 0].astype(np.uint64)
    return pl.Series("bands", found, dtype=pl.Array(pl.UInt64, BANDS))


def likeness(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """What share of their places signatures agree on, row by row: about their Jaccard, 0.03 off one time in three."""
    return (left == right).sum(axis=1) / PLACES


def _of_part(forms: tuple[pl.Series, ...]) -> np.ndarray:
    hashes, counts = zip(*map(shingle_hashes, forms), strict=True)
    tagged = [hashes[0], *(mixed(found + _salt(_ROUNDS + number)) for number, found in enumerate(hashes[1:]))]
    height = len(forms[0])
    first_places = np.concatenate([np.repeat(_first_place(np.arange(height)), count) for count in counts])
    together = np.concatenate(tagged)
    least = _least(together, first_places, height)
    _fill_short(least, together, first_places)
    _fill_rest(least)
    return least.astype(np.uint8)


def _salt(number: int) -> np.uint64:
    """One of its own for each turn and, from `_ROUNDS` on, for each field."""
    return np.uint64(number * _STEP % 2**64)


def _first_place(numbers: np.ndarray) -> np.ndarray:
    return (numbers * PLACES).astype(np.uint64)


def _least(hashes: np.ndarray, first_places: np.ndarray, height: int) -> np.ndarray:
    """Of each place the least value that fell into it."""
    places = hashes >> np.uint64(32)
    places *= np.uint64(PLACES)
    places >>= np.uint64(32)
    places += first_places
    least = np.full(height * PLACES, _EMPTY)
    np.minimum.at(least, places.view(np.int64), hashes.astype(np.uint32))
    return least.reshape(height, PLACES)


def _fill_short(least: np.ndarray, hashes: np.ndarray, first_places: np.ndarray) -> None:
    """Other hashes of the same shingles for places that are empty, until a row has enough of them."""
    chosen, rows = np.arange(len(least)), None
    for turn in range(1, _ROUNDS):
        chosen = chosen[(least[chosen] != _EMPTY).sum(axis=1) < _ENOUGH]
        if not len(chosen):
            return
        numbers = np.full(len(least), -1)
        numbers[chosen] = np.arange(len(chosen))
        if rows is None:
            rows = (first_places // np.uint64(PLACES)).astype(np.int64)
        is_wanted = (numbers >= 0)[rows]
        hashes, rows = hashes[is_wanted], rows[is_wanted]
        further = _least(mixed(hashes + _salt(turn)), _first_place(numbers)[rows], len(chosen))
        present = least[chosen]
        least[chosen] = np.where(present == _EMPTY, further, present)


def _fill_rest(least: np.ndarray) -> None:
    """An empty place takes what a filled one holds; which ones it asks, and in what order, is the same for every row."""
    flat, turn = least.ravel(), 0
    empty = np.flatnonzero(flat == _EMPTY)
    found, waiting = np.empty(len(empty), np.uint32), np.arange(len(empty))
    while len(waiting):
        asked = mixed(np.arange(turn * PLACES, (turn + 1) * PLACES, dtype=np.uint64)) % np.uint64(PLACES)
        rows, places = np.divmod(empty[waiting], PLACES)
        found[waiting] = flat[rows * PLACES + asked.astype(np.int64)[places]]
        waiting, turn = waiting[found[waiting] == _EMPTY], turn + 1
    flat[empty] = found
