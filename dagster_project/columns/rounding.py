"""Rounding of fractions (G2): half away from zero on the exact decimal value, never -0.0. SQL has its own two lines for
it (sql/README.md); both give what `decimal` gives with ROUND_HALF_UP.

A double stands for the decimal of its first twelve places: 0.1234565 is a little less than that in binary, and gives
0.123457 all the same.
"""

from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    import numpy as np

PLACES = 12
LARGE = 1e6  # from here on twelve places do not fit into a whole number; a double has hardly six of its own


def rounded(values: pl.Expr, decimals: int = 6) -> pl.Expr:
    """A column of doubles."""
    unit = 10 ** (PLACES - decimals)
    whole = (values * 10.0**PLACES).round(mode="half_away_from_zero").cast(pl.Int64, strict=False)
    units = whole.sign() * ((2 * whole.abs() + unit) // (2 * unit))
    return pl.when(values.abs() < LARGE).then(divided(units, 10.0**decimals)).otherwise(values) + 0.0


def rounded_array(values: "np.ndarray", decimals: int = 6) -> "np.ndarray":
    """An array of doubles below `LARGE`."""
    import numpy as np  # noqa: PLC0415  a fifth of a second that only runs with conversations need

    places = np.floor(np.abs(values) * 10.0**PLACES + 0.5)
    units = np.floor(places / 10.0 ** (PLACES - decimals) + 0.5)
    return np.copysign(units / 10.0**decimals, values) + 0.0


def divided(values: pl.Expr, by: float) -> pl.Expr:
    """Each the nearest double: by a constant Polars divides with its reciprocal (35 / 100 is 0.35000000000000003)."""
    return values.map_batches(lambda column: _divided(column, by), return_dtype=pl.Float64, is_elementwise=True)


def _divided(column: pl.Series, by: float) -> pl.Series:
    quotients = pc.call_function("divide", [column.cast(pl.Float64).to_arrow(), pa.scalar(by)])
    return pl.Series(column.name, quotients, dtype=pl.Float64)


def share(part: int, whole: int, decimals: int = 6) -> float:
    """part / whole."""
    exact = Fraction(part, whole) * 10**decimals
    units = (2 * abs(exact.numerator) + exact.denominator) // (2 * exact.denominator)
    return (units if exact >= 0 else -units) / 10**decimals


def rate(part: int, whole: int) -> float | None:
    """part / whole; null of nothing."""
    return share(part, whole) if whole else None


def round_half_up(value: float, decimals: int = 6) -> float:
    """One double."""
    places = Decimal(repr(value)).quantize(Decimal(1).scaleb(-PLACES), ROUND_HALF_UP)
    return float(places.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)) + 0.0
