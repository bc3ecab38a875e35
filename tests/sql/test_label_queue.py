"""core__label_queue: which pairs a person is asked to label, and in what order (C7)."""

from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.sql.harness import AS_OF, run_sql

Row = dict[str, Any]
SURE = {"feedback_confidence": 0.9, "confidence_low": 0.8}
UNSURE = {"feedback_confidence": 0.6, "confidence_low": 0.3}


def turn(n: int, status: str = "neutral", **more: Any) -> Row:
    """A turn in a session of its own, by a user of its own, with a message after it."""
    start = AS_OF - timedelta(hours=3)
    return {
        "turn_key": f"u{n}/1",
        "turn_id": "turn_000001",
        "user_id": f"u{n}",
        "session_id": f"s{n}",
        "thread_id": f"u{n} / s{n}",
        "occurred_at": start,
        "next_turn_key": f"m{n}/2",
        "next_at": start + timedelta(minutes=1),
        "feedback_status": status,
        "reason": f"rule of {status}",
        "query_source": "column",
        "response_source": "column",
        "text_hash": n,
        **UNSURE,
        **more,
    }


def queue(
    folder: Path, *turns: Row, labels: list[Row] | None = None, messages: dict[str, Any] | None = None
) -> list[Row]:
    """The queue over these turns; a message is another one's query unless `messages` says what its key is."""
    says = messages or {}
    following = [
        {
            "turn_key": row["next_turn_key"],
            "text_hash": 0,
            "prompt_key": says.get(row["next_turn_key"], row["next_turn_key"]),
        }
        for row in turns
        if row["next_turn_key"] and row["next_turn_key"] not in {one["turn_key"] for one in turns}
    ]
    known = ("next_turn_key", "next_at", "text_hash")
    stored = [{name: value for name, value in row.items() if name not in known} for row in turns]
    inputs = {"core__turn_pairs": [*turns, *following], "core__turns": stored, "core__turn_labels": labels or []}
    return run_sql(folder, "core__label_queue", inputs).to_dicts()


def told(rows: list[Row]) -> list[tuple[str, str]]:
    return [(row["turn_key"], row["lesson"]) for row in rows]


def said(n: int, label: str, **more: Any) -> Row:
    return {"turn_key": f"u{n}/1", "label": label, "label_kind": "rating", **more}


def test_a_row_says_which_pair_it_is_and_why(tmp_path: Path) -> None:
    (row,) = queue(tmp_path, turn(1, "rejected", similarity=0.7, source_status="accepted"))
    assert row == {
        "rank": 1,
        "turn_key": "u1/1",
        "user_id": "u1",
        "turn_number": 1,
        "session_id": "s1",
        "thread_id": "u1 / s1",
        "event_date": AS_OF.date() - timedelta(days=1),
        "next_turn_key": "m1/2",
        "next_at": AS_OF - timedelta(hours=3) + timedelta(minutes=1),
        "lesson": "disagreeing",
        "feedback_status": "rejected",
        "feedback_confidence": 0.6,
        "reason": "rule of rejected",
        "similarity": 0.7,
        "source_status": "accepted",
        "source_file": "x",
    }


@pytest.mark.parametrize(
    ("status", "facts", "users_said", "lesson"),
    [
        ("neutral", {}, None, "uncertain"),
        ("accepted", SURE, None, "frequent"),
        ("accepted", {"feedback_confidence": 0.75}, None, "frequent"),
        ("accepted", {"feedback_confidence": 0.749999}, None, "uncertain"),
        ("accepted", SURE | {"source_status": "rejected"}, None, "disagreeing"),
        ("accepted", SURE | {"source_status": "neutral"}, None, "frequent"),  # what a source says of most turns
        ("neutral", SURE | {"similarity": 0.6}, None, "disagreeing"),
        ("neutral", SURE | {"similarity": 0.599999}, None, "frequent"),
        ("rejected", SURE | {"similarity": 0.9}, None, "frequent"),
        ("neutral", SURE | {"similarity": 1.0, "reason": "neutral:resent"}, None, "frequent"),
        # what users said themselves is a label already, unless the detector says the opposite
        ("accepted", SURE, "accepted", None),
        ("accepted", SURE, "rejected", "disagreeing"),
        ("rejected", SURE, "accepted", "disagreeing"),
        ("rejected", SURE, "rejected", None),
        ("neutral", UNSURE, "rejected", None),
        ("accepted", SURE | {"source_status": "rejected"}, "neutral", None),
    ],
)
def test_what_a_label_teaches(
    tmp_path: Path, status: str, facts: Row, users_said: str | None, lesson: str | None
) -> None:
    labels = [said(1, users_said)] if users_said else []
    found = queue(tmp_path, turn(1, status, **facts), labels=labels)
    assert [row["lesson"] for row in found] == ([lesson] if lesson else [])


