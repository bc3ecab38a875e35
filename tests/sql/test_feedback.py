"""core__voices, core__answers, core__feedback: one voice per person (F3), weights (F4, F5), contested answers (F8)."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.sql.harness import AS_OF, run_sql


def feedback(folder: Path, *rows: dict[str, Any]) -> pl.DataFrame:
    """core__feedback as the pipeline makes it, from rows of core__feedback_keys."""
    keys = list(rows)
    voices = run_sql(folder / "voices", "core__voices", {"core__feedback_keys": keys}).to_dicts()
    answers = run_sql(
        folder / "answers", "core__answers", {"core__feedback_keys": keys, "core__voices": voices}
    ).to_dicts()
    inputs = {"core__feedback_keys": keys, "core__voices": voices, "core__answers": answers}
    return run_sql(folder / "feedback", "core__feedback", inputs)


def ago(**span: float) -> Any:
    return AS_OF - timedelta(**span)


CORRECTION = {"effective_type": "correction", "sentiment": None}
PREFERENCE = {"effective_type": "preference", "sentiment": None}
REPLACED = {"correction_length": 250, "what_was_wrong_length": 71, "correction_type": "full_replacement"}
GOLDEN: list[tuple[str, dict[str, Any], float]] = [
    # (what, columns, weight at age 0): seed 0's samples and examples, by its own algorithm
    ("rating sample", {}, 0.60),
    ("correction sample (addition)", CORRECTION | {"correction_length": 119, "what_was_wrong_length": 55}, 0.90),
    ("preference sample", PREFERENCE | {"comparison_basis_length": 27}, 0.70),
    ("example 1", {}, 0.60),
    ("example 2", CORRECTION | REPLACED, 0.95),
    ("example 3", PREFERENCE | {"comparison_basis_length": 67}, 0.75),
]


@pytest.mark.parametrize(("what", "columns", "weight"), GOLDEN, ids=[g[0] for g in GOLDEN])
def test_golden_weights(tmp_path: Path, what: str, columns: dict[str, Any], weight: float) -> None:
    """F4: the documents' samples at age 0."""
    row = feedback(tmp_path, {"occurred_at": ago(microseconds=1), **columns}).row(0, named=True)
    assert row["quality_weight"] == weight


def test_weight_decays_to_half_and_keeps_its_parts(tmp_path: Path) -> None:
    """F4: half-life 30 days on the decaying half; a thumbs-down on an overconfident, escalated answer."""
    row = feedback(
        tmp_path,
        {
            "occurred_at": ago(days=30),
            "sentiment": "negative",
            "rating": -1,
            "response_confidence": 0.9,
            "is_escalated": True,
        },
    ).row(0, named=True)
    assert row["weight_parts"]["temporal_factor"] == 0.75
    assert row["weight_parts"]["overconfidence_bonus"] == 0.1
    assert row["weight_parts"]["escalation_bonus"] == 0.05
    assert row["quality_weight"] == 0.6 * 0.75 + 0.15
    assert (row["tier"], row["base_tier"]) == ("standard", "high")


def test_overconfidence_looks_at_the_rating_of_any_type(tmp_path: Path) -> None:
    """F4: a flag with rating -1 gets the bonus too; confidence must be over 0.8."""
    row = {
        "effective_type": "flag",
        "sentiment": None,
        "flag_type": "other",
        "rating": -1,
        "occurred_at": ago(microseconds=1),
    }
    weights = feedback(
        tmp_path,
        {"feedback_id": "a", "response_confidence": 0.81, "voice_key": 1, **row},
        {"feedback_id": "b", "response_confidence": 0.8, "voice_key": 2, **row},
    )["quality_weight"].to_list()
    assert weights == [0.6, 0.5]


