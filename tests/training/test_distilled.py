"""Rule D5 (score), against seed 2's own algorithm in decimals and against every combination of inputs."""

from decimal import Decimal
from itertools import product
from typing import Any

import polars as pl
import pytest

from dagster_project.systems.distillation.quality_score import quality_score

SCHEMA = {
    "step_count": pl.Int64,
    "has_sam_errors": pl.Boolean,
    "principle_count": pl.Int64,
    "stored_complexity": pl.Int64,
    "claude_response": pl.String,
    "reasoning_type": pl.String,
    "quality_flags": pl.List(pl.String),
}
# The complete record of seed 2; of its answer only the length counts.
SAMPLE: dict[str, Any] = {
    "step_count": 4,
    "has_sam_errors": True,
    "principle_count": 2,
    "stored_complexity": 5,
    "claude_response": "x" * 1100,
    "reasoning_type": "chain_of_thought",
    "quality_flags": [],
}
PLAIN = SAMPLE | {"step_count": 0, "has_sam_errors": False, "principle_count": 0, "stored_complexity": None}


def scores(*rows: dict[str, Any]) -> list[float]:
    return pl.DataFrame(list(rows), schema=SCHEMA).select(quality_score())["quality_score"].to_list()


def score(**values: Any) -> float:
    return scores(PLAIN | values)[0]


def seed_score(row: dict[str, Any]) -> float:
    """Seed 2's `calculate_quality_score`, word for word, in decimals."""
    total = Decimal("0.5")
    if (row["step_count"] or 0) >= 2:
        total += Decimal("0.1")
    if row["has_sam_errors"]:
        total += Decimal("0.15")
    if (row["principle_count"] or 0) >= 1:
        total += Decimal("0.1")
    if (row["stored_complexity"] or 0) >= 5:
        total += Decimal("0.05")
    if len(row["claude_response"] or "") < 100:
        total -= Decimal("0.2")
    if row["reasoning_type"] == "direct":
        total -= Decimal("0.1")
    if "repetition" in (row["quality_flags"] or []):
        total -= Decimal("0.3")
    if "incomplete" in (row["quality_flags"] or []):
        total -= Decimal("0.2")
    return float(max(Decimal(0), min(Decimal(1), total)))


def test_the_complete_sample_record_scores_090() -> None:
    """D5's golden figure, exactly: the parts add up to 0.9000000000000001 in floating point."""
    assert scores(SAMPLE) == [0.9]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, 0.5),
        ({"step_count": 1}, 0.5),
        ({"step_count": 2}, 0.6),
        ({"has_sam_errors": True}, 0.65),
        ({"principle_count": 1}, 0.6),
        ({"stored_complexity": 4}, 0.5),
        ({"stored_complexity": 5}, 0.55),
        ({"claude_response": "x" * 99}, 0.3),
        ({"claude_response": "x" * 100}, 0.5),
        ({"claude_response": "é" * 99}, 0.3),
        ({"claude_response": "e\u0301" * 50}, 0.5),
        ({"claude_response": "🙂" * 100}, 0.5),
        ({"reasoning_type": "direct"}, 0.4),
        ({"reasoning_type": " Direct\n"}, 0.4),
        ({"reasoning_type": "directed"}, 0.5),
        ({"quality_flags": ["repetition"]}, 0.2),
        ({"quality_flags": ["repetition", "repetition"]}, 0.2),
        ({"quality_flags": ["incomplete"]}, 0.3),
        ({"quality_flags": [" Incomplete "]}, 0.3),
        ({"quality_flags": ["repetition", "incomplete"]}, 0.0),
        ({"quality_flags": ["repetition", "incomplete"], "reasoning_type": "direct"}, 0.0),
    ],
)
def test_each_part(values: dict[str, Any], expected: float) -> None:
    assert score(**values) == expected


@pytest.mark.parametrize(
    "flag",
    [
        "no_reasoning",
        "too_short",
        "too_long",
        "code_only",
        "refusal",
        "uncertain",
        "outdated",
        "hallucination_risk",
        "x",
    ],
)
def test_the_other_flags_never_touch_the_score(flag: str) -> None:
    """D4."""
    assert score(quality_flags=[flag]) == 0.5


def test_what_is_missing_earns_nothing() -> None:
    assert scores(dict.fromkeys(SCHEMA)) == [0.3]
    assert scores() == []


def test_every_combination_is_what_the_seed_says() -> None:
    rows = [
        dict(zip(SCHEMA, values, strict=True))
        for values in product(
            (None, 0, 1, 2),
            (None, False, True),
            (None, 0, 1),
            (None, 4, 5, 10),
            (None, "x" * 99, "x" * 100),
            (None, "direct", "multi_step"),
            (None, [], ["repetition"], ["incomplete"], ["incomplete", "repetition"], ["refusal"]),
        )
    ]
    found = scores(*rows)
    assert found == [seed_score(row) for row in rows]
    assert all(value == round(value, 6) and 0 <= value <= 1 for value in found)
