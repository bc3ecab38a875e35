"""core__rating_partners, core__feedback_candidates, core__candidate_rivals, train__excluded: T1, T2, F6, D8."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.sql import training
from tests.sql.harness import AS_OF, run_sql

NEGATIVE = {"sentiment": "negative", "rating": -1, "is_contested": False}
POSITIVE = {"sentiment": "positive", "is_contested": False}
CORRECTION = {"effective_type": "correction", "sentiment": None, "correction_hash": 7, "record_hash": 70}
PREFERENCE = {"effective_type": "preference", "sentiment": None, "preferred_hash": 7}


def judge(folder: Path, *rows: dict[str, Any], **params: Any) -> training.Outcome:
    """What becomes of these feedback rows alone."""
    return training.judge(folder, feedback=rows, **params)


def test_what_each_type_is_a_candidate_for(tmp_path: Path) -> None:
    """T1: rating -> instruction and unpaired; correction -> correction, and a pair if whole; preference; flag."""
    outcome = judge(
        tmp_path,
        {"feedback_id": "up", "thread_key": 1, **POSITIVE},
        {"feedback_id": "neutral", "thread_key": 2, "sentiment": "neutral"},
        {"feedback_id": "fix", "thread_key": 3, "correction_type": "partial_fix", **CORRECTION},
        {"feedback_id": "whole", "thread_key": 4, "correction_type": "full_replacement", **CORRECTION},
        {"feedback_id": "better", "thread_key": 5, **PREFERENCE},
        {"feedback_id": "flag", "thread_key": 6, "effective_type": "flag", "sentiment": None, "flag_type": "other"},
        {"feedback_id": "old", "thread_key": 7, "status": "superseded"},
    )
    assert outcome == {
        ("instruction", "feedback_positive", "up"): None,
        ("unpaired", "feedback_rating", "up"): None,
        ("instruction", "feedback_neutral", "neutral"): "neutral_rating",
        ("unpaired", "feedback_rating", "neutral"): "neutral_rating",
        ("correction", "feedback_correction", "fix"): None,
        ("correction", "feedback_correction", "whole"): None,
        ("preference", "feedback_correction_pair", "whole"): None,
        ("preference", "feedback_preference", "better"): None,
        ("instruction", "feedback_flag", "flag"): "flag",
    }


def test_a_thumbs_down_is_paired_with_the_heaviest_uncontested_thumbs_up(tmp_path: Path) -> None:
    """F6: then the newest, then the smallest id; only within the same prompt and context."""
    rows = [
        {"feedback_id": "down", "answer_hash": 1, "quality_weight": 0.6, **NEGATIVE},
        {"feedback_id": "light", "answer_hash": 2, "quality_weight": 0.4, **POSITIVE},
        {"feedback_id": "heavy", "answer_hash": 3, "quality_weight": 0.5, **POSITIVE},
        {"feedback_id": "heavier but contested", "answer_hash": 4, "quality_weight": 0.9, "sentiment": "positive", "is_contested": True},
        {"feedback_id": "elsewhere", "thread_key": 9, "answer_hash": 5, "quality_weight": 0.9, **POSITIVE},
    ]  # fmt: skip
    partners = run_sql(tmp_path / "p", "core__rating_partners", {"core__feedback": rows})
    assert partners.select("thread_key", "feedback_id").rows() == [(1, "heavy")]
    candidates = run_sql(
        tmp_path / "c",
        "core__feedback_candidates",
        {"core__feedback": rows, "core__rating_partners": partners.to_dicts()},
    )
    pair = candidates.filter(candidates["source"] == "feedback_rating_pair").row(0, named=True)
    assert (pair["origin_id"], pair["partner_id"], pair["quality_weight"]) == ("down", "heavy", 0.5)


def test_only_contested_partners_make_the_pair_contested(tmp_path: Path) -> None:
    outcome = judge(
        tmp_path,
        {"feedback_id": "down", "answer_hash": 1, **NEGATIVE},
        {"feedback_id": "up", "answer_hash": 2, "sentiment": "positive", "is_contested": True},
    )
    assert outcome["preference", "feedback_rating_pair", "down"] == "contested"
    assert outcome["instruction", "feedback_negative", "down"] == "negative_rating"
    assert outcome["unpaired", "feedback_rating", "down"] is None


REASONS = [
    ({"has_answer": False, **PREFERENCE}, "missing_text"),
    ({"has_query": False, **CORRECTION}, "missing_text"),
    ({"answer_hash": 7, **PREFERENCE}, "no_contrast"),
    ({"answer_hash": 7, **CORRECTION}, "no_contrast"),
    ({"quality_weight": 0.299999, **PREFERENCE}, "low_weight"),
    ({"quality_weight": 0.3, **PREFERENCE}, None),
    ({"has_answer": False, "quality_weight": 0.1, **POSITIVE}, "missing_text"),
    ({"quality_weight": 0.1, "sentiment": "positive", "is_contested": True}, "contested"),
]


@pytest.mark.parametrize(("columns", "reason"), REASONS)
def test_one_reason_the_first_that_applies(tmp_path: Path, columns: dict[str, Any], reason: str | None) -> None:
    assert set(judge(tmp_path, columns).values()) == {reason}


def test_of_two_reverse_pairs_neither_leaves(tmp_path: Path) -> None:
    """T1 conflicting; a pair left out for an earlier reason reverses nobody."""
    forward = {"feedback_id": "a", "preferred_hash": 1, "answer_hash": 2}
    backward = {"feedback_id": "b", "preferred_hash": 2, "answer_hash": 1}
    both = judge(tmp_path / "both", {**PREFERENCE, **forward}, {**PREFERENCE, **backward})
    assert set(both.values()) == {"conflicting"}
    one = judge(tmp_path / "one", {**PREFERENCE, **forward}, {**PREFERENCE, **backward, "has_answer": False})
    assert one == {
        ("preference", "feedback_preference", "a"): None,
        ("preference", "feedback_preference", "b"): "missing_text",
    }


def test_the_heaviest_duplicate_survives_then_the_newest(tmp_path: Path) -> None:
    """T2: same prompt, context and answers within a format."""
    light = {"feedback_id": "light", "response_id": "r2", "quality_weight": 0.4, **POSITIVE}
    heavy = {"feedback_id": "heavy", "response_id": "r3", "quality_weight": 0.5, **POSITIVE}
    older = heavy | {"feedback_id": "older", "response_id": "r4", "occurred_at": AS_OF - timedelta(days=1)}
    outcome = judge(tmp_path, light, heavy, older)
    assert outcome["instruction", "feedback_positive", "heavy"] is None
    assert outcome["instruction", "feedback_positive", "light"] == "duplicate"
    assert outcome["instruction", "feedback_positive", "older"] == "duplicate"


def test_min_weight_is_configured(tmp_path: Path) -> None:
    """F5: below min_weight nothing leaves."""
    assert set(judge(tmp_path, {"quality_weight": 0.6, **POSITIVE}, min_weight=0.7).values()) == {"low_weight"}


WHOLE_CORRECTION = {**CORRECTION, "feedback_id": "fix", "correction_type": "full_replacement"}
REVIEWS = [
    # (our reviewers' verdict, review_corrections, what keeps the correction and its pair back)
    (None, False, None),
    ("approved", False, None),
    ("rejected", False, "rejected"),
    ("disputed", False, "not_ready"),
    (None, True, "not_ready"),
    ("approved", True, None),
    ("rejected", True, "rejected"),
    ("disputed", True, "not_ready"),
]


@pytest.mark.parametrize(("verdict", "is_asked_for", "reason"), REVIEWS)
def test_a_correction_waits_only_if_asked_to_or_objected_to(
    tmp_path: Path, verdict: str | None, is_asked_for: bool, reason: str | None
) -> None:
    """D8: a rejected one never leaves, nor one reviewers disagree about; with review_corrections only approved ones do."""
    reviews = [] if verdict is None else [{"example_id": "fix", "review_verdict": verdict}]
    outcome = training.judge(tmp_path, [WHOLE_CORRECTION], reviews=reviews, review_corrections=is_asked_for)
    assert outcome == {
        ("correction", "feedback_correction", "fix"): reason,
        ("preference", "feedback_correction_pair", "fix"): reason,
    }


def test_a_review_is_of_corrections_only(tmp_path: Path) -> None:
    """D8: a rating leaves whatever is said under its id, and needs no review."""
    rejected = [{"example_id": "f1", "review_verdict": "rejected"}]
    outcome = training.judge(tmp_path, [dict(POSITIVE)], reviews=rejected, review_corrections=True)
    assert set(outcome.values()) == {None}


def test_being_rejected_comes_before_every_reason_of_the_texts(tmp_path: Path) -> None:
    """T1: rejected, not_ready, then missing_text."""
    fix = {**WHOLE_CORRECTION, "has_answer": False}
    rejected = [{"example_id": "fix", "review_verdict": "rejected"}]
    assert set(training.judge(tmp_path / "1", [fix], reviews=rejected).values()) == {"rejected"}
    assert set(training.judge(tmp_path / "2", [fix], review_corrections=True).values()) == {"not_ready"}
    assert set(training.judge(tmp_path / "3", [fix]).values()) == {"missing_text"}
