"""How much of a text was changed (rule S4): the figures that npm's `diff` gives with diffChars, in code points.

diffChars looks for a shortest edit script. There may be several, but all remove and add the same number of characters:
both lengths less twice that of the longest common subsequence. So no script is needed, only that number, which
bit-parallel arithmetic finds much faster than any search for a script. diffChars has no special cases: letters of
different case differ, CRLF is two characters, combining marks and joiners are characters of their own.
"""

from functools import partial

import polars as pl
from rapidfuzz.distance import Indel

# The exact answer takes time in proportion to the product of both lengths. When the answer is known to be small, only
# a band around the diagonal has to be looked at. So long pairs are tried first in narrow bands, given as the share of
# both lengths that may have changed; a pair that needs them all costs a fifth more, an edited essay a fifth or less.
NARROW_BANDS = (0.005, 0.05)
WHOLE_BAND = 1.0
LONG_PAIR = 8_000  # code points of both texts together; below that the narrow bands save nothing worth having


def edit_distance_pct(before: pl.Series, after: pl.Series) -> pl.Series:
    """The percentage changed (Int64), 0..100, rounded as JavaScript's Math.round does; null where a text is null.

    The double is multiplied and rounded as it is: 23 of 40 is 57.49999999999999 and gives 57.
    """
    return (changed_fraction(before, after) * 100 + 0.5).floor().cast(pl.Int64).alias("edit_distance_pct")


def changed_fraction(before: pl.Series, after: pl.Series) -> pl.Series:
    """(removed + added) / (common + removed + added), Float64; 0 for two empty texts, null where a text is null."""
    pairs = pl.DataFrame([before.alias("before"), after.alias("after")]).with_columns(
        length=pl.col("before").str.len_chars().cast(pl.Int64) + pl.col("after").str.len_chars()
    )
    changed = pl.lit(_removed_and_added(pairs))
    total = (pl.col("length") + changed) // 2  # both lengths together count what is common twice
    fraction = pl.when(total == 0).then(0.0).otherwise(changed / total)
    return pairs.select(fraction.alias("changed_fraction")).to_series()


def _removed_and_added(pairs: pl.DataFrame) -> pl.Series:
    """How many code points a shortest edit script touches. Equal texts are never turned into Python strings."""
    differ = pairs["before"] != pairs["after"]
    is_long = differ & (pairs["length"] >= LONG_PAIR)
    counts = differ.cast(pl.Int64)  # 0 where the texts are equal, null where one is missing
    for needed, bands in ((differ & ~is_long, (WHOLE_BAND,)), (is_long, (*NARROW_BANDS, WHOLE_BAND))):
        positions = needed.fill_null(False).arg_true()
        if len(positions):
            counts = counts.scatter(positions, _counts_within(pairs[positions], bands))
    return counts


def _counts_within(pairs: pl.DataFrame, bands: tuple[float, ...]) -> pl.Series:
    """The counts of pairs without nulls, each from the first band that holds it."""
    band, *wider = bands
    share_of = partial(Indel.normalized_distance, score_cutoff=band)
    # A series hands out its strings in batches, so the texts are not all held twice.
    shares = pl.Series(list(map(share_of, pairs["before"], pairs["after"])), dtype=pl.Float64)
    counts = (shares * pairs["length"]).round().cast(pl.Int64)
    unresolved = (shares == 1.0).arg_true()  # what does not fit into the band is given as wholly different
    if wider and len(unresolved):
        counts = counts.scatter(unresolved, _counts_within(pairs[unresolved], tuple(wider)))
    return counts
