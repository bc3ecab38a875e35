"""`gristmill stats --system`: each system's own figures, as its document names them, exact on a few rows."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from dagster_project.engines.stored_tables import store
from dagster_project.lake.lake import Lake
from dagster_project.lookups.figures_text import figure_lines
from dagster_project.registry import SYSTEMS
from dagster_project.systems.reactions.columns import INACTIVE_REASONS
from tests.sql.harness import frame

Rows = Sequence[Mapping[str, Any]]


def lake_of(folder: Path, **tables: Rows) -> Lake:
    lake = Lake(folder)
    for table, rows in tables.items():
        store(lake, table, [frame(table, rows)])
    return lake


def test_conversations(tmp_path: Path) -> None:
    """Seed 1: statuses, kinds of correction, satisfaction; the mean is over scored turns, in whole numbers (G2)."""
    rejected = {"feedback_status": "rejected", "satisfaction_score": -1.0, "is_reusable": False}
    turns: Rows = [
        {"turn_key": "1", "correction_type": "explicit", "consecutive_rejections": 1, **rejected},
        {"turn_key": "2", "correction_type": "rephrased", "consecutive_rejections": 2, **rejected},
        {
            "turn_key": "3",
            "feedback_status": "accepted",
            "satisfaction_score": 1.0,
            "source_status": "rejected",
            "is_disputed": True,
        },
        {
            "turn_key": "4",
            "user_id": None,
            "thread_id": "other",
            "source_status": "neutral",
            "is_disputed": False,
            "satisfaction_score": 0.1,
        },
        {"turn_key": "5", "user_id": "u2", "thread_id": "third", "source_status": "neutral", "is_disputed": False},
        {"turn_key": "6"},
    ]
    signals: Rows = [{"message_turn_key": "2", "kind": "rejected", "target_kind": "last_turn"}]
    fitted = {"label": "rejected", "is_in_use": True, "state": "better_than_the_rules", "label_count": 200}
    heads: Rows = [fitted | {"judge": "rules", "f1": 0.5}, fitted | {"judge": "head", "f1": 0.75}]
    lake = lake_of(tmp_path, core__turns=turns, core__machine_signals=signals, metric__detector_head=heads)
    assert SYSTEMS["conversations"].figures(lake) == {
        "total_turns": 6,
        "users": 2,
        "sessions": 3,
        "user_feedback_status": {"rejected": 2, "accepted": 1, "neutral": 3},
        "rejected_rate": 0.333333,
        "accepted_rate": 0.166667,
        "correction_type": {"explicit": 1, "rephrased": 1, "abandonment": 0},
        "satisfaction": {"avg_score": -0.225, "scored_turns": 4},
        "reusable_turns": 4,
        "repeated_rejection_sessions": 1,
        "machine_signals": 1,
        "detector_head": {
            "is_in_use": True,
            "state": "better_than_the_rules",
            "label_count": 200,
            "rejected_f1": 0.75,
            "rejected_f1_rules_alone": 0.5,
        },
        "source_status": {"stored": 3, "disputed": 1, "disputed_rate": 0.333333},
    }


def test_reactions(tmp_path: Path) -> None:
    """R2, R3: active ones only; total = ok + not_ok + neutral = user + machine + unknown; a machine's null is neutral."""
    said = {
        "is_active": True,
        "is_orphan": False,
        "tenant": "t",
        "project": "p",
        "conversation_id": "c1",
        "turn_id": "1",
    }
    rows: Rows = [
        said | {"reaction_id": "1", "origin": "user", "reaction": "ok"},
        said | {"reaction_id": "2", "origin": "user", "reaction": "not_ok", "turn_id": "2"},
        said | {"reaction_id": "3", "origin": "machine", "reaction": None, "is_orphan": True, "conversation_id": "c2"},
        said | {"reaction_id": "4", "origin": None, "reaction": "ok", "tenant": "t2"},
        said
        | {"reaction_id": "5", "origin": "user", "reaction": "ok", "is_active": False, "inactive_reason": "superseded"},
        said
        | {"reaction_id": "6", "origin": "machine", "reaction": "ok", "is_active": False, "inactive_reason": "expired"},
    ]
    nobody = {"ok": 0, "not_ok": 0, "neutral": 0, "satisfaction_rate": None, "ok_rate": None}
    inactive = dict.fromkeys(INACTIVE_REASONS, 0)
    assert SYSTEMS["reactions"].figures(lake_of(tmp_path / "some", core__reactions=rows)) == {
        "conversations": 3,
        "turns": 4,
        "feedback_counts": {"total": 4, "user": 2, "machine": 1, "unknown": 1, "ok": 2, "not_ok": 1, "neutral": 1},
        "satisfaction_rate": 0.5,
        "ok_rate": 0.666667,
        "by_origin": {
            "user": {"ok": 1, "not_ok": 1, "neutral": 0, "satisfaction_rate": 0.5, "ok_rate": 0.5},
            "machine": {"ok": 0, "not_ok": 0, "neutral": 1, "satisfaction_rate": 0.0, "ok_rate": None},
            "unknown": {"ok": 1, "not_ok": 0, "neutral": 0, "satisfaction_rate": 1.0, "ok_rate": 1.0},
        },
        "orphans": 1,
        "inactive": inactive | {"superseded": 1, "expired": 1},
    }
    empty = SYSTEMS["reactions"].figures(lake_of(tmp_path / "none"))
    assert empty["by_origin"]["user"] == nobody
    assert (empty["conversations"], empty["satisfaction_rate"], empty["inactive"]) == (0, None, inactive)


