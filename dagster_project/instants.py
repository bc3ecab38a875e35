"""Epoch seconds to instants (G1): UTC, microseconds, between 2000 and 2100; milliseconds are repaired and said so."""

from collections.abc import Sequence

import polars as pl

MILLISECONDS = (1e11, 1e14)
FIRST_US, LAST_US = 946_684_800_000_000, 4_102_444_800_000_000
INSTANT = pl.Datetime("us", "UTC")


def repair_milliseconds(rows: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Divide what can only be milliseconds by 1000, and list it in `repairs`."""
    in_milliseconds = {c: pl.col(c).is_between(*MILLISECONDS, closed="left").fill_null(False) for c in columns}
    notes = [[]]  # every combination of repairs; a row's own is found by its number
    for column in columns:
        notes += [[*some, f"{column}:milliseconds"] for some in notes]
    numbers = [found.cast(pl.UInt32) * 2**place for place, found in enumerate(in_milliseconds.values())]
    number = rows.select(pl.sum_horizontal(pl.lit(0, dtype=pl.UInt32), *numbers).alias("number"))["number"]
    if not number.sum():
        return rows.with_columns(pl.lit([], dtype=pl.List(pl.String)).alias("repairs"))
    return rows.with_columns(
        # a column of divisors: by a constant Polars divides with its reciprocal, and misses the nearest number
        *(pl.col(c) / pl.when(found).then(1000.0).otherwise(1.0) for c, found in in_milliseconds.items()),
        pl.Series("repairs", notes, dtype=pl.List(pl.String)).gather(number),
    )


def instant(seconds: pl.Expr) -> pl.Expr:
    """The instant of an epoch value, null where it is not a valid event time. Rounds as Python's fromtimestamp does."""
    finite = pl.when(seconds.is_finite() & seconds.is_between(0, 5e9)).then(seconds)
    whole = finite.floor()
    microseconds = whole.cast(pl.Int64) * 1_000_000 + ((finite - whole) * 1e6).round(mode="half_to_even").cast(pl.Int64)
    valid = microseconds.is_between(FIRST_US, LAST_US, closed="left")
    return pl.when(valid).then(microseconds).cast(INSTANT)
