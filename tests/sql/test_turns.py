"""core__turns, core__strategies, core__machine_signals, core__signals and the metrics about turns (C4-C6, N, G2)."""

from datetime import date, datetime, timedelta
from itertools import count
from math import sqrt
from pathlib import Path
from statistics import NormalDist
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dagster_project.contracts import TABLES
from tests.sql.harness import AS_OF, run_one_after_another, run_sql, without_intervals

PAIRS, TURNS, REFERENCES = "core__turn_pairs", "core__turns", "core__turn_references"
DAY = date(2026, 1, 31)
Row = dict[str, Any]


def at(minutes: float = 0) -> datetime:
    """So long before as_of, on its last day."""
    return AS_OF - timedelta(minutes=minutes)


def pairs(*rows: Row) -> list[Row]:
    """Turns of one thread a minute apart, in this order."""
    return [
        {"turn_key": f"u1/{n}", "turn_number": n, "turn_id": f"turn_{n:06}", "occurred_at": at(600 - n), **row}
        for n, row in enumerate(rows, 1)
    ]


def turns(folder: Path, *rows: Row, **params: Any) -> list[Row]:
    """core__turns from rows of core__turn_pairs."""
    return run_sql(folder, TURNS, {PAIRS: pairs(*rows)}, **params).to_dicts()


# --- scores (C4) -----------------------------------------------------------------------------------------------------------

SCORES = [
    # validation, status -> satisfaction: seed 1's two tables, and C4 for an unknown outcome
    ("APPROVE", "rejected", -1.0),
    ("APPROVE", "accepted", 1.0),
    ("APPROVE", "neutral", 0.5),
    ("REVISE", "rejected", -1.0),
    ("REVISE", "accepted", 0.8),
    ("REVISE", "neutral", 0.3),
    ("RETRY", "rejected", -1.0),
    ("RETRY", "accepted", 0.6),
    ("RETRY", "neutral", 0.1),
    ("FAIL", "rejected", -1.0),
    ("FAIL", "accepted", 0.0),
    ("FAIL", "neutral", -0.5),
    (None, "rejected", -1.0),
    (None, "accepted", 0.5),
    (None, "neutral", None),
    ("SKIPPED", "accepted", 0.5),
    ("SKIPPED", "neutral", None),
    (" approve ", "neutral", 0.5),
    ("\tapprove", "neutral", 0.5),
    ("\u00a0Approve\u2003\n", "neutral", 0.5),
    ("Fail", "neutral", -0.5),
]


def test_satisfaction_is_the_outcome_and_what_the_user_said(tmp_path: Path) -> None:
    """C4, G8: a rejection overrides even a success; an unknown outcome counts as 0 under an acceptance only."""
    rows = [{"validation_outcome": outcome, "feedback_status": status} for outcome, status, _ in SCORES]
    found = {row["turn_key"]: row["satisfaction_score"] for row in turns(tmp_path, *rows)}
    assert found == {f"u1/{n}": score for n, (_, _, score) in enumerate(SCORES, 1)}


@pytest.mark.parametrize(
    ("quality", "status", "ranking"),
    [
        (0.85, "accepted", 0.71),
        (0.85, "neutral", 0.51),
        (0.85, "rejected", 0.11),
        (None, "accepted", 0.2),
        (None, "neutral", 0.0),
        (None, "rejected", -0.4),
        (1.0, "accepted", 0.8),
        (0.0, "rejected", -0.4),
        (1 / 3, "accepted", 0.4),
        (0.1234567, "neutral", 0.074074),
    ],
)
def test_ranking_is_06_of_quality_and_04_of_feedback(
    tmp_path: Path, quality: float | None, status: str, ranking: float
) -> None:
    """C4: a missing quality is 0; six decimals (G2)."""
    (row,) = turns(tmp_path, {"quality_score": quality, "feedback_status": status})
    assert (row["ranking_score"], row["is_reusable"]) == (ranking, status != "rejected")


def test_the_sources_status_may_differ(tmp_path: Path) -> None:
    """C3: disputed only where the source has one."""
    rows = [{"source_status": status, "feedback_status": "accepted"} for status in ("rejected", "accepted", None)]
    assert [row["is_disputed"] for row in turns(tmp_path, *rows)] == [True, False, None]