def test_a_verdict_leaves_the_pair_in_its_place(tmp_path: Path) -> None:
    """Who is offered what, the log of verdicts decides: an order that moves would repeat and skip pairs."""
    found = queue(tmp_path, turn(1, "accepted", **SURE), labels=[said(1, "rejected", label_kind="verdict")])
    assert told(found) == [("u1/1", "frequent")]


@pytest.mark.parametrize("gone", [{"next_turn_key": None}, {"reason": "refers_back"}, {"query_source": None}])
def test_what_nobody_can_judge_is_not_asked(tmp_path: Path, gone: Row) -> None:
    """No message after it, one about an earlier turn, or no text."""
    assert queue(tmp_path, turn(1, **gone)) == []


def test_a_message_without_text_is_not_asked_about(tmp_path: Path) -> None:
    assert queue(tmp_path, turn(1), messages={"m1/2": None}) == []


def test_the_same_texts_are_asked_about_once(tmp_path: Path) -> None:
    """Question and response the same, and the message: by the lot of their keys."""
    same = [turn(n, text_hash=7) for n in (1, 2, 3)]
    found = queue(tmp_path, *same, messages={"m1/2": "again", "m2/2": "again", "m3/2": "other"})
    assert len(found) == 2 and "u3/1" in {row["turn_key"] for row in found}


def test_at_most_two_of_a_session(tmp_path: Path) -> None:
    """What disagrees or is least sure before what is sure."""
    one_session = {"user_id": "u", "session_id": "s", "thread_id": "u / s"}
    rows = [turn(n, "accepted", **SURE, **one_session) for n in (1, 2)]
    rows += [turn(n, "accepted", **UNSURE, **one_session) for n in (3, 4)]
    assert sorted(told(queue(tmp_path, *rows))) == [("u3/1", "uncertain"), ("u4/1", "uncertain")]


def test_any_first_part_of_the_queue_is_balanced(tmp_path: Path) -> None:
    """Of 300 neutral, 30 accepted and 20 rejected turns, the first 30 are 10 of each: a step has a pair of each."""
    rows = [turn(n) for n in range(300)]
    rows += [turn(n, "accepted") for n in range(300, 330)] + [turn(n, "rejected") for n in range(330, 350)]
    found = queue(tmp_path, *rows)
    assert [row["feedback_status"] for row in found[:6]] == ["rejected", "accepted", "neutral"] * 2
    assert Counter(row["feedback_status"] for row in found[:30]) == {"rejected": 10, "accepted": 10, "neutral": 10}
    assert [row["rank"] for row in found[:3]] == [4, 5, 6]  # the places of what disagrees stay empty
    assert len(found) == 350 and len({row["turn_key"] for row in found}) == 350


def test_rules_get_places_by_how_much_they_decide_and_how_little_is_known(tmp_path: Path) -> None:
    """The root of 16 to 1, at the same width, is 4 to 1; a rule whose interval is narrow gets fewer."""
    often = [turn(n, reason="often") for n in range(16)]
    seldom = [turn(20, reason="seldom")]
    found = [row["reason"] for row in queue(tmp_path / "a", *often, *seldom)]
    assert found.index("seldom") == 2
    known = [turn(n, reason="known", feedback_confidence=0.6, confidence_low=0.6) for n in range(30, 46)]
    found = [row["reason"] for row in queue(tmp_path / "b", *often, *known)][:16]
    assert Counter(found) == {"often": 14, "known": 2}


def test_every_user_is_asked_about_before_one_is_again(tmp_path: Path) -> None:
    rows = [turn(n, user_id="loud") for n in range(20)] + [turn(n, user_id=f"q{n}") for n in range(20, 24)]
    assert {row["user_id"] for row in queue(tmp_path, *rows)[:5]} == {"loud", "q20", "q21", "q22", "q23"}


def test_turns_without_a_response_come_last(tmp_path: Path) -> None:
    """A person can hardly judge what they cannot see."""
    found = queue(tmp_path, turn(1, response_source=None), *(turn(n) for n in range(2, 8)))
    assert found[-1]["turn_key"] == "u1/1"


def test_the_order_is_that_of_the_rows_not_of_their_coming(tmp_path: Path) -> None:
    """G2."""
    rows = [
        turn(n, status, **facts) for n, (status, facts) in enumerate([("neutral", UNSURE), ("accepted", SURE)] * 20)
    ]
    assert queue(tmp_path / "a", *rows) == queue(tmp_path / "b", *reversed(rows))
