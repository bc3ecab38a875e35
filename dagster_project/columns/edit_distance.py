"""How much of a text was changed (rule S4): the figures that seed 4's code gives on npm's `diff`, to the last digit.

diffChars looks for a shortest edit script over code points; the figures count the UTF-16 units of what it removes, adds
and leaves. All shortest scripts leave equally many characters, the longest common subsequence: bit-parallel arithmetic
finds that number much faster than any search for a script. Only where both texts share characters beyond the BMP, which
are two units each, does it matter which characters stay; there the package's own script is followed (`common_of`).
diffChars has no special cases: letters of different case differ, CRLF is two characters, combining marks and joiners are
characters of their own.
"""

from collections.abc import Iterator
from math import isqrt

import polars as pl
from rapidfuzz.distance import Indel, LCSseq, Prefix

# The exact answer takes time in proportion to the product of both lengths; above this the law wants none.
LONGEST_PRODUCT = 10**11
# When the answer is known to be small, only a band around the diagonal has to be looked at. So long pairs are tried
# first in narrow bands, given as the share of both lengths that may have changed; a pair that needs them all costs a
# fifth more, an edited essay a fifth or less.
NARROW_BANDS = (0.005, 0.05)
LONG_PAIR = 8_000  # code points of both texts together; below that the narrow bands save nothing worth having
# A pair above this product, half a second's work, is counted row by row: slower, but a signal is heard in between.
LONGEST_STRIDE = 2 * 10**10
MASK_BYTES = 64 * 2**20

_BEYOND_BMP = r"[\x{10000}-\x{10FFFF}]"
_LAST_OF_BMP = "\uffff"