def test_turns_at_or_after_as_of_are_not_there(tmp_path: Path) -> None:
    """G2."""
    rows = [
        {"occurred_at": at()},
        {"occurred_at": at() + timedelta(days=1)},
        {"occurred_at": at() - timedelta(microseconds=1)},
    ]
    assert [row["turn_key"] for row in turns(tmp_path, *rows)] == ["u1/3"]


# --- rejections in a row (C5) -------------------------------------------------------------------------------------------------


def in_a_row(folder: Path, *rows: Row) -> list[int]:
    found = {row["turn_key"]: row["consecutive_rejections"] for row in turns(folder, *rows)}
    return [found[row.get("turn_key", f"u1/{n}")] for n, row in enumerate(rows, 1)]


def test_rejections_in_a_row_are_counted_up_to_and_including_each(tmp_path: Path) -> None:
    """C5: anything else is 0 and starts anew."""
    letters = {"r": "rejected", "a": "accepted", "n": "neutral"}
    rows = [{"feedback_status": letters[letter]} for letter in "rrnrarrrnnr"]
    assert in_a_row(tmp_path, *rows) == [1, 2, 0, 1, 0, 1, 2, 3, 0, 0, 1]


def test_rejections_are_counted_per_thread_by_time_then_number(tmp_path: Path) -> None:
    """C5, C1: interleaved threads, over midnight; at one instant the smaller number comes first."""
    bad, good = {"feedback_status": "rejected"}, {"feedback_status": "accepted"}
    other = {"thread_id": "u1 / s2", "session_id": "s2"}
    late = {"occurred_at": at(1500), "event_date": date(2026, 1, 30)}
    rows = [bad, bad | other, good | late, bad, bad | other, bad | late | {"turn_number": 0}]
    # u1/6 is turn 0 at the same instant as u1/3, the evening before
    assert in_a_row(tmp_path, *rows) == [1, 1, 0, 2, 2, 1]


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(said=st.lists(st.tuples(st.sampled_from("ran"), st.sampled_from("st")), min_size=1, max_size=25))
def test_rejections_in_a_row_by_hand(tmp_path_factory: pytest.TempPathFactory, said: list[tuple[str, str]]) -> None:
    """C5, counted the plain way."""
    letters = {"r": "rejected", "a": "accepted", "n": "neutral"}
    rows = [{"feedback_status": letters[letter], "thread_id": thread} for letter, thread in said]
    running: dict[str, int] = {}
    expected = []
    for letter, thread in said:
        running[thread] = running.get(thread, 0) + 1 if letter == "r" else 0
        expected.append(running[thread])
    assert in_a_row(tmp_path_factory.mktemp("rows"), *rows) == expected


# --- strategies (C4) ------------------------------------------------------------------------------------------------------------


def test_strategies_rank_accepted_before_neutral_and_list_rejected_last(tmp_path: Path) -> None:
    """C4, seed 1: by ranking, then quality, then key; a turn without a strategy is none."""
    numbers = count(1)

    def strategy(key: str, status: str, ranking: float, quality: float | None, summary: str | None = "search") -> Row:
        return {
            "turn_key": key,
            "turn_number": next(numbers),
            "feedback_status": status,
            "is_reusable": status != "rejected",
            "ranking_score": ranking,
            "quality_score": quality,
            "strategy_summary": summary,
        }

    rows = [
        strategy("n2", "neutral", 0.54, 0.9),
        strategy("r1", "rejected", 0.9, 1.0),
        strategy("a3", "accepted", 0.3, None),
        strategy("a2", "accepted", 0.3, 0.1),
        strategy("a1", "accepted", 0.3, 0.1),
        strategy("n1", "neutral", 0.6, 0.1),
        strategy("a0", "accepted", 0.4, 0.0),
        strategy("x1", "accepted", 0.9, 1.0, None),
        strategy("x2", "accepted", 0.9, 1.0, "  "),
    ]
    found = run_sql(tmp_path, "core__strategies", {TURNS: rows})
    assert found["turn_key"].to_list() == ["a0", "a1", "a2", "a3", "n1", "n2", "r1"]
    assert found["rank"].to_list() == [1, 2, 3, 4, 5, 6, 7]
    assert found["is_reusable"].to_list() == [True] * 6 + [False]