def test_the_latest_rating_counts_and_the_earliest_of_equal_others(tmp_path: Path) -> None:
    """F3: ties on time go to the larger id among ratings, to the smaller among others."""
    other = {"effective_type": "flag", "sentiment": None, "flag_type": "other", "voice_key": 2}
    rows = feedback(
        tmp_path,
        {"feedback_id": "a", "occurred_at": ago(hours=2)},
        {"feedback_id": "b", "occurred_at": ago(hours=1)},
        {"feedback_id": "c", "occurred_at": ago(hours=1), "sentiment": "negative", "rating": -1},
        {"feedback_id": "d", "occurred_at": ago(hours=1), **other},
        {"feedback_id": "e", "occurred_at": ago(hours=1), **other},
    )
    assert rows.select("feedback_id", "status", "status_ref").rows() == [
        ("a", "superseded", "c"),
        ("b", "superseded", "c"),
        ("c", "active", None),
        ("d", "active", None),
        ("e", "duplicate", "d"),
    ]


def test_rows_at_or_after_as_of_are_not_there(tmp_path: Path) -> None:
    """G2: before as_of; a later vote does not supersede."""
    rows = feedback(
        tmp_path, {"feedback_id": "a", "occurred_at": ago(hours=1)}, {"feedback_id": "b", "occurred_at": AS_OF}
    )
    assert rows.select("feedback_id", "status").rows() == [("a", "active")]


CONTESTED = [
    # (other rows on the same answer, is the thumbs-up contested)
    ([], False),
    ([{"sentiment": "negative"}], True),
    ([{"sentiment": "negative"}, {"sentiment": "positive"}], False),
    ([{"sentiment": "neutral"}], False),
    ([{"effective_type": "flag", "sentiment": None, "flag_type": "incorrect"}], True),
    ([{"effective_type": "flag", "sentiment": None, "flag_type": "unhelpful"}], False),
    ([{"effective_type": "correction", "sentiment": None}], True),
    ([{"effective_type": "preference", "sentiment": None}], False),
]


@pytest.mark.parametrize(("others", "expected"), CONTESTED)
def test_contested(tmp_path: Path, others: list[dict[str, Any]], expected: bool) -> None:
    """F8: a thumbs-up needs more ups than downs, and nobody who flagged or corrected the answer."""
    rows = [
        {"feedback_id": f"z{n}", "response_id": f"r{n}", "voice_key": n + 2, "occurred_at": ago(hours=1), **other}
        for n, other in enumerate(others)
    ]
    first = feedback(tmp_path, {"feedback_id": "a", "occurred_at": ago(hours=1)}, *rows).row(0, named=True)
    assert first["is_contested"] is expected


ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "effective_type": st.sampled_from(["rating", "correction", "preference", "flag"]),
            "voice_key": st.integers(1, 3),
            "response_id": st.sampled_from(["r1", "r2"]),
            "answer_key": st.integers(1, 2),
            "age": st.integers(0, 400),
            "rating": st.sampled_from([-1, 1]),
            "response_confidence": st.one_of(st.none(), st.floats(0, 1)),
            "what_was_wrong_length": st.one_of(st.none(), st.integers(0, 200)),
            "is_escalated": st.booleans(),
        }
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS)
def test_laws(tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]) -> None:
    """Weights in [0, 1]; one counting row per voice; the order of the input does not matter."""
    keys = []
    for number, values in enumerate(rows):
        columns = {name: value for name, value in values.items() if name != "age"}
        columns["voice_key"] += 10 * len(values["effective_type"])  # the type is part of a voice
        sentiment = {1: "positive", -1: "negative"}[values["rating"]] if values["effective_type"] == "rating" else None
        keys.append(
            {
                **columns,
                "feedback_id": f"f{number:02}",
                "sentiment": sentiment,
                "flag_type": "other",
                "occurred_at": ago(hours=1 + values["age"]),
            }
        )
    one = feedback(tmp_path_factory.mktemp("one"), *keys)
    other = feedback(tmp_path_factory.mktemp("other"), *reversed(keys))
    assert one.equals(other)
    assert one["quality_weight"].is_between(0, 1).all()
    voices = pl.DataFrame(keys).select("feedback_id", "voice_key").join(one, on="feedback_id")
    ratings = voices.with_columns((pl.col("effective_type") == "rating").alias("is_rating"))
    active = ratings.filter(pl.col("status") == "active").group_by("response_id", "voice_key").len()
    assert active["len"].max() == 1
    assert active.height == ratings.select("response_id", "voice_key").n_unique()
