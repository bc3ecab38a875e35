"""G2: every fraction is rounded half away from zero on its exact decimal value, in SQL, Polars, NumPy and Python alike."""

from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from math import copysign

import duckdb
import numpy as np
import polars as pl
from hypothesis import example, given
from hypothesis import strategies as st

from dagster_project.columns.rounding import divided, round_half_up, rounded, rounded_array, share

SHARE = "select sign(n) * ((2000000 * abs(n) + d) // nullif(2 * d, 0)) / 1e6 as x from cases"  # as in sql/README.md
DOUBLE = "select round(round(x * 1e12) / 1e6) / 1e6 + 0.0 as x from cases"

# Decimals of up to twelve places, most of them halves in the seventh.
halves = st.integers(-(10**7), 10**7).map(lambda units: Decimal(10 * units + 5).scaleb(-7))
decimals = st.one_of(halves, st.decimals(-1000, 1000, places=12, allow_nan=False, allow_infinity=False))
doubles = st.lists(decimals.map(float), min_size=1, max_size=20)


def expected(value: float, places: int = 6) -> float:
    return float(Decimal(repr(value)).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)) + 0.0


def expected_share(part: int, whole: int) -> float:
    """`decimal` cannot hold a third; at 60 digits no share of these whole numbers is mistaken for a half."""
    exact = Fraction(part, whole)
    digits = Decimal(exact.numerator * 10**60 // exact.denominator).scaleb(-60)
    is_exact = Fraction(digits) == exact
    return (
        float((digits if is_exact else digits + Decimal(1).scaleb(-60)).quantize(Decimal("1e-6"), ROUND_HALF_UP)) + 0.0
    )


def same(found: list[float], wanted: list[float]) -> bool:
    """Equal to the bit: -0.0 is not 0.0."""
    return [(x, copysign(1, x)) for x in found] == [(x, copysign(1, x)) for x in wanted]


@given(doubles)
@example([0.1234565, -0.1234565, 0.3046875, 0.0000005, -0.0000005, -0.0000001, -0.0, 0.35])
def test_doubles_in_every_engine(values: list[float]) -> None:
    wanted = [expected(value) for value in values]
    cases = pl.DataFrame({"x": values})
    assert same(cases.select(rounded(pl.col("x")))["x"].to_list(), wanted)
    assert same(cases.lazy().select(rounded(pl.col("x"))).collect(engine="streaming")["x"].to_list(), wanted)
    assert same(rounded_array(np.array(values)).tolist(), wanted)
    assert same([round_half_up(value) for value in values], wanted)
    with duckdb.connect() as connection:
        connection.register("cases", cases.to_arrow())
        assert same([x for (x,) in connection.sql(DOUBLE).fetchall()], wanted)


@given(st.lists(st.tuples(st.integers(-(10**9), 10**9), st.integers(1, 10**9)), min_size=1, max_size=20))
@example([(1, 2_000_000), (-1, 2_000_000), (3, 2_000_000), (1, 3), (-2, 3), (0, 7), (1, 128), (-1, 4_000_000)])
def test_shares_of_whole_numbers(cases: list[tuple[int, int]]) -> None:
    wanted = [expected_share(part, whole) for part, whole in cases]
    assert same([share(part, whole) for part, whole in cases], wanted)
    with duckdb.connect() as connection:
        connection.register(
            "cases", pl.DataFrame(cases, schema={"n": pl.Int64, "d": pl.Int64}, orient="row").to_arrow()
        )
        assert same([x for (x,) in connection.sql(SHARE).fetchall()], wanted)


def test_few_decimals_and_what_has_no_six() -> None:
    values = pl.DataFrame({"x": [0.12345, -0.00005, 0.03125, None, 1e300, float("inf")]})
    assert values.select(rounded(pl.col("x"), 4))["x"].to_list() == [0.1235, -0.0001, 0.0313, None, 1e300, float("inf")]


@given(st.lists(st.integers(-(10**12), 10**12), min_size=1))
@example([35_000_000, 7_000])
def test_divided_by_a_constant_is_the_nearest_double(values: list[int]) -> None:
    frame = pl.DataFrame({"x": values}, schema={"x": pl.Int64})
    assert frame.select(divided(pl.col("x"), 1e6))["x"].to_list() == [value / 1e6 for value in values]