# --- signals (N) ------------------------------------------------------------------------------------------------------------------


def test_turns_that_say_something_are_signals(tmp_path: Path) -> None:
    """N: rejected and accepted, dated when the message came; never explicit; weight and confidence are the detector's."""
    rows = [
        {"turn_key": "u1/1", "feedback_status": "rejected", "feedback_confidence": 0.9, "detected_at": at(3)},
        {
            "turn_key": "u1/2",
            "feedback_status": "accepted",
            "feedback_confidence": 0.6,
            "detected_at": at(2),
            "session_id": None,
        },
        {"turn_key": "u1/3", "feedback_status": "neutral", "detected_at": at(1)},
    ]
    found = run_sql(tmp_path, "core__signals", {TURNS: rows, "core__feedback": [{}]}).to_dicts()
    common = {
        "system": "conversations",
        "user_id": "u1",
        "tenant_id": None,
        "workspace_id": None,
        "domain": None,
        "event_date": date(2026, 1, 31),
        "is_explicit": False,
    }
    assert found[:2] == [
        common
        | {
            "signal_id": "conversations:u1/1",
            "kind": "rejected",
            "subject_id": "u1/1",
            "answer_ref": "u1/1",
            "session_id": "s1",
            "occurred_at": at(3),
            "polarity": "negative",
            "confidence": 0.9,
            "weight": 0.9,
        },
        common
        | {
            "signal_id": "conversations:u1/2",
            "kind": "accepted",
            "subject_id": "u1/2",
            "answer_ref": "u1/2",
            "session_id": None,
            "occurred_at": at(2),
            "polarity": "positive",
            "confidence": 0.6,
            "weight": 0.6,
        },
    ]
    assert [row["signal_id"] for row in found[2:]] == ["feedback:f1"]


def refs(folder: Path, inputs: dict[str, Any]) -> dict[str, str]:
    names = ("core__answer_refs", "core__signals")
    return {
        row["signal_id"]: row["answer_ref"] for row in run_one_after_another(folder, names, inputs)["core__signals"]
    }


def test_signals_of_one_answer_share_its_reference(tmp_path: Path) -> None:
    """N: the turn's key where one is found, else the distilled example's (M1), else the system's own id; never null."""
    turn = {"turn_key": "u1/1", "turn_id": "turn_000001", "occurred_at": at(9), "prompt_key": "p1"}
    told = turn | {"feedback_status": "rejected", "detected_at": at(8)}
    feedback = [
        {"feedback_id": "f1", "response_id": "turn_000001", "occurred_at": at(5), "prompt_key": "other"},
        {"feedback_id": "f2", "response_id": "r2", "occurred_at": at(5), "effective_type": "flag", "sentiment": None},
        {"feedback_id": "f3", "response_id": "e7", "session_id": "s9", "prompt_key": "p9"},
        {"feedback_id": "f4", "response_id": "r4", "session_id": "s9", "prompt_key": "p9"},
        {"feedback_id": "f5", "response_id": "turn_000001", "occurred_at": at(5), "status": "superseded"},
    ]
    reacted = {"conversation_id": "s1", "user_id": "u1", "is_active": True, "reaction": "ok", "origin": "user"}
    reactions = [
        reacted | {"reaction_id": 1, "turn_id": "turn_000001"},
        reacted | {"reaction_id": 2, "turn_id": "turn_000009"},
    ]
    linked = [{"example_id": "e7", "feedback_id": "f3", "found_by": "response"}]
    inputs = {
        PAIRS: [turn],
        TURNS: [told],
        "core__feedback": feedback,
        "core__reactions": reactions,
        "core__example_feedback": linked,
        "core__sessions": [
            {"session_id": "w1", "feedback_id": "v1", "rating": "positive", "verdict": None, "submitted_at": at(1)}
        ],
    }
    assert refs(tmp_path, inputs) == {
        "conversations:u1/1": "u1/1",
        "feedback:f1": "u1/1",
        "feedback:f2": "u1/1",
        "feedback:f3": "distillation:e7",
        "feedback:f4": "feedback:r4",
        "reactions:1": "u1/1",
        "reactions:2": "reactions:s1/turn_000009",
        "sessions:rating:v1": "sessions:w1",
    }


# --- what a planner reads (C8) ---------------------------------------------------------------------------------------------------

