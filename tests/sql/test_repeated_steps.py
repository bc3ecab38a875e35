"""What has to stand in several queries, because a query has no functions, stands there word for word."""

import re
from statistics import NormalDist

import pytest
import sqlglot
from sqlglot import exp

from dagster_project.contracts.columns import TIERS
from tests.sql.portable import SQL_FOLDER

LADDER = dict(zip(TIERS, (0.9, 0.7, 0.5, 0.3, None), strict=True))
ESTIMATES = ("total", "positive", "negative", "skipped", "silent")


def text_of(table: str) -> str:
    (path,) = SQL_FOLDER.glob(f"*/{table}.sql")
    return path.read_text(encoding="utf-8")


def step(table: str, name: str) -> str:
    """A named step of a query as it is written."""
    found = re.search(rf"^(?:with )?{name} as \($.*?^\)", text_of(table), re.MULTILINE | re.DOTALL)
    assert found, f"{table} has no step {name}"
    return found[0]


@pytest.mark.parametrize("name", ["centres", "wilson"])
def test_intervals(name: str) -> None:
    """S5, F12: Wilson's interval of two shares."""
    assert step("metric__context_effectiveness", name) == step("metric__error_patterns", name)


def test_the_normal_quantile() -> None:
    """Every 95 % interval reaches equally far."""
    said = {
        found for path in SQL_FOLDER.glob("*/*.sql") for found in re.findall(r"(\S+) as z$", path.read_text(), re.M)
    }
    (z,) = said
    assert float(z) == pytest.approx(NormalDist().inv_cdf(0.975), rel=1e-15)


def test_trimming() -> None:
    """G8: a word is trimmed of the same characters everywhere, those Python's isspace() knows."""
    for path in sorted(SQL_FOLDER.glob("*/*.sql")):
        sql = path.read_text(encoding="utf-8")
        assert r"\S" not in sql, path.name
        for trim in sqlglot.parse_one(sql, dialect="duckdb").find_all(exp.Trim):
            assert trim.expression is not None and trim.expression.sql("duckdb") == "$spaces", path.name


def test_estimates() -> None:
    """S7: a count over the sample rate, of a day and of a slice."""
    assert step("metric__session_daily", "estimated") == step("metric__session_slice_daily", "estimated")
    ends = [
        [line for line in text_of(table).splitlines() if line.endswith("_estimate") or "_estimate," in line]
        for table in ("metric__session_daily", "metric__session_slice_daily")
    ]
    assert [line.rstrip(",") for line in ends[0]] == [line.rstrip(",") for line in ends[1]]
    assert len(ends[0]) == len(ESTIMATES)


def test_tiers() -> None:
    """F5: every ladder has these rungs; a join with a table of them would compare each row with each rung."""
    ladders = []
    for path in sorted(SQL_FOLDER.glob("*/*.sql")):
        for case in sqlglot.parse_one(path.read_text(encoding="utf-8"), dialect="duckdb").find_all(exp.Case):
            if not any(found.name in TIERS for found in case.find_all(exp.Literal)):
                continue
            assert all(isinstance(rung.this, exp.GTE) for rung in case.args["ifs"])
            rungs = {rung.args["true"].name: float(rung.this.expression.name) for rung in case.args["ifs"]}
            ladders.append((path.stem, {**rungs, case.args["default"].name: None}))
    assert [table for table, _ in ladders] == [
        "core__distillation_candidates",
        "core__feedback",
        "core__feedback",
        "core__feedback_candidates",
    ]
    assert all(ladder == LADDER for _, ladder in ladders)
