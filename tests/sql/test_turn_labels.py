"""core__turn_labels (C7, N), and what core__turns and core__machine_signals make of a head's verdicts."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.sql.harness import AS_OF, run_sql

PAIRS, HEADS, REFERENCES = "core__turn_pairs", "core__head_verdicts", "core__turn_references"
Row = dict[str, Any]


def before(minutes: int) -> Any:
    return AS_OF - timedelta(minutes=minutes)


def labels(
    folder: Path, *, ratings: Sequence[Row] = (), reactions: Sequence[Row] = (), verdicts: Sequence[Row] = ()
) -> list[tuple[Any, ...]]:
    """Each is about turn 1 unless it says otherwise."""
    feedback = [{"feedback_id": f"f{n}", "occurred_at": before(60 - n), **row} for n, row in enumerate(ratings, 1)]
    reacted = [
        {
            "reaction_id": f"{n}",
            "occurred_at": before(30 - n),
            "origin": "user",
            "reaction": "ok",
            "is_active": True,
            **row,
        }
        for n, row in enumerate(reactions, 1)
    ]
    refs = [
        {"signal_id": signal, "turn_key": "u1/1", "answer_ref": "u1/1"}
        for signal in [
            *(f"feedback:{row['feedback_id']}" for row in feedback),
            *(f"reactions:{row['reaction_id']}" for row in reacted),
        ]
    ]
    made = run_sql(
        folder,
        "core__turn_labels",
        {
            "core__feedback": feedback,
            "core__reactions": reacted,
            "core__answer_refs": refs,
            "core__label_verdicts": [{"turn_key": "u1/1", "judged_at": before(90), **row} for row in verdicts],
            PAIRS: [{"turn_key": "u1/1", "next_turn_key": "u1/2"}, {"turn_key": "u1/2", "turn_number": 2}],
        },
    )
    return made.select("turn_key", "thread_id", "label_id", "label", "label_kind", "is_chosen").rows()


@pytest.mark.parametrize(
    ("said", "label"),
    [("positive", "accepted"), ("negative", "rejected"), ("neutral", "neutral")],
)
def test_a_rating_is_a_label(tmp_path: Path, said: str, label: str) -> None:
    assert labels(tmp_path, ratings=[{"sentiment": said}]) == [
        ("u1/1", "u1 / s1", "feedback:f1", label, "rating", False)
    ]


@pytest.mark.parametrize(("said", "label"), [("ok", "accepted"), ("not_ok", "rejected"), ("neutral", "neutral")])
def test_a_users_reaction_is_a_label(tmp_path: Path, said: str, label: str) -> None:
    assert labels(tmp_path, reactions=[{"reaction": said}]) == [
        ("u1/1", "u1 / s1", "reactions:1", label, "reaction", False)
    ]


def test_what_does_not_count_is_no_label(tmp_path: Path) -> None:
    """A machine's reaction, one that expired or was cleared, a superseded rating, and what is no rating."""
    said = {
        "ratings": [
            {"status": "superseded"},
            {"effective_type": "correction", "sentiment": None},
            {"effective_type": "flag", "sentiment": None},
        ],
        "reactions": [{"origin": "machine"}, {"is_active": False, "inactive_reason": "expired"}],
    }
    assert labels(tmp_path, **said) == []


def test_of_several_words_of_users_the_last_counts(tmp_path: Path) -> None:
    ratings = [{"sentiment": "negative", "occurred_at": before(5)}, {"sentiment": "positive", "occurred_at": before(9)}]
    (found,) = labels(tmp_path, ratings=ratings, reactions=[{"occurred_at": before(7)}])
    assert found[2:4] == ("feedback:f1", "rejected")


def test_a_readers_verdict_is_a_label_and_judges_nothing(tmp_path: Path) -> None:
    """C7: it was asked about exactly this, so it comes before what users pressed; and it was picked for what it teaches."""
    found = labels(tmp_path / "one", ratings=[{"sentiment": "positive"}], verdicts=[{"verdict": "rejected"}])
    assert found == [("u1/1", "u1 / s1", "verdict:u1/1", "rejected", "verdict", True)]
    later = labels(tmp_path / "two", verdicts=[{"verdict": "rejected", "judged_at": AS_OF}])
    assert later == []  # like all labels: before as_of