RAW = "raw_conversations__turns"


def test_a_rejected_turn_has_the_message_and_seed_1s_note(tmp_path: Path) -> None:
    """C8: status, where it was detected, what the user said, the strategy, and not to use it again."""
    rows = [
        followed(
            1, "rejected", 0.9, next_turn_id="turn_000002", turn_id="turn_000001", strategy_summary="shop:\n laptops"
        ),
        followed(2, "rejected", 0.9, next_turn_id="turn_000003", turn_id="turn_000002"),
        followed(3, "accepted", 0.9),
    ]
    said = [{"turn_key": "u1/2", "query": "No,  I meant\ngaming laptops"}, {"turn_key": "u1/4", "query": "Thanks"}]
    older = [{"turn_key": "u1/2", "query": "cut"}, {"turn_key": "u1/3", "query": "Still wrong"}]
    found = run_sql(tmp_path, TURNS, {PAIRS: rows, RAW: said, "raw_conversations__turn_index": older}).to_dicts()
    assert [row["user_said"] for row in found] == ["No,  I meant\ngaming laptops", "Still wrong", None]
    assert found[0]["planner_note"] == "\n".join(
        [
            "### Previous Response Feedback",
            "**Status:** REJECTED",
            "**Detected:** Turn 2 detected that Turn 1 was rejected",
            '**User said:** "No, I meant gaming laptops"',
            "**Previous strategy:** shop: laptops",
            "",
            "**Instruction for Planner:**",
            "- Do NOT reuse the strategy from Turn 1",
        ]
    )
    assert "strategy:" not in found[1]["planner_note"]  # what is not known is left out
    assert found[1]["planner_note"].endswith(
        "- 2 responses in a row were rejected: be more careful, consider asking back"
    )
    assert found[2]["planner_note"] is None


# --- machine signals (C6) --------------------------------------------------------------------------------------------------------


def machine(folder: Path, rows: list[Row], references: list[Row] | None = None) -> list[Row]:
    return run_sql(folder, "core__machine_signals", {PAIRS: rows, REFERENCES: references or []}).to_dicts()


def followed(n: int, status: str, confidence: float, **more: Any) -> Row:
    """Turn n, of which turn n + 1 says this."""
    return {
        "turn_key": f"u1/{n}",
        "turn_number": n,
        "occurred_at": at(600 - n),
        "next_turn_key": f"u1/{n + 1}",
        "next_at": at(600 - n - 1),
        "feedback_status": status,
        "feedback_confidence": confidence,
        "confidence_low": 0.6,
        "reason": "because",
        **more,
    }


def last(n: int, **more: Any) -> Row:
    return {"turn_key": f"u1/{n}", "turn_number": n, "occurred_at": at(600 - n), **more}


def target(message: int, rank: int, turn: int, score: float) -> Row:
    return {
        "message_turn_key": f"u1/{message}",
        "rank": rank,
        "turn_key": f"u1/{turn}",
        "score": score,
        "similarity": score,
    }


def test_the_gate_is_070(tmp_path: Path) -> None:
    """C6, C7: a rejection or acceptance of at least 0.70, known to be right in 0.60; about the turn before."""
    rows = [
        followed(1, "rejected", 0.70),
        followed(2, "accepted", 0.699999),
        followed(3, "accepted", 0.7),
        followed(4, "neutral", 0.9),
        followed(5, "rejected", 0.9) | {"confidence_low": 0.59},
        last(6),
    ]
    found = machine(tmp_path, rows)
    assert [(row["message_turn_key"], row["target_turn_key"], row["kind"], row["confidence"]) for row in found] == [
        ("u1/2", "u1/1", "rejected", 0.7),
        ("u1/4", "u1/3", "accepted", 0.7),
    ]
    assert found[0] | {"kind": 0, "confidence": 0, "message_turn_key": 0, "target_turn_key": 0} == {
        "message_turn_key": 0,
        "target_turn_key": 0,
        "target_kind": "last_turn",
        "kind": 0,
        "confidence": 0,
        "confidence_low": 0.6,
        "reason": "because",
        "occurred_at": at(598),
        "user_id": "u1",
        "session_id": "s1",
        "targets": [],
    }


