"""core__feedback_sessions: what a session gave, of how many responses of its own (F11)."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import polars as pl

from tests.sql.harness import AS_OF, run_sql

Rows = Sequence[Mapping[str, Any]]
CORRECTION = {"effective_type": "correction", "sentiment": None}


def sessions(folder: Path, feedback: Rows, responses: Rows = ()) -> dict[str, dict[str, Any]]:
    rows = [{"feedback_id": str(n), "status": "active", **row} for n, row in enumerate(feedback)]
    told = [{"timestamp": 1_769_000_000.0, **row} for row in responses]
    found: pl.DataFrame = run_sql(
        folder, "core__feedback_sessions", {"core__feedback": rows, "raw_feedback__responses": told}
    )
    return {row["session_id"]: row for row in found.to_dicts()}


def rates(found: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[Any, Any, Any]]:
    return {key: (row["total_responses"], row["feedback_given"], row["feedback_rate"]) for key, row in found.items()}


def test_the_sample_of_the_document(tmp_path: Path) -> None:
    """Seed 0's session: a thumb up and a correction give a quality of 0.75."""
    found = sessions(tmp_path, [{"session_id": "s"}, {"session_id": "s", **CORRECTION}])["s"]
    assert (found["session_quality"], found["rated_count"], found["correction_count"]) == (0.75, 2, 1)
    assert (found["total_responses"], found["feedback_rate"]) == (None, None)


def test_a_response_belongs_to_the_session_responses_names(tmp_path: Path) -> None:
    """Feedback that names another session than its response's counts for the response's: a rate is never above 1."""
    feedback = [{"session_id": "other", "response_id": "r1"}, {"session_id": "s", "response_id": "r1"}]
    found = sessions(
        tmp_path, feedback, [{"response_id": "r1", "session_id": "s"}, {"response_id": "r2", "session_id": "s"}]
    )
    assert rates(found) == {"s": (2, 1, 0.5), "other": (None, 0, None)}


def test_a_response_without_a_session_belongs_to_the_one_its_feedback_names(tmp_path: Path) -> None:
    """It counts among those with feedback, so it counts among all of the session's, too."""
    responses = [{"response_id": "r1", "session_id": "s"}, {"response_id": "r3", "session_id": None}]
    assert rates(sessions(tmp_path, [{"session_id": "s", "response_id": "r3"}], responses)) == {"s": (2, 1, 0.5)}


def test_responses_at_or_after_as_of_are_not_there_yet(tmp_path: Path) -> None:
    responses = [
        {"response_id": "r1", "session_id": "s"},
        {"response_id": "r2", "session_id": "s", "timestamp": AS_OF.timestamp()},
    ]
    assert rates(sessions(tmp_path, [{"session_id": "s", "response_id": "r1"}], responses)) == {"s": (1, 1, 1.0)}


def test_topics_and_times(tmp_path: Path) -> None:
    """Domains by how often they come, ties by name; rows of others than active ones say nothing."""
    early, late = AS_OF - timedelta(hours=2), AS_OF - timedelta(hours=1)
    rows: Rows = [
        {"session_id": "s", "domain": "b", "occurred_at": late},
        {"session_id": "s", "domain": "a", "occurred_at": early},
        {"session_id": "s", "domain": "c"},
        {"session_id": "s", "domain": "c"},
        {"session_id": "s", "domain": "z", "status": "duplicate"},
        {"session_id": None, "domain": "z"},
    ]
    found = sessions(tmp_path, rows)
    assert list(found) == ["s"]
    assert (found["s"]["topics"], found["s"]["primary_domain"]) == (["c", "a", "b"], "c")
    assert found["s"]["started_at"] == early.timestamp()
