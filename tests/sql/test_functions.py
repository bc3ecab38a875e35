"""Formulas of several queries stand once, in sql/functions.sql, and give exact values."""

import re
from statistics import NormalDist
from typing import Any

import duckdb
import polars as pl
import pytest
import sqlglot
from sqlglot import exp

from dagster_project.contracts.columns import LOW_TIERS, TIERS
from dagster_project.engines.queries import SQL_FOLDER
from dagster_project.engines.sql_functions import FILE, expanded, formula, functions

FILES = sorted(SQL_FOLDER.glob("*/*.sql"))


def value(expression: str) -> Any:
    """What an engine that knows none of our functions makes of it."""
    found = duckdb.sql(f"select {expanded(expression)}").fetchone()
    assert found
    return found[0]


def test_a_call_becomes_its_formula() -> None:
    assert (
        expanded("select tier(a.weight), b")
        == f"select ({functions()['tier'].formula.replace('weight', 'a.weight')}), b"
    )


def test_arguments_may_be_calls_and_hold_commas() -> None:
    assert value("share(greatest(1, least(2, 3)), array_length(['a, (b', 'c']))") == 1.0
    assert value("millionths(six_decimals(coalesce(null, 0.5)))") == 500_000


def test_lines_stay_where_they_are() -> None:
    """An error's line is the file's."""
    for path in FILES:
        sql = path.read_text(encoding="utf-8")
        assert len(expanded(sql).splitlines()) == len(sql.splitlines()), path.name


def test_other_names_are_let_be() -> None:
    for other in ("my_tier(a)", "t.tier(a)", "tier", "$tier(a)"):
        assert expanded(other) == other


def test_duckdb_reads_the_file_itself() -> None:
    """And finds what we find."""
    with duckdb.connect() as connection:
        connection.execute(FILE.read_text(encoding="utf-8"))
        for call in ("tier(0.7)", "estimate(7, 0.3)", "difference_high(0.5, 20, 0.2, 40)", "two_decimals(1, 3)"):
            assert connection.sql(f"select {call}").fetchone() == (value(call),)


def test_every_function_is_called_by_two() -> None:
    """What one query needs stands in that query."""
    texts = [path.read_text(encoding="utf-8") for path in FILES]
    formulas = [function.formula for function in functions().values()]
    for name in functions():
        calls = re.compile(rf"(?<![\w.$]){name}\(")
        assert sum(len(calls.findall(text)) for text in (*texts, *formulas)) >= 2, name


def test_no_formula_stands_in_a_query() -> None:
    for path in FILES:
        for piece in (r"\* 1e12\) / 1e6", r"2000000 \*", r"\(200 \*", r"1\.95", r"'very_low'(?! *\))"):
            assert not re.search(piece, path.read_text(encoding="utf-8")), (path.name, piece)


@pytest.mark.parametrize(
    ("weight", "tier"),
    [
        *[
            (1, "premium"),
            (0.9, "premium"),
            (0.899999, "high"),
            (0.7, "high"),
            (0.699999, "standard"),
            (0.5, "standard"),
        ],
        *[(0.499999, "low"), (0.3, "low"), (0.299999, "very_low"), (0, "very_low")],
    ],
)
def test_tiers(weight: float, tier: str) -> None:
    """F5."""
    assert value(f"tier({weight}::double)") == tier
    assert value(f"is_low({weight}::double)") == (tier in LOW_TIERS)
    of_a_frame = pl.DataFrame({"weight": [float(weight)]}).select(
        tier=formula("tier(weight)"), low=formula("is_low(weight)")
    )
    assert of_a_frame.rows() == [(tier, tier in LOW_TIERS)]


def test_the_rungs_are_the_tiers_there_are() -> None:
    (ladder,) = sqlglot.parse_one(functions()["tier"].formula, dialect="duckdb").find_all(exp.Case)
    assert (*(rung.args["true"].name for rung in ladder.args["ifs"]), ladder.args["default"].name) == TIERS


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("share(1, 3)", 0.333333),
        ("share(2, 3)", 0.666667),
        ("share(1, 2000000)", 0.000001),  # half a millionth, away from zero
        ("share(0, 5)", 0.0),
        ("share(3, 0)", None),
        ("share_of_millionths(1, 2)", 0.000001),
        ("two_decimals(1, 3)", 0.33),
        ("two_decimals(1, 200)", 0.01),
        ("two_decimals(5, 0)", None),
        ("wide_share(1::decimal(38, 0), 3)", 0.333333),
        ("wide_share(123456789012::decimal(38, 0) * 1000000, 2000000 * 61728394506)", 1.0),
        ("wide_share_of_millionths(1::decimal(38, 0), 2)", 0.000001),
        ("six_decimals(0.1234565::double)", 0.123457),
        ("six_decimals(-0.1234565::double)", -0.123457),
        ("millionths(0.1234565::double)", 123457),
        ("estimate(7, 0.3::double)", 23.333333),
        ("estimate(7, 1.0::double)", 7.0),
    ],
)
def test_fractions(call: str, found: Any) -> None:
    """G2: half away from zero on the exact decimal value; of nothing there is no share."""
    assert value(call) == found


def test_the_normal_quantile() -> None:
    assert float(value("z()")) == pytest.approx(NormalDist().inv_cdf(0.975), rel=1e-15)


def test_intervals() -> None:
    """S5, F12: Newcombe's own example (1998, table II, a): 56 of 70 and 48 of 80 differ by 0.2, from 0.0524 to 0.3339."""
    assert value("wilson_low(56 / 70, 70)") == pytest.approx(0.691834, abs=1e-6)
    assert value("wilson_high(56 / 70, 70)") == pytest.approx(0.876953, abs=1e-6)
    assert value("difference_low(56 / 70, 70, 48 / 80, 80)") == pytest.approx(0.0524, abs=5e-5)
    assert value("difference_high(56 / 70, 70, 48 / 80, 80)") == pytest.approx(0.3339, abs=5e-5)


def test_trimming() -> None:
    """G8: a word is trimmed of the same characters everywhere, those Python's isspace() knows."""
    for path in FILES:
        sql = expanded(path.read_text(encoding="utf-8"))
        assert r"\S" not in sql, path.name
        for trim in sqlglot.parse_one(sql, dialect="duckdb").find_all(exp.Trim):
            assert trim.expression is not None and trim.expression.sql("duckdb") == "$spaces", path.name