def test_a_reference_is_about_the_best_target(tmp_path: Path) -> None:
    """C6: the five best are kept with their scores, best first."""
    rows = [followed(n, "neutral", 0.5) for n in range(1, 7)]
    rows += [
        followed(7, "rejected", 0.9),
        last(
            8, refers_back=True, said_status="rejected", said_confidence=0.9, said_confidence_low=0.6, said_reason="x"
        ),
    ]
    references = [target(8, rank, turn, 1 - rank / 10) for rank, turn in ((3, 1), (1, 4), (2, 6), (5, 2), (4, 5))]
    (signal,) = machine(tmp_path, rows, references)
    assert (signal["message_turn_key"], signal["target_turn_key"], signal["target_kind"]) == (
        "u1/8",
        "u1/4",
        "reference",
    )
    assert signal["targets"] == [
        {"turn_key": f"u1/{turn}", "score": score} for turn, score in ((4, 0.9), (6, 0.8), (1, 0.7), (5, 0.6), (2, 0.5))
    ]


def test_after_a_pause_a_reference_says_what_it_says_by_itself(tmp_path: Path) -> None:
    """C6: whatever the gaps; without a reference, a target or enough confidence there is no signal."""
    said = {"said_status": "accepted", "said_confidence": 0.7, "said_confidence_low": 0.8, "said_reason": "thanks"}
    rows = [
        last(1),
        last(2, refers_back=True, **said),
        last(3, refers_back=True, **(said | {"said_confidence": 0.69})),
        last(4, refers_back=True, **(said | {"said_status": "neutral"})),
        last(5, refers_back=True, **said),
        last(6, **said),
    ]
    references = [target(message, 1, 1, 0.5) for message in (2, 3, 4)]
    (signal,) = machine(tmp_path, rows, references)
    assert signal == {
        "message_turn_key": "u1/2",
        "target_turn_key": "u1/1",
        "target_kind": "reference",
        "kind": "accepted",
        "confidence": 0.7,
        "confidence_low": 0.8,
        "reason": "thanks",
        "occurred_at": at(598),
        "user_id": "u1",
        "session_id": "s1",
        "targets": [{"turn_key": "u1/1", "score": 0.5}],
    }


def test_a_message_about_an_earlier_turn_says_nothing_of_the_last_one(tmp_path: Path) -> None:
    """C6: the innocent turn is neutral and stays reusable; without a target the message is about the last turn after all."""
    rows = [followed(1, "rejected", 0.9), followed(2, "accepted", 0.7), last(3)]
    found = run_sql(tmp_path, "core__turns", {PAIRS: rows, "core__turn_references": [target(2, 1, 9, 0.5)]})
    told = found.select(
        "turn_key", "feedback_status", "feedback_confidence", "reason", "is_reusable", "satisfaction_score"
    )
    assert told.rows()[:2] == [
        ("u1/1", "neutral", 0.5, "refers_back", True, None),
        ("u1/2", "accepted", 0.7, "because", True, 0.5),
    ]


# --- metric__turn_daily ---------------------------------------------------------------------------------------------------------


