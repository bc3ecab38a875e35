"""Every rate of a day comes with what it is a rate of and the ends of its 95 % interval."""

import math
import re
from datetime import date
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from dagster_project.contracts import TABLES
from tests.sql.harness import run_sql

DAY = date(2026, 1, 31)
DAILY = sorted(name for name in TABLES if re.fullmatch(r"metric__\w+_daily", name))
RATES = [
    (table, column)
    for table in DAILY
    for column in TABLES[table].columns
    if (column.endswith("_rate") and column != "sample_rate") or column == "net_sentiment"
]
Z = NormalDist().inv_cdf(0.975)


def wilson(successes: float, n: int) -> tuple[float, float]:
    """The shares p for which (successes/n - p)^2 = z^2 p (1 - p) / n: another way to the same interval."""
    share = successes / n
    low, high = sorted(np.roots([1 + Z * Z / n, -(2 * share + Z * Z / n), share * share]).real)
    return round(float(low), 6), round(float(high), 6)


@pytest.mark.parametrize(("table", "rate"), RATES)
def test_a_rate_has_its_interval_and_its_number(table: str, rate: str) -> None:
    """The comment of the interval names the column that says how many there are; where there is no rate there are no ends."""
    contract = TABLES[table]
    ends = [contract.meanings[f"{rate}_{end}"].description for end in ("low", "high")]
    (number,) = {re.fullmatch(r"\w+ end of the 95 % interval of (\w+), by (\w+); .*", end)[2] for end in ends}  # type: ignore[index]
    assert contract.meanings[number].dtype.is_integer()
    assert {contract.columns[f"{rate}_{end}"] for end in ("low", "high")} <= {contract.columns[rate], True}


SESSION_DAY = {
    "date": DAY,
    "total_sessions": 12,
    "positive_ratings": 6,
    "negative_ratings": 1,
    "skipped_ratings": 1,
    "no_feedback_count": 4,
    "first_pass_acceptance_rate": 75.0,
    "reviewed_count": 4,
    "missing_context_count": 2,
    "missing_context_rate": 0.25,
    "is_slice": True,
}
CASES: list[tuple[str, dict[str, list[dict[str, Any]]], dict[str, tuple[float, int]]]] = [
    (
        "metric__turn_daily",
        {
            "core__turns": [
                {"turn_key": str(n), "feedback_status": "rejected" if n < 3 else "accepted" if n < 4 else "neutral"}
                for n in range(9)
            ]
        },
        {"rejected_rate": (3, 9), "accepted_rate": (1, 9), "disputed_rate": (0, 0)},
    ),
    (
        "metric__session_daily",
        {"core__session_days": [{name: value for name, value in SESSION_DAY.items() if name != "is_slice"}]},
        {"positive_rate": (6, 7), "missing_context_rate": (2, 8)},
    ),
    (
        "metric__session_slice_daily",
        {"core__session_figures": [SESSION_DAY]},
        {"positive_rate": (6, 7), "missing_context_rate": (2, 8)},
    ),
    (
        "metric__distillation_daily",
        {"core__distillation": [{"example_id": str(n), "quality_flags": ["refusal"] * (n < 2)} for n in range(7)]},
        {"refusal_rate": (2, 7), "validated_rate": (0, 7)},
    ),
    (
        "metric__reaction_daily",
        {
            "core__reactions": [
                {
                    "reaction_id": str(n),
                    "origin": "user",
                    "reaction": "ok" if n < 5 else "not_ok" if n < 6 else "neutral",
                }
                for n in range(8)
            ]
        },
        {
            "satisfaction_rate": (5, 8),
            "ok_rate": (5, 6),
            "user_satisfaction_rate": (5, 8),
            "user_ok_rate": (5, 6),
            "machine_ok_rate": (0, 0),
        },
    ),
]


@pytest.mark.parametrize(("table", "inputs", "expected"), CASES, ids=[case[0] for case in CASES])
def test_the_intervals_of_a_day(
    table: str,
    inputs: dict[str, list[dict[str, Any]]],
    expected: dict[str, tuple[float, int]],
    tmp_path: Path,
) -> None:
    (day,) = run_sql(tmp_path, table, inputs).rows(named=True)
    ends = {rate: (day[f"{rate}_low"], day[f"{rate}_high"]) for rate in expected}
    assert ends == {rate: wilson(*of) if of[1] else (None, None) for rate, of in expected.items()}


def test_the_interval_of_a_percentage(tmp_path: Path) -> None:
    rows = [{name: value for name, value in SESSION_DAY.items() if name != "is_slice"}]
    (day,) = run_sql(tmp_path, "metric__session_daily", {"core__session_days": rows}).rows(named=True)
    low, high = wilson(3, 4)
    assert day["first_pass_acceptance_rate_low"] == pytest.approx(100 * low, abs=1e-9)
    assert day["first_pass_acceptance_rate_high"] == pytest.approx(100 * high, abs=1e-9)
    assert (day["rated_count"], day["with_feedback_count"], day["positive_rate"]) == (7, 8, 0.857143)


def test_the_interval_of_net_sentiment(tmp_path: Path) -> None:
    """Up minus down is twice the share of ups, less one."""
    counts = [
        {
            "event_date": DAY,
            "domain": "code",
            "effective_type": "rating",
            "sentiment": sentiment,
            "feedback_count": count,
        }
        for sentiment, count in (("positive", 6), ("negative", 2), ("neutral", 5))
    ]
    (day,) = run_sql(tmp_path, "metric__feedback_daily", {"core__feedback_counts": counts}).rows(named=True)
    low, high = wilson(6, 8)
    assert (day["rated_count"], day["net_sentiment"]) == (8, 0.5)
    assert (day["net_sentiment_low"], day["net_sentiment_high"]) == (round(2 * low - 1, 6), round(2 * high - 1, 6))


def test_the_interval_of_the_overall_line(tmp_path: Path) -> None:
    """A mean of shares is as far from its ends as they are from theirs, squared and added by their weights."""
    said = [("reactions", 8, 3), ("sessions", 5, 1)]
    signals = [
        {
            "signal_id": f"{system}{n}",
            "system": system,
            "event_date": DAY,
            "polarity": "positive" if n < up else "negative",
        }
        for system, total, up in said
        for n in range(total)
    ]
    shares = '{"reactions": 0.75, "sessions": 0.25}'
    rows = run_sql(tmp_path, "metric__satisfaction_daily", {"core__signals": signals}, satisfaction_shares=shares)
    lines = {row["system"]: row for row in rows.to_dicts()}
    below = above = 0.0
    for (system, total, up), weight in zip(said, (0.75, 0.25), strict=True):
        low, high = wilson(up, total)
        line = lines[system]
        assert (line["satisfaction_rate_low"], line["satisfaction_rate_high"]) == (low, high)
        assert (line["decided_count"], line["decided_rate_low"], line["decided_rate_high"]) == (total, low, high)
        below += (weight * (up / total - low)) ** 2
        above += (weight * (high - up / total)) ** 2
    overall = lines["overall"]
    rate = 0.75 * 3 / 8 + 0.25 / 5
    assert overall["satisfaction_rate"] == rate
    assert overall["satisfaction_rate_low"] == pytest.approx(rate - math.sqrt(below), abs=2e-6)
    assert overall["decided_rate_high"] == pytest.approx(rate + math.sqrt(above), abs=2e-6)
    assert (overall["decided_count"], overall["signal_count"]) == (13, 13)
