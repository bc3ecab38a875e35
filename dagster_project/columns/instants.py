"""Epoch seconds to instants (G1): UTC, microseconds, between 2000 and 2100; milliseconds are repaired and said so."""

from collections.abc import Sequence
from datetime import date

import polars as pl

from dagster_project.columns.rounding import divided

MILLISECONDS = (1e11, 1e14)
FIRST_US, LAST_US = 946_684_800_000_000, 4_102_444_800_000_000
INSTANT = pl.Datetime("us", "UTC")
EPOCH = date(1970, 1, 1)


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
        *(pl.when(found).then(divided(pl.col(c), 1000.0)).otherwise(pl.col(c)) for c, found in in_milliseconds.items()),
        pl.Series("repairs", notes, dtype=pl.List(pl.String)).gather(number),
    )


def instant(seconds: pl.Expr) -> pl.Expr:
    """The instant of an epoch value to the microsecond (G2), null where it is not a valid event time."""
    finite = pl.when(seconds.is_finite() & seconds.is_between(0, 5e9)).then(seconds)
    whole = finite.floor()
    rest = ((finite - whole) * 1e6).round(mode="half_away_from_zero")  # no digit is lost before it is rounded
    microseconds = whole.cast(pl.Int64) * 1_000_000 + rest.cast(pl.Int64)
    valid = microseconds.is_between(FIRST_US, LAST_US, closed="left")
    return pl.when(valid).then(microseconds).cast(INSTANT)


_NUMBER = r"^-?[0-9]+(?:\.[0-9]*)?(?:e[+-]?[0-9]+)?$"
_ISO = (
    r"^([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[t ]([0-9]{2}:[0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?)?"
    r" ?(z|[+-][0-9]{2}(?::?[0-9]{2})?)?$"
)


def epoch_seconds(times: pl.Series) -> pl.Series:
    """Texts to epoch seconds: a number as it is, an ISO time to the microsecond (no offset = UTC); null for all else."""
    text = times.str.strip_chars(" ").str.to_lowercase()
    is_number = text.str.contains(_NUMBER)
    numbers = pl.select(pl.when(is_number).then(text).cast(pl.Float64, strict=False)).to_series()
    if (is_number | text.is_null()).all():
        return numbers.alias(times.name)
    parts = pl.select(text.str.extract_groups(_ISO).alias("parts")).unnest("parts")
    parts.columns = ["day", "minute", "second", "fraction", "offset"]
    naive = pl.concat_str(
        "day", pl.lit(" "), pl.col("minute").fill_null("00:00"), pl.lit(":"), pl.col("second").fill_null("00")
    )
    moment = naive.str.to_datetime("%Y-%m-%d %H:%M:%S", time_unit="us", strict=False).dt.epoch("us")
    microseconds = pl.col("fraction").fill_null("").str.pad_end(6, "0").str.head(6).cast(pl.Int64)
    digits = pl.col("offset").str.replace("z", "+0000").str.replace(":", "").str.pad_end(5, "0").fill_null("+0000")
    minutes = digits.str.slice(1, 2).cast(pl.Int64) * 60 + digits.str.slice(3, 2).cast(pl.Int64)
    shift = minutes * pl.when(digits.str.starts_with("-")).then(-60_000_000).otherwise(60_000_000)
    iso = seconds_of(parts.select(moment + microseconds - shift).to_series())
    return pl.select(pl.coalesce(numbers, iso).alias(times.name)).to_series()


def seconds_of(microseconds: pl.Series) -> pl.Series:
    """Whole microseconds as seconds, each the nearest double."""
    return microseconds.to_frame().select(divided(pl.first(), 1e6)).to_series()


def day_numbers(seconds: pl.Expr) -> pl.Expr:
    """Epoch values, milliseconds repaired (G1), as days since 1970; null without a valid event time."""
    in_milliseconds = seconds.is_between(*MILLISECONDS, closed="left")
    repaired = pl.when(in_milliseconds).then(divided(seconds, 1000.0)).otherwise(seconds)
    return (instant(repaired).dt.date() - pl.lit(EPOCH)).dt.total_days()
