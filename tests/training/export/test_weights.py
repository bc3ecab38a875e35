"""Weights of mean 1, and files drawn by weight without chance (T9)."""

from fractions import Fraction

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from dagster_project.training.export.weights import copies, mean_one

weights = st.lists(st.integers(0, 1_000_000).map(lambda n: n / 1_000_000), min_size=1, max_size=40)


def test_weights_over_their_mean() -> None:
    assert mean_one(pl.Series([0.3, 0.6, 0.9])).to_list() == [0.5, 1.0, 1.5]
    assert mean_one(pl.Series([0.7, 0.8, 0.9, 0.9])).to_list() == [0.848485, 0.969697, 1.090909, 1.090909]
    assert mean_one(pl.Series([0.0, 0.0])).to_list() == [1.0, 1.0]


def test_a_heavy_record_stands_more_often() -> None:
    ids = pl.Series(["c", "a", "b", "d"])
    assert copies(pl.Series([0.2, 0.2, 0.2, 1.0]), ids).to_list() == [0, 0, 1, 3]
    assert copies(pl.Series([0.5, 0.5, 0.5, 0.5]), ids).to_list() == [1, 1, 1, 1]
    assert copies(pl.Series([0.0, 0.0, 0.0, 0.0]), ids).to_list() == [1, 1, 1, 1]


@given(weights)
def test_the_mean_is_one(values: list[float]) -> None:
    found = mean_one(pl.Series(values))
    assert abs(found.sum() - len(values)) <= 1e-6 * len(values)


@given(weights, st.randoms())
def test_as_often_as_it_weighs_rounded_up_or_down_wherever_it_stands(values: list[float], shuffler) -> None:
    ids = [f"{number:04}" for number in range(len(values))]
    found = dict(zip(ids, copies(pl.Series(values), pl.Series(ids)).to_list(), strict=True))
    assert sum(found.values()) == len(values)
    exact = [Fraction(round(value * 1_000_000)) for value in values]
    whole = sum(exact)
    if whole:
        assert all(abs(found[one] - value * len(values) / whole) < 1 for one, value in zip(ids, exact, strict=True))
    order = list(range(len(values)))
    shuffler.shuffle(order)
    again = copies(pl.Series([values[n] for n in order]), pl.Series([ids[n] for n in order])).to_list()
    assert {ids[n]: count for n, count in zip(order, again, strict=True)} == found


def test_millions_do_not_overflow() -> None:
    count = 3_000_000
    assert copies(pl.repeat(1.0, count, eager=True), pl.int_range(count, eager=True).cast(pl.String)).sum() == count