def test_a_day_of_turns(tmp_path: Path) -> None:
    """Counts, rates and means of two days, by hand; a day without a score has no mean."""
    rows: list[Row] = [
        {
            "feedback_status": "rejected",
            "correction_type": "explicit",
            "satisfaction_score": -1.0,
            "consecutive_rejections": 1,
            "source_status": "rejected",
            "is_disputed": False,
        },
        {
            "feedback_status": "rejected",
            "correction_type": "rephrased",
            "satisfaction_score": -1.0,
            "consecutive_rejections": 2,
            "source_status": "neutral",
            "is_disputed": True,
        },
        {
            "feedback_status": "rejected",
            "correction_type": "abandonment",
            "satisfaction_score": -1.0,
            "consecutive_rejections": 3,
        },
        {
            "feedback_status": "accepted",
            "satisfaction_score": 0.8,
            "thread_id": "u1 / s2",
            "source_status": "rejected",
            "is_disputed": True,
        },
        {"feedback_status": "neutral", "satisfaction_score": 0.3, "thread_id": "u1 / s2"},
        {"feedback_status": "neutral", "thread_id": "u2 / s2"},
        {
            "feedback_status": "rejected",
            "correction_type": "explicit",
            "satisfaction_score": -1.0,
            "consecutive_rejections": 2,
            "thread_id": "u2 / s2",
        },
        {"feedback_status": "neutral", "event_date": date(2026, 1, 30)},
    ]
    rows = [{"turn_key": f"u1/{n}", **row} for n, row in enumerate(rows)]
    found = run_sql(tmp_path, "metric__turn_daily", {TURNS: rows}).to_dicts()
    assert [without_intervals(row) for row in found] == [
        {
            "event_date": date(2026, 1, 30),
            "turn_count": 1,
            "session_count": 1,
            "rejected_count": 0,
            "accepted_count": 0,
            "neutral_count": 1,
            "explicit_count": 0,
            "rephrased_count": 0,
            "abandonment_count": 0,
            "rejected_rate": 0.0,
            "accepted_rate": 0.0,
            "mean_satisfaction": None,
            "satisfaction_count": 0,
            "repeated_rejection_sessions": 0,
            "source_status_count": 0,
            "disputed_count": 0,
            "disputed_rate": None,
        },
        {
            "event_date": DAY,
            "turn_count": 7,
            "session_count": 3,
            "rejected_count": 4,
            "accepted_count": 1,
            "neutral_count": 2,
            "explicit_count": 2,
            "rephrased_count": 1,
            "abandonment_count": 1,
            "rejected_rate": 0.571429,
            "accepted_rate": 0.142857,
            "mean_satisfaction": round(-2.9 / 6, 6),
            "satisfaction_count": 6,
            "repeated_rejection_sessions": 2,
            "source_status_count": 3,
            "disputed_count": 2,
            "disputed_rate": 0.666667,
        },
    ]


# --- metric__detector_calibration -------------------------------------------------------------------------------------------------


def calibration(folder: Path, turns: list[Row], ratings: list[Row]) -> list[Row]:
    turns = [
        {"turn_key": f"u1/{n}", "turn_number": n, "turn_id": f"turn_{n:06}", **row} for n, row in enumerate(turns, 1)
    ]
    ratings = [{"feedback_id": f"f{n}", "occurred_at": at(1), **row} for n, row in enumerate(ratings, 1)]
    pairs_of = [{name: row[name] for name in row if name in TABLES[PAIRS].columns} for row in turns]
    inputs = {PAIRS: pairs_of, TURNS: [{"detected_at": at(0)} | row for row in turns], "core__feedback": ratings}
    names = ("core__answer_refs", "core__signals", "core__judged_turns", "metric__detector_calibration")
    return [dict(row) for row in run_one_after_another(folder, names, inputs)[names[-1]]]


def wilson(right: int, judged: int) -> tuple[float, float]:
    """The 95 % score interval: where |p - right/judged| is 1.96 standard errors of p; found by bisection."""
    z, share = NormalDist().inv_cdf(0.975), right / judged

    def is_inside(p: float) -> bool:
        return abs(share - p) <= z * sqrt(p * (1 - p) / judged)

    ends = []
    for outside in (0.0, 1.0):
        inside, far = share, outside
        for _ in range(100):
            middle = (inside + far) / 2
            inside, far = (middle, far) if is_inside(middle) else (inside, middle)
        ends.append(inside)
    return ends[0], ends[1]


def votes(right: int, wrong: int, status: str, confidence: float, start: int) -> tuple[list[Row], list[Row]]:
    """Turns of one status, each with a rating that names it: so many agree, so many do not."""
    agreeing = "positive" if status == "accepted" else "negative"
    other = "negative" if status == "accepted" else "positive"
    detected = [{"feedback_status": status, "feedback_confidence": confidence, "prompt_key": None}] * (right + wrong)
    said = [agreeing] * right + [other] * wrong
    return detected, [
        {"response_id": f"turn_{start + n:06}", "sentiment": sentiment, "prompt_key": "q"}
        for n, sentiment in enumerate(said)
    ]