def edit_changes(before: pl.Series, after: pl.Series) -> pl.DataFrame:
    """Per pair `changed` and `total`, in UTF-16 units: removed + added, and those with what is common.

    Beside them `changed_fraction` (Float64), changed / total; `edit_distance_pct` (Int64), the double times 100 rounded as
    Math.round does (23 of 40 is 57.49999999999999 and gives 57); both 0 for two empty texts. All are null where a text
    is, and where the pair `is_too_long`.
    """
    pairs = pl.DataFrame([before.alias("before"), after.alias("after")]).with_columns(
        lengths=pl.struct(pl.col("before", "after").str.len_chars().cast(pl.Int64)),
        units=_units("before") + _units("after"),
    )
    one, other = (pl.col("lengths").struct.field(side) for side in ("before", "after"))
    # As a quotient, because the product of two lengths may not fit.
    is_too_long = (one > LONGEST_PRODUCT // pl.max_horizontal(other, 1)).fill_null(False)
    pairs = pairs.with_columns(length=one + other, product=one.cast(pl.Float64) * other, is_too_long=is_too_long)
    common = pl.lit(_common_units(pairs))
    counts = pairs.select("is_too_long", changed=pl.col("units") - 2 * common, total=pl.col("units") - common)
    fraction = pl.when(pl.col("total") == 0).then(0.0).otherwise(pl.col("changed") / pl.col("total"))
    return counts.with_columns(changed_fraction=fraction).with_columns(
        edit_distance_pct=(pl.col("changed_fraction") * 100 + 0.5).floor().cast(pl.Int64)
    )


def _units(column: str) -> pl.Expr:
    """The length in UTF-16 units."""
    return (pl.col(column).str.len_chars() + pl.col(column).str.count_matches(_BEYOND_BMP)).cast(pl.Int64)


def _common_units(pairs: pl.DataFrame) -> pl.Series:
    """What diffChars leaves, in UTF-16 units; null where a text is missing or too long. Equal texts are never looked at."""
    is_equal = (pairs["before"] == pairs["after"]) & ~pairs["is_too_long"]
    common = pairs.select(pl.when(is_equal).then(pl.col("units") // 2)).to_series()
    differ = (pairs["before"] != pairs["after"]).fill_null(False) & ~pairs["is_too_long"]
    is_astral = differ & (pairs["units"] > pairs["length"])
    for needed, count in ((differ & ~is_astral, _common_length), (is_astral, _common_astral_units)):
        positions = needed.arg_true()
        if len(positions):
            # a loop that is Python's own, so that a signal is heard between two pairs
            chosen = pairs[positions].select("before", "after", "length", "product")
            common = common.scatter(positions, [count(*pair) for pair in chosen.iter_rows()])
    return common


def _common_length(before: str, after: str, length: int, product: float) -> int:
    """The length of the longest common subsequence."""
    for band in NARROW_BANDS if length >= LONG_PAIR else ():
        furthest = int(band * length)
        distance = Indel.distance(before, after, score_cutoff=furthest)
        if distance <= furthest:
            return (length - distance) // 2
    if product <= LONGEST_STRIDE:
        return LCSseq.similarity(before, after)
    shorter, longer = sorted((before, after), key=len)
    table = _Table(longer)
    return len(longer) - table.last_row(shorter, table.first).bit_count()


def _common_astral_units(before: str, after: str, length: int, product: float) -> int:
    """The same in UTF-16 units, of two texts of which at least one has characters beyond the BMP."""
    # Where both begin alike the package follows; what is left may share no character beyond the BMP at all.
    start = Prefix.similarity(before, after)
    start_units = start + sum(character > _LAST_OF_BMP for character in before[:start])
    before, after = before[start:], after[start:]
    if max(set(before).intersection(after), default="") <= _LAST_OF_BMP:
        rest = _common_length(before, after, length - 2 * start, len(before) * len(after))
        return start_units + rest
    return start_units + sum(1 + (character > _LAST_OF_BMP) for character in common_of(before, after))


def common_of(before: str, after: str) -> Iterator[str]:
    """The characters diffChars leaves, last one first.

    Of two ways to a place it takes the one that adds last, and it follows what is equal as far as that goes. So, seen from
    the end, it adds as long as that costs no common character, else removes if that costs none, else leaves. Rows are
    made again from every so-manieth one on, so that the square root of them is all that is kept.
    """
    table = _Table(after)
    stride = isqrt(len(before)) + 1
    starts = range(0, len(before), stride)
    kept = [table.first]
    for start in starts:
        kept.append(table.last_row(before[start : start + stride], kept[-1]))
    place = _last_growth(kept[-1], len(after))
    for start in reversed(starts):
        kept.pop()
        stretch = before[start : start + stride]
        rows = [kept[-1], *table.rows(stretch[:-1], kept[-1])]
        for character, row in zip(reversed(stretch), reversed(rows), strict=True):
            reached = _last_growth(row, place)
            if reached != place:
                yield character
            place = reached


def _last_growth(row: int, place: int) -> int:
    """The last place up to this one at which the common subsequence grows; 0 where there is none."""
    return (~row & ((1 << place) - 1)).bit_length()


class _Table:
    """The table of longest common subsequences with a text, row by row, as bits of one integer.

    A row belongs to the characters of the other text so far: at every place of this text where one more character makes
    the common subsequence longer its bit is 0. The next row takes five operations, however long the text is.
    """

    def __init__(self, text: str) -> None:
        self.first = (1 << len(text)) - 1
        self.size = len(text) // 8 + 1
        self.places: dict[str, list[int]] = {}
        for place, character in enumerate(text):
            self.places.setdefault(character, []).append(place)
        self.masks: dict[str, int] = {}

    def rows(self, characters: str, row: int) -> Iterator[int]:
        for character in characters:
            same = row & self.mask(character)
            row = ((row + same) | (row - same)) & self.first
            yield row

    def last_row(self, characters: str, row: int) -> int:
        for last in self.rows(characters, row):
            row = last
        return row

    def mask(self, character: str) -> int:
        """A bit for each place the character stands at. A text of very many different ones makes some of them again."""
        if character not in self.places:
            return 0
        mask = self.masks.get(character)
        if mask is None:
            bits = bytearray(self.size)
            for place in self.places[character]:
                bits[place >> 3] |= 1 << (place & 7)
            mask = int.from_bytes(bits, "little")
            if len(self.masks) * self.size < MASK_BYTES:
                self.masks[character] = mask
        return mask
