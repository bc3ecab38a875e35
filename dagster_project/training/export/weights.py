"""What a record weighs within a file (T9): a weight whose mean is 1, or how often it stands in a file drawn by weight.

Weights are added up in millionths, as whole numbers, so that no order of addition matters (G2).
"""

import polars as pl

from dagster_project.columns.rounding import rounded

MILLION = 1_000_000


def in_millionths(weights: pl.Series) -> pl.Series:
    return (weights * MILLION).round().cast(pl.Int64)


def mean_one(weights: pl.Series) -> pl.Series:
    """Where nothing weighs anything, all weigh the same."""
    millionths = in_millionths(weights)
    whole = int(millionths.sum())
    if not whole:
        return pl.Series(weights.name, [1.0] * weights.len(), dtype=pl.Float64)
    share = millionths.cast(pl.Float64) * (weights.len() / whole)
    return share.to_frame().select(rounded(pl.first())).to_series()


def copies(weights: pl.Series, ids: pl.Series) -> pl.Series:
    """How often each record stands in a file of as many records, drawn by weight without chance.

    The records lie in order of their ids, which are hashes, each as long as it is heavy; a comb with as many teeth as there
    are records is laid on them. So a record stands there as often as its weight over the mean says, rounded up or down, and
    which of them are rounded up does not depend on time or source.
    """
    count = weights.len()
    millionths = in_millionths(weights)
    whole = int(millionths.sum())
    if not whole:
        return pl.Series("copies", [1] * count, dtype=pl.UInt32)
    order = ids.arg_sort()
    # of a tooth at (k + 1/2) * whole / count: how many lie before the end of a record; more than 64 bits where there are millions
    end = pl.col("end").cast(pl.Int128)
    teeth = ((2 * end * count + whole - 1) // (2 * whole)).alias("teeth")
    before = pl.DataFrame({"end": millionths.gather(order).cum_sum()}).select(teeth)["teeth"]
    drawn = before - before.shift(fill_value=0)
    place = pl.DataFrame({"order": order, "copies": drawn.cast(pl.UInt32)}).sort("order")
    return place["copies"]
