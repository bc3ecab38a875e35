"""Whole runs on generated databases of AI sessions against answers computed in plain Python."""

from pathlib import Path

import pytest

from tests.accounts import went
from tests.oracle.seeds import seeds
from tests.oracle.sessions_oracle import answers, generated
from tests.systems.sessions.session_database import AS_OF, mill, rows, write

FIGURES = (
    "total_sessions",
    "positive_ratings",
    "negative_ratings",
    "skipped_ratings",
    "no_feedback_count",
    "first_pass_acceptance_rate",
    "average_edit_distance",
    "avg_accuracy_score",
    "avg_completeness_score",
    "error_category_counts",
    "output_issue_counts",
    "missing_context_rate",
    "is_frozen",
)
SESSIONS = """select session_id, tenant_id, workspace_id, slice_id, user_id, event_date, rating, verdict, feedback_id,
    edit_distance_pct, error_categories, output_issues, accuracy_score, document_ids from core__sessions"""
DOCUMENTS = """select tenant_id, workspace_id, document_id, document_type, session_count, positive_count, negative_count,
    effectiveness, other_rated_count, other_positive_rate, association, error_category_counts, effectiveness_low,
    effectiveness_high, association_low, association_high from metric__context_effectiveness"""


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(0, 2, 9))
def test_sessions(tmp_path: Path, seed: int) -> None:
    home = tmp_path / "home"
    tables = generated(seed)
    write(home, tables)
    mill(home)
    expected = answers(tables, AS_OF)

    refused = {key: set(why) for key, why in rows(home, "select coalesce(key, ''), reasons from quarantine")}
    assert refused == expected.refused
    read = len(tables["ai_sessions"]) + len(tables["session_feedback"])
    assert went(home, "raw_sessions__sessions", "raw_sessions__feedback") == (
        read,
        read - len(refused),
        len(refused),
        0,
        0,
    )

    names = (
        "tenant_id",
        "workspace_id",
        "slice_id",
        "user_id",
        "date",
        "rating",
        "verdict",
        "feedback_id",
        "edit",
        "categories",
        "issues",
        "accuracy",
        "documents",
    )
    found = {name: dict(zip(names, values, strict=True)) for name, *values in rows(home, SESSIONS)}
    assert found == {name: {key: row[key] for key in names} for name, row in expected.sessions.items()}

    daily = rows(home, f"select tenant_id, workspace_id, date, {', '.join(FIGURES)} from feedback_metrics_daily")
    assert {
        tuple(key): dict(zip(FIGURES, values, strict=True)) for *key, values in ((*row[:3], row[3:]) for row in daily)
    } == expected.days

    for tenant, workspace, name, *values in rows(home, DOCUMENTS):
        wanted = expected.documents.pop((tenant, workspace, name))
        keys = (
            "type",
            "sessions",
            "positive",
            "negative",
            "share",
            "other_rated",
            "other_share",
            "difference",
            "categories",
        )
        assert values[:9] == [wanted[key] for key in keys]
        ends = [wanted[key] for key in ("low", "high", "difference_low", "difference_high")]
        assert values[9:] == [None if end is None else pytest.approx(end, abs=1e-6) for end in ends]
    assert not expected.documents

    baselines = rows(
        home,
        "select tenant_id, workspace_id, rated_count, other_tenant_count, baseline_positive_rate from metric__session_baseline",
    )
    assert {(t, w): {"rated": r, "tenants": n, "rate": rate} for t, w, r, n, rate in baselines} == expected.baselines
    assert dict(rows(home, "select signal_id, polarity from signals where system = 'sessions'")) == expected.signals
