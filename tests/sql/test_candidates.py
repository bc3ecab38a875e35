"""core__rating_partners, core__feedback_candidates, core__pair_votes, core__candidate_rivals, train__excluded: T1, T2, F5, F6,
F8, F13, D8."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dagster_project.contracts import TABLES
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
    """F6: then the newest, then the smallest id; only within the same prompt and context. What time leaves of their weights
    decides when it is asked: a newer one is heavier at first, then one with a bonus."""

    def told(name: str, days_ago: int, bonus: float = 0.0, **more: Any) -> dict[str, Any]:
        names = TABLES["core__feedback"].meanings["weight_parts"].dtype.to_schema()  # type: ignore[union-attr]
        parts = dict.fromkeys(names, 0.0) | {"type": 0.1, "escalation_bonus": bonus}
        row = {"feedback_id": name, "occurred_at": AS_OF - timedelta(days=days_ago), "weight_parts": parts}
        return {"answer_hash": sum(map(ord, name)), **POSITIVE, **row, **more}

    rows = [
        {"feedback_id": "down", "answer_hash": 1, "quality_weight": 0.6, **NEGATIVE},
        told("old", 3),
        told("newest", 1),
        told("newest as well", 1),
        told("with a bonus", 10, 0.05),
        told("contested", 0, 0.05, is_contested=True),
        told("elsewhere", 0, thread_key=9),
    ]
    possible = run_sql(tmp_path / "possible", "core__possible_partners", {"core__feedback": rows})
    assert possible.select("thread_key", "bonuses", "feedback_id").rows() == [
        (1, 0.0, "newest"),
        (1, 0.05, "with a bonus"),
    ]

    def partners_at(days: int) -> pl.DataFrame:
        inputs, at = {"core__possible_partners": possible.to_dicts()}, AS_OF + timedelta(days=days)
        return run_sql(tmp_path / f"at {days}", "core__rating_partners", inputs, as_of=at)

    partners = partners_at(0)
    assert partners.select("thread_key", "feedback_id", "quality_weight").rows() == [(1, "newest", 0.593148)]
    assert partners_at(300)["feedback_id"].to_list() == ["with a bonus"]
    candidates = run_sql(
        tmp_path / "c",
        "core__feedback_candidates",
        {"core__feedback": rows, "core__rating_partners": partners.to_dicts()},
    )
    pair = candidates.filter(candidates["source"] == "feedback_rating_pair").row(0, named=True)
    assert (pair["origin_id"], pair["partner_id"], pair["quality_weight"]) == ("down", "newest", 0.593148)


PARTNERS = [
    # (thumbs up of the same prompt and context, which of them is the partner, what becomes of the pair)
    ([{"answer_hash": 2, **POSITIVE}], "0", None),
    ([{"answer_hash": None, "has_answer": False, **POSITIVE}], None, "missing_text"),
    ([{"answer_hash": 2, **POSITIVE, "is_contested": True}], None, "contested"),
    (
        [{"answer_hash": 2, **POSITIVE, "is_contested": True}, {"answer_hash": None, "has_answer": False, **POSITIVE}],
        None,
        "contested",
    ),
    (
        [{"answer_hash": None, "has_answer": False, **POSITIVE, "quality_weight": 0.9}, {"answer_hash": 2, **POSITIVE}],
        "1",
        None,
    ),
    ([{"answer_hash": 1, **POSITIVE}], "0", "no_contrast"),
]


@pytest.mark.parametrize(("ups", "partner", "reason"), PARTNERS)
def test_an_empty_or_contested_answer_is_no_partner(
    tmp_path: Path, ups: list[dict[str, Any]], partner: str | None, reason: str | None
) -> None:
    """F6: uncontested and not empty; without one the pair lacks a text if all are empty, else it is contested."""
    rows = [{"feedback_id": f"{number}", **up} for number, up in enumerate(ups)]
    made = training.tables(tmp_path, [{"feedback_id": "down", "answer_hash": 1, **NEGATIVE}, *rows])
    (found,) = made["core__rating_partners"]
    assert found["feedback_id"] == partner
    pair = next(row for row in made[training.FROM_FEEDBACK] if row["source"] == "feedback_rating_pair")
    assert (pair["early_reason"] or pair["late_reason"]) == reason


def test_without_a_prompt_nobody_has_the_same_one(tmp_path: Path) -> None:
    """F1, T1: empty prompts are equal to no other text, so a thumbs-down without one is no candidate for a pair."""
    empty = {"thread_key": None, "answer_key": None, "has_query": False}
    rows = {"feedback_id": "down", "answer_hash": 1, **NEGATIVE, **empty}, {"answer_hash": 2, **POSITIVE, **empty}
    assert set(judge(tmp_path, *rows)) == {
        ("instruction", "feedback_negative", "down"),
        ("unpaired", "feedback_rating", "down"),
        ("instruction", "feedback_positive", "f1"),
        ("unpaired", "feedback_rating", "f1"),
    }


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
    ({"is_respaced": True, **PREFERENCE}, "tie"),
    ({"is_respaced": True, "answer_hash": 7, **PREFERENCE}, "no_contrast"),
    ({"is_unseen_attempt": True, **PREFERENCE}, "unseen_attempt"),
    ({"is_unseen_attempt": True, "is_respaced": True, **PREFERENCE}, "tie"),
    ({"is_unseen_attempt": True, "quality_weight": 0.1, **PREFERENCE}, "unseen_attempt"),
]


@pytest.mark.parametrize(("columns", "reason"), REASONS)
def test_one_reason_the_first_that_applies(tmp_path: Path, columns: dict[str, Any], reason: str | None) -> None:
    assert set(judge(tmp_path, columns).values()) == {reason}


WHOLE = {**CORRECTION, "feedback_id": "fix", "correction_type": "full_replacement"}


def test_what_speaks_against_one_format_does_not_speak_against_another(tmp_path: Path) -> None:
    """F6: a fragment is no pair, but a correction record; T1: only what is taught as the answer talks of an attempt."""
    fragment = judge(tmp_path / "1", {**WHOLE, "is_fragment": True, "is_respaced": True, "is_unseen_attempt": True})
    assert fragment == {
        ("correction", "feedback_correction", "fix"): None,
        ("preference", "feedback_correction_pair", "fix"): "fragment",
    }
    unseen = judge(tmp_path / "2", {"feedback_id": "up", "is_unseen_attempt": True, **POSITIVE})
    assert unseen == {
        ("instruction", "feedback_positive", "up"): "unseen_attempt",
        ("unpaired", "feedback_rating", "up"): None,
    }


def test_a_rating_pair_is_judged_by_its_partners_answer(tmp_path: Path) -> None:
    """T1: tie compares the two rated answers, unseen_attempt looks at the chosen one."""
    down = {"feedback_id": "down", "answer_hash": 1, "loose_hash": 8, **NEGATIVE}
    pair = ("preference", "feedback_rating_pair", "down")
    assert judge(tmp_path / "1", down, {"answer_hash": 2, "loose_hash": 8, **POSITIVE})[pair] == "tie"
    unseen = {"answer_hash": 2, "loose_hash": 9, "is_unseen_attempt": True, **POSITIVE}
    assert judge(tmp_path / "2", down, unseen)[pair] == "unseen_attempt"
    assert judge(tmp_path / "3", down | {"is_unseen_attempt": True}, {"answer_hash": 2, **POSITIVE})[pair] is None


def test_a_condemned_answer_is_taught_by_nobody(tmp_path: Path) -> None:
    """F8: contested wherever it is the output, the chosen answer, the correction, or a completion with label true."""
    condemned = [{"thread_key": 1, "answer_hash": 7}]
    rows = [
        {**WHOLE, "answer_hash": 2},
        {"feedback_id": "better", "answer_hash": 2, **PREFERENCE},
        {"feedback_id": "up", "answer_hash": 7, **POSITIVE},
        {"feedback_id": "down", "answer_hash": 7, **NEGATIVE, "thread_key": 2},
        {"feedback_id": "elsewhere", "answer_hash": 7, **POSITIVE, "thread_key": 3},
        {"feedback_id": "rejected", "answer_hash": 7, **PREFERENCE, "preferred_hash": 3},
    ]
    examples = [{"example_id": "taught", "thread_key": 1, "answer_hash": 7, "training_format": "cot"}]
    outcome = training.judge(tmp_path, rows, examples, condemned=condemned)
    leaving = {(format, origin) for (format, _, origin), reason in outcome.items() if reason is None}
    assert leaving == {
        ("unpaired", "down"),
        ("instruction", "elsewhere"),
        ("unpaired", "elsewhere"),
        ("preference", "rejected"),
    }
    assert {reason for reason in outcome.values() if reason} == {"contested", "negative_rating"}


# --- votes on pairs (F13) ---------------------------------------------------------------------------------------------


def said(id: str, better: int, worse: int, **more: Any) -> dict[str, Any]:
    """Somebody prefers an answer to another; everybody is somebody else unless told."""
    row = {"feedback_id": id, "voter_id": f"user:{id}", "preferred_hash": better, "answer_hash": worse}
    return {**PREFERENCE, **row, **more}


def corrected(id: str, better: int, worse: int, **more: Any) -> dict[str, Any]:
    row = {
        "feedback_id": id,
        "voter_id": f"user:{id}",
        "correction_hash": better,
        "answer_hash": worse,
        "record_hash": 70,
    }
    return {**CORRECTION, **row, "correction_type": "clarification", **more}


def pairs(outcome: training.Outcome) -> dict[str, str | None]:
    return {origin: reason for (format, _, origin), reason in outcome.items() if format == "preference"}


VOTES: list[tuple[str, list[dict[str, Any]], dict[str, str | None]]] = [
    ("alone", [said("a", 1, 2)], {"a": None}),
    ("even", [said("a", 1, 2), said("b", 2, 1)], {"a": "conflicting", "b": "conflicting"}),
    (
        "two to one",
        [said("a", 1, 2, quality_weight=0.9), said("b", 1, 2), said("c", 2, 1)],
        {"a": None, "b": "duplicate", "c": "outvoted"},
    ),
    (
        "a correction pair is a vote like any other",
        [corrected("a", 1, 2, quality_weight=0.9), said("b", 1, 2), said("c", 2, 1)],
        {"a": None, "b": "duplicate", "c": "outvoted"},
    ),
    (
        "one vote per voter, the latest; their other row stays with its side",
        [
            said("a", 1, 2, voter_id="user:u", occurred_at=AS_OF - timedelta(hours=2)),
            said("b", 2, 1, voter_id="user:u", occurred_at=AS_OF - timedelta(hours=1)),
        ],
        {"a": "outvoted", "b": None},
    ),
    (
        "at the same moment the larger id",
        [said("a", 1, 2, voter_id="user:u"), said("b", 2, 1, voter_id="user:u")],
        {"a": "outvoted", "b": None},
    ),
    ("other answers are another question", [said("a", 1, 2), said("b", 3, 1)], {"a": None, "b": None}),
    ("so is another context", [said("a", 1, 2), said("b", 2, 1, thread_key=9)], {"a": None, "b": None}),
    ("no text, no vote", [said("a", 1, 2), said("b", 2, 1, has_query=False)], {"a": None, "b": "missing_text"}),
    ("no vote for a fragment", [said("a", 1, 2), corrected("b", 2, 1, is_fragment=True)], {"a": None, "b": "fragment"}),
    (
        "what is out for a later reason has its vote",
        [said("a", 1, 2), said("b", 2, 1, quality_weight=0.1), said("c", 2, 1, is_unseen_attempt=True)],
        {"a": "outvoted", "b": "low_weight", "c": "unseen_attempt"},
    ),
    ("equal sides ask nothing", [said("a", 1, 1), said("b", 1, 1)], {"a": "no_contrast", "b": "no_contrast"}),
]


@pytest.mark.parametrize(("rows", "expected"), [case[1:] for case in VOTES], ids=[case[0] for case in VOTES])
def test_votes(tmp_path: Path, rows: list[dict[str, Any]], expected: dict[str, str | None]) -> None:
    """F13: explicit pairs of the same two answers are one question."""
    assert pairs(judge(tmp_path, *rows)) == expected


def test_what_reviewers_reject_has_no_vote(tmp_path: Path) -> None:
    """F13: not rejected in review."""
    reviews = [{"example_id": "b", "review_verdict": "rejected"}]
    outcome = training.judge(tmp_path, [said("a", 1, 2), corrected("b", 2, 1)], reviews=reviews)
    assert pairs(outcome) == {"a": None, "b": "rejected"}


def test_the_record_carries_the_votes_and_the_loser_names_the_winner(tmp_path: Path) -> None:
    rows = [said("a", 1, 2), said("b", 1, 2, quality_weight=0.9), said("c", 2, 1), said("d", 2, 1, voter_id="user:c")]
    made = training.tables(tmp_path, rows)
    assert [tuple(row.values()) for row in made["core__pair_votes"]] == [(1, 1, 2, 2, 1), (1, 2, 1, 1, 2)]
    ids = {row["origin_id"]: row["id"] for row in made[training.FROM_FEEDBACK]}
    named = {(row["reason"], row["duplicate_of"]) for row in made["train__excluded"]}
    assert named == {("duplicate", ids["b"]), ("outvoted", ids["b"])}


def thread(number: int, liked: int, disliked: int) -> list[dict[str, Any]]:
    """A thumbs up and a thumbs down on the same prompt and context, which make a rating pair."""
    common = {"thread_key": number}
    return [
        {"feedback_id": f"up{number}", "answer_hash": liked, **POSITIVE, **common},
        {"feedback_id": f"down{number}", "answer_hash": disliked, **NEGATIVE, **common},
    ]


def test_a_rating_pair_that_reverses_a_winning_explicit_pair_is_outvoted(tmp_path: Path) -> None:
    """F13: an even count has no winner; who says the same is a duplicate."""
    rows = [
        *thread(1, 1, 2),
        said("a", 2, 1),
        *thread(2, 1, 2),
        said("b", 2, 1, thread_key=2),
        said("c", 1, 2, thread_key=2),
        *thread(3, 1, 2),
        said("d", 1, 2, thread_key=3, quality_weight=0.9),
    ]
    assert pairs(judge(tmp_path, *rows)) == {
        "down1": "outvoted",
        "a": None,
        "down2": None,
        "b": "conflicting",
        "c": "conflicting",
        "down3": "duplicate",
        "d": None,
    }


def test_of_two_rating_pairs_that_are_each_others_reverse_neither_leaves(tmp_path: Path) -> None:
    """F13. Each answer is liked and disliked, and people are found to agree on all of it through other responses."""
    candidate = {"format": "preference", "source": "feedback_rating_pair", "thread_key": 1, "quality_weight": 0.5}
    forward = {"id": "a", "side_a": 1, "side_b": 2, **candidate}
    backward = {"id": "b", "side_a": 2, "side_b": 1, **candidate}
    apart = {"id": "c", "side_a": 2, "side_b": 1, **candidate, "thread_key": 2}
    early = {"id": "d", "side_a": 1, "side_b": 2, **candidate, "thread_key": 2, "early_reason": "contested"}
    rivals = run_sql(tmp_path, "core__candidate_rivals", {training.FROM_FEEDBACK: [forward, backward, apart, early]})
    assert rivals.rows() == [("a", "conflicting", None), ("b", "conflicting", None)]


# --- low tiers (F5) ---------------------------------------------------------------------------------------------------

LOW_TIERS = [
    # (low_tier, split of the prompt, weight, where the record goes, or why it does not)
    ("augmentation", "train", 0.5, "train"),
    ("augmentation", "train", 0.499999, "augmentation"),
    ("augmentation", "train", 0.3, "augmentation"),
    ("augmentation", "train", 0.299999, "low_weight"),
    ("augmentation", "validation", 0.4, "validation"),
    ("augmentation", "test", 0.4, "test"),
    ("train", "train", 0.4, "train"),
    ("exclude", "train", 0.4, "low_weight"),
    ("exclude", "train", 0.5, "train"),
    ("exclude", "test", 0.4, "test"),
]


@pytest.mark.parametrize(("low_tier", "split", "weight", "outcome"), LOW_TIERS)
def test_low_tiers(tmp_path: Path, low_tier: str, split: str, weight: float, outcome: str) -> None:
    """F5: a file of their own, the training split, or nowhere; validation and test take every tier."""
    row = {"split": split, "quality_weight": weight, **POSITIVE}
    example = {"split": split, "quality_weight": weight, "thread_key": 2}
    made = training.tables(tmp_path, [row], [example], low_tier=low_tier)
    assert {c["reason"] or c["split"] for c in made["core__contenders"]} == {outcome}
    assert {c["is_distilled"] for c in made["core__contenders"]} == {False, True}


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
    outcome = training.judge(tmp_path, [WHOLE], reviews=reviews, review_corrections=is_asked_for)
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
    fix = {**WHOLE, "has_answer": False}
    rejected = [{"example_id": "fix", "review_verdict": "rejected"}]
    assert set(training.judge(tmp_path / "1", [fix], reviews=rejected).values()) == {"rejected"}
    assert set(training.judge(tmp_path / "2", [fix], review_corrections=True).values()) == {"not_ready"}
    assert set(training.judge(tmp_path / "3", [fix]).values()) == {"missing_text"}
