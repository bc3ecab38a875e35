"""F12: the safety queue and the correction requests carry what a person needs, and what is settled is not in them."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import polars as pl

from tests.sql.harness import AS_OF, run_sql

Rows = Sequence[Mapping[str, Any]]
DOWN = {"sentiment": "negative", "rating": -1, "prompt_key": "p"}
HARMFUL = {"effective_type": "flag", "feedback_type": "flag", "sentiment": None, "flag_type": "harmful"}
CORRECTION = {"effective_type": "correction", "feedback_type": "correction", "sentiment": None}


def queue(folder: Path, name: str, feedback: Rows, settled: Sequence[str] = (), texts: Rows = ()) -> pl.DataFrame:
    """The queue of these rows; each has a text of its own unless `texts` says otherwise."""
    told = {
        row["feedback_id"]: {"original_query": f"Q {row['feedback_id']}", "original_response": "A"} for row in feedback
    }
    for row in texts:
        told[row["feedback_id"]] |= row
    entries = [
        {"feedback_id": key, "event_date": AS_OF.date(), "rating_scale": "thumbs", **row} for key, row in told.items()
    ]
    settlements = [{"feedback_id": key, "reviewer": "ana", "note": "done"} for key in settled]
    inputs = {"core__feedback": feedback, "core__settlements": settlements, "raw_feedback__entries": entries}
    return run_sql(folder, name, inputs)


def test_the_safety_queue_tells_all_a_person_needs(tmp_path: Path) -> None:
    """F12: active flags `harmful`, newest first, with query, answer, context, details, who, when and weight."""
    at = AS_OF - timedelta(days=1)
    flags: Rows = [
        HARMFUL
        | {"feedback_id": "old", "occurred_at": at, "quality_weight": 0.5, "user_id": "u7", "response_id": "r7"},
        HARMFUL | {"feedback_id": "new", "session_id": "s9", "user_id": None, "response_confidence": 0.9},
        HARMFUL | {"feedback_id": "again", "status": "duplicate", "status_ref": "new"},
        HARMFUL | {"feedback_id": "other", "flag_type": "incorrect"},
        HARMFUL | {"feedback_id": "settled"},
    ]
    texts: Rows = [{"feedback_id": "old", "conversation_context": "User: hi", "flag_details": "It says to drink it."}]
    found = queue(tmp_path, "core__safety_queue", flags, ["settled", "unknown"], texts).to_dicts()
    assert [(row["rank"], row["feedback_id"]) for row in found] == [(1, "new"), (2, "old")]
    old = found[1]
    assert {
        name: old[name] for name in old if name not in ("rank", "is_escalated", "response_confidence", "session_id")
    } == {
        "feedback_id": "old",
        "response_id": "r7",
        "user_id": "u7",
        "occurred_at": at,
        "domain": "code",
        "quality_weight": 0.5,
        "original_query": "Q old",
        "original_response": "A",
        "conversation_context": "User: hi",
        "flag_details": "It says to drink it.",
    }
    assert (found[0]["session_id"], found[0]["user_id"], found[0]["response_confidence"]) == ("s9", None, 0.9)


def test_a_request_is_an_answer_and_its_heaviest_rating_stands_for_it(tmp_path: Path) -> None:
    """F12: heaviest first; all who rated it down are counted, and what they wrote is there, newest first."""
    before = AS_OF - timedelta(hours=1)
    ratings: Rows = [
        DOWN | {"feedback_id": "a", "answer_key": 1, "quality_weight": 0.4, "comment": "no"},
        DOWN
        | {"feedback_id": "b", "answer_key": 1, "quality_weight": 0.6, "comment": "wrong year", "occurred_at": before},
        DOWN | {"feedback_id": "c", "answer_key": 2, "quality_weight": 0.7, "response_id": "r2"},
        {"feedback_id": "d", "answer_key": 3},
        DOWN | {"feedback_id": "e", "answer_key": 4, "quality_weight": 0.9, "response_id": "r4"},
        CORRECTION | {"feedback_id": "f", "answer_key": 4, "response_id": "elsewhere"},
        DOWN | {"feedback_id": "g", "answer_key": 5, "quality_weight": 0.8, "response_id": "r5"},
        CORRECTION | {"feedback_id": "h", "answer_key": 6, "response_id": "r5"},
    ]
    found = queue(tmp_path, "core__correction_requests", ratings)
    columns = ("rank", "feedback_id", "negative_count", "quality_weight", "original_query", "comments")
    assert found.select(columns).rows() == [
        (1, "c", 1, 0.7, "Q c", []),
        (2, "b", 2, 0.6, "Q b", ["no", "wrong year"]),
    ]


def test_answers_without_texts_are_not_one_answer(tmp_path: Path) -> None:
    """F1, F12: an unrelated correction without texts takes no request away."""
    ratings: Rows = [
        DOWN | {"feedback_id": "a", "answer_key": None, "response_id": "r1"},
        DOWN | {"feedback_id": "b", "answer_key": None, "response_id": "r1", "quality_weight": 0.1},
        DOWN | {"feedback_id": "c", "answer_key": None, "response_id": "r2"},
        DOWN | {"feedback_id": "d", "answer_key": None, "response_id": "r3"},
        CORRECTION | {"feedback_id": "e", "answer_key": None, "response_id": "r2"},
    ]
    found = queue(tmp_path / "1", "core__correction_requests", ratings)
    assert sorted(found.select("feedback_id", "negative_count").rows()) == [("a", 2), ("d", 1)]
    settled = queue(tmp_path / "2", "core__correction_requests", ratings, ["b"])
    assert settled["feedback_id"].to_list() == ["d"]


def test_what_is_settled_is_the_answer(tmp_path: Path) -> None:
    """F12: whichever rating stood for it then, also one that was taken back since; other answers stay."""
    ratings: Rows = [
        DOWN | {"feedback_id": "light", "answer_key": 1, "quality_weight": 0.2},
        DOWN | {"feedback_id": "heavy", "answer_key": 1, "quality_weight": 0.9},
        DOWN | {"feedback_id": "later", "answer_key": 2, "response_id": "r2"},
        DOWN | {"feedback_id": "taken back", "answer_key": 2, "response_id": "r2", "status": "superseded"},
        DOWN | {"feedback_id": "open", "answer_key": 3, "response_id": "r3"},
    ]
    found = queue(tmp_path, "core__correction_requests", ratings, ["light", "taken back"])
    assert found["feedback_id"].to_list() == ["open"]