def test_calibration_by_decile_with_wilsons_interval(tmp_path: Path) -> None:
    """Issue 4: n, share right with its 95 % interval per decile, expected calibration error; against an independent search."""
    first, second = votes(9, 3, "rejected", 0.9, 1), votes(3, 2, "accepted", 0.7, 13)
    third, fourth = votes(1, 0, "accepted", 0.6, 18), votes(0, 2, "rejected", 1.0, 19)
    detected, ratings = ([*a, *b, *c, *d] for a, b, c, d in zip(first, second, third, fourth, strict=True))
    found = calibration(tmp_path, detected, ratings)
    told = [
        (row["confidence_decile"], row["judged_count"], row["right_count"], row["mean_confidence"]) for row in found
    ]
    assert told == [(6, 1, 1, 0.6), (7, 5, 3, 0.7), (9, 14, 9, round((12 * 0.9 + 2 * 1.0) / 14, 6))]
    for row in found:
        low, high = wilson(row["right_count"], row["judged_count"])
        assert row["right_share"] == round(row["right_count"] / row["judged_count"], 6)
        assert (row["right_share_low"], row["right_share_high"]) == pytest.approx((low, high), abs=1.1e-6)
    error = (1 * abs(1 - 0.6) + 5 * abs(3 / 5 - 0.7) + 14 * abs(9 / 14 - 12.8 / 14)) / 20
    assert {row["calibration_error"] for row in found} == {round(error, 6)}
    assert {row["compared_with"] for row in found} == {"ratings"}


RIGHT: Row = {"feedback_status": "accepted", "feedback_confidence": 0.7}
NOT_ABOUT_IT: dict[str, tuple[Row, Row]] = {
    "a neutral turn": ({"feedback_status": "neutral"}, {}),
    "another session": ({}, {"session_id": "s2"}),
    "another user": ({}, {"user_id": "u2"}),
    "another question": ({}, {"prompt_key": "p2"}),
    "given before it": ({"occurred_at": at(5)}, {"occurred_at": at(6)}),
    "superseded": ({}, {"status": "superseded"}),
    "a neutral rating": ({}, {"sentiment": "neutral"}),
    "no rating": ({}, {"effective_type": "flag", "sentiment": None}),
    "no session": ({"session_id": None}, {"session_id": None}),
}


@pytest.mark.parametrize(("turn", "rating"), NOT_ABOUT_IT.values(), ids=list(NOT_ABOUT_IT))
def test_ratings_that_judge_nothing(tmp_path: Path, turn: Row, rating: Row) -> None:
    assert calibration(tmp_path, [RIGHT | turn], [rating]) == []


def test_a_rating_judges_the_turn_it_names_else_the_nearest_before_it(tmp_path: Path) -> None:
    """The same question asked three times: by name the first, by time the second; the third came later."""
    turns = [
        RIGHT | {"feedback_confidence": 0.6, "occurred_at": at(30)},
        RIGHT | {"feedback_confidence": 0.75, "occurred_at": at(20)},
        RIGHT | {"feedback_confidence": 0.85, "occurred_at": at(10)},
    ]
    found = calibration(tmp_path, turns, [{"response_id": "turn_000001"}, {"occurred_at": at(15), "user_id": None}])
    assert [(row["confidence_decile"], row["judged_count"]) for row in found] == [(6, 1), (7, 1)]


def test_a_rating_of_a_neutral_turn_judges_no_other(tmp_path: Path) -> None:
    """It is about that turn, of which the detector claims nothing, and not about an older one of the same question."""
    turns = [RIGHT | {"occurred_at": at(30)}, {"feedback_status": "neutral", "occurred_at": at(20)}]
    assert calibration(tmp_path, turns, [{"response_id": "turn_000002"}, {"occurred_at": at(15)}]) == []


def test_deciles_begin_with_their_tenth(tmp_path: Path) -> None:
    """[n/10, (n+1)/10), and 1.0 in the last; no rounding error moves 0.7 to the sixth."""
    confidences = [0.1 * n for n in range(11)] + [0.699999, 0.7]
    rows = [RIGHT | {"feedback_confidence": min(c, 1.0), "prompt_key": None} for c in confidences]
    named = [{"response_id": f"turn_{n:06}"} for n in range(1, len(rows) + 1)]
    found = calibration(tmp_path, rows, named)
    assert {row["confidence_decile"]: row["judged_count"] for row in found} == {
        0: 1,
        1: 1,
        2: 1,
        3: 1,
        4: 1,
        5: 1,
        6: 2,
        7: 2,
        8: 1,
        9: 2,
    }
    assert pl.DataFrame(found)["judged_count"].sum() == len(rows)