def test_sessions(tmp_path: Path) -> None:
    """S1, S2: seed 4's names and units; the edit distance is of sessions with feedback, means leave null out, half up."""
    rated = {"feedback_id": "f", "has_missing_context": False, "tenant_id": "t1", "workspace_id": "w1"}
    rows: Rows = [
        rated
        | {
            "session_id": "1",
            "rating": "positive",
            "verdict": "approved",
            "edit_distance_pct": 10,
            "accuracy_score": 90,
            "error_categories": [],
            "output_issues": ["style_issue"],
        },
        rated
        | {
            "session_id": "2",
            "rating": "negative",
            "verdict": "rejected",
            "edit_distance_pct": 21,
            "accuracy_score": 85,
            "error_categories": ["hallucination", "other"],
            "has_missing_context": True,
        },
        rated
        | {
            "session_id": "3",
            "rating": "skipped",
            "verdict": "approved",
            "edit_distance_mark": "too_long",
            "tenant_id": "t2",
            "error_categories": ["other"],
        },
        {"session_id": "4", "edit_distance_pct": 99, "tenant_id": "t1", "workspace_id": "w2"},
    ]
    days = [
        {"tenant_id": "t1", "workspace_id": "w1", "sample_rate": 0.5, "is_frozen": frozen} for frozen in (True, False)
    ]
    lake = lake_of(tmp_path, core__sessions=rows, metric__session_daily=days, core__session_days=[{"sample_rate": 0.5}])
    assert SYSTEMS["sessions"].figures(lake) == {
        "total_sessions": 4,
        "positive_ratings": 1,
        "negative_ratings": 1,
        "skipped_ratings": 1,
        "no_feedback_count": 1,
        "first_pass_acceptance_rate": 66.67,
        "average_edit_distance": 15.5,
        "error_category_counts": {"hallucination": 1, "other": 2},
        "avg_accuracy_score": 87.5,
        "avg_completeness_score": None,
        "avg_style_match_score": None,
        "review_verdicts": {"approved": 2, "changes_requested": 0, "rejected": 1},
        "output_issue_counts": {"style_issue": 1},
        "missing_context_rate": 0.333333,
        "edit_distance_marks": {"too_long": 1, "out_of_range": 0},
        "tenants": 2,
        "workspaces": 3,
        "days": {"total": 2, "frozen": 1},
        "restatements": 0,
        "sample_rate": 0.5,
    }


@pytest.mark.parametrize("system", ["conversations", "reactions", "sessions"])
def test_a_system_nobody_configured(tmp_path: Path, system: str) -> None:
    """Zeros and nulls, no error; every line can be read."""
    found = SYSTEMS[system].figures(lake_of(tmp_path))
    lines = list(figure_lines(found))
    assert lines[0].split()[1] == "0"
    assert not any("{" in line or "None" in line for line in lines)


def test_lines_for_a_person() -> None:
    figures = {
        "total": 12_345,
        "rate": None,
        "by_kind": {"a": 1, "b": 2_000},
        "by_origin": {"user": {"ok": 1}},
        "no": {},
    }
    assert list(figure_lines(figures)) == [
        "total            12,345",
        "rate             -",
        "by_kind          a 1, b 2,000",
        "by_origin user   ok 1",
        "no               none",
    ]