# --- what becomes of the verdicts ------------------------------------------------------------------------------------------

THREAD = [
    {
        "turn_key": f"u1/{n}",
        "turn_number": n,
        "turn_id": f"turn_{n:06}",
        "occurred_at": before(10 - n),
        "next_turn_key": f"u1/{n + 1}",
        "next_at": before(9 - n),
        "feedback_status": "neutral",
        "feedback_confidence": 0.55,
        "confidence_low": 0.5,
        "nominal_confidence": 0.5,
        "reason": "neutral:no_clear_signal",
    }
    for n in range(1, 4)
]
OBJECTS = {
    "feedback_status": "rejected",
    "feedback_confidence": 0.85,
    "nominal_confidence": 0.9,
    "confidence_low": 0.7,
    "correction_type": "explicit",
    "reason": "head:objects",
    "rejection_chance": 0.85,
}


def objections(*numbers: int, **more: Any) -> list[Row]:
    return [{"turn_key": f"u1/{n}", "next_turn_key": f"u1/{n + 1}", **OBJECTS, **more} for n in numbers]


def test_the_heads_verdict_is_the_turns(tmp_path: Path) -> None:
    """C7: status, confidence, reason, scores and rejections in a row follow it; without one the rules' verdict stands."""
    found = run_sql(tmp_path, "core__turns", {PAIRS: THREAD, HEADS: objections(1, 2)})
    names = (
        "feedback_status",
        "feedback_confidence",
        "confidence_low",
        "correction_type",
        "reason",
        "rejection_chance",
    )
    assert found.select(*names, "consecutive_rejections", "satisfaction_score", "is_reusable").rows() == [
        ("rejected", 0.85, 0.7, "explicit", "head:objects", 0.85, 1, -1.0, False),
        ("rejected", 0.85, 0.7, "explicit", "head:objects", 0.85, 2, -1.0, False),
        ("neutral", 0.55, 0.5, None, "neutral:no_clear_signal", None, 0, None, True),
    ]


def test_a_rejection_it_takes_back_has_no_correction_type(tmp_path: Path) -> None:
    rules = THREAD[0] | {"feedback_status": "rejected", "correction_type": "rephrased", "reason": "rephrased"}
    doubts = {"feedback_status": "neutral", "correction_type": None, "reason": "head:doubts", "rejection_chance": 0.1}
    found = run_sql(tmp_path, "core__turns", {PAIRS: [rules], HEADS: objections(1, **doubts)})
    assert found.select("feedback_status", "correction_type", "reason", "planner_note").rows() == [
        ("neutral", None, "head:doubts", None)
    ]


def test_of_a_message_about_an_earlier_turn_it_says_nothing(tmp_path: Path) -> None:
    """C6: neither of the last turn, nor of the one that is meant."""
    reference = {"message_turn_key": "u1/3", "rank": 1, "turn_key": "u1/1", "score": 0.5}
    tables = {PAIRS: THREAD, HEADS: objections(2), REFERENCES: [reference]}
    found = run_sql(tmp_path / "turns", "core__turns", tables)
    assert (
        found.select("feedback_status", "reason", "rejection_chance").rows()
        == [("neutral", "neutral:no_clear_signal", None)] * 3
    )
    assert run_sql(tmp_path / "signals", "core__machine_signals", tables).is_empty()


@pytest.mark.parametrize(
    ("more", "is_signal"), [({}, True), ({"feedback_confidence": 0.69}, False), ({"confidence_low": 0.59}, False)]
)
def test_a_sure_objection_is_a_machine_signal(tmp_path: Path, more: Row, is_signal: bool) -> None:
    """C6, C7: a confidence of 0.70, and of how often it was right a lower end of 0.60."""
    found = run_sql(tmp_path, "core__machine_signals", {PAIRS: THREAD, HEADS: objections(1, **more)})
    rows = found.select("message_turn_key", "target_turn_key", "kind", "reason").rows()
    assert rows == ([("u1/2", "u1/1", "rejected", "head:objects")] if is_signal else [])
