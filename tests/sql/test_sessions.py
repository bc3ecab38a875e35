"""The queries about AI sessions on a few rows, sentence by sentence (S1-S5, S7, N)."""

from datetime import date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dagster_project.systems.sessions.frozen_days import frozen_now
from tests.sql.harness import AS_OF, frame, run_one_after_another, run_sql

DAY = date(2026, 1, 20)
STARTED = datetime(2026, 1, 20, 12, tzinfo=AS_OF.tzinfo)

Row = dict[str, Any]


def raw_session(name: str, **values: Any) -> Row:
    return {"id": name, "user_id": "u1", "started_at": STARTED, "occurred_at": STARTED, "event_date": DAY, **values}


def raw_feedback(name: str, session: str = "s1", hours: float = 1, **values: Any) -> Row:
    when = STARTED + timedelta(hours=hours)
    times = {"submitted_at": when, "occurred_at": when, "event_date": when.date()}
    return {"id": name, "session_id": session, "rating": "positive", "repairs": [], **times, **values}


def session(name: str, rating: str | None = None, **values: Any) -> Row:
    """A row of core__sessions; with a rating or `feedback_id` it has feedback."""
    said = {"rating": rating, "feedback_id": f"f{name}" if rating else None, "tenant_id": "t1", "workspace_id": "w1"}
    return {"session_id": name, "started_at": STARTED, "event_date": DAY, **said, **values}


def sessions_of(tmp_path: Path, feedback: list[Row], sessions: list[Row] | None = None, **more: list[Row]) -> list[Row]:
    inputs = {"raw_sessions__sessions": sessions or [raw_session("s1")], "raw_sessions__feedback": feedback, **more}
    return run_sql(tmp_path, "core__sessions", {name: rows for name, rows in inputs.items() if rows}).to_dicts()


# --- core__sessions ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stored", "mapped"),
    [
        (["OUTDATED_INFO"], ["wrong_context"]),
        (["WRONG_STYLE"], ["style_mismatch"]),
        (["INCOMPLETE"], ["missing_context"]),
        (["incorrect_pattern"], ["ignored_constraints"]),
        (["something new"], ["other"]),
        (["other"], ["other"]),
        ([" Hallucination\n", "hallucination"], ["hallucination"]),
        (["\u2003hallucination\x85", "\u00a0", "\t"], ["hallucination"]),
        (["incomplete", "missing_context"], ["missing_context"]),
        (["style_mismatch", "ignored_constraints"], ["ignored_constraints", "style_mismatch"]),
        (["", "  "], []),
        ([], []),
    ],
)
def test_error_categories(tmp_path: Path, stored: list[str], mapped: list[str]) -> None:
    """S1: the web's vocabulary maps onto seed 4's."""
    (found,) = sessions_of(tmp_path, [raw_feedback("f1", error_categories=stored)])
    assert found["error_categories"] == mapped


def test_the_latest_feedback_counts(tmp_path: Path) -> None:
    """By (submitted_at, id), before as_of; vocabularies in any case."""
    late = (AS_OF - STARTED) / timedelta(hours=1)
    said = [
        raw_feedback("f1", hours=3, rating="negative"),
        raw_feedback("f2", hours=5, rating=" SKIPPED "),
        raw_feedback("f3", hours=5, rating="Positive", review_verdict="CHANGES_REQUESTED"),
        raw_feedback("f0", hours=5, rating="negative"),
        raw_feedback("f9", hours=late, rating="negative"),
    ]
    (found,) = sessions_of(tmp_path, said)
    assert (found["feedback_id"], found["rating"], found["verdict"]) == ("f3", "positive", "changes_requested")


def test_sessions_before_as_of(tmp_path: Path) -> None:
    late = raw_session("s2", started_at=AS_OF, occurred_at=AS_OF, event_date=AS_OF.date())
    found = sessions_of(tmp_path, [], [raw_session("s1", user_id="default", slice_id=""), late])
    assert [(row["session_id"], row["user_id"], row["slice_id"], row["rating"]) for row in found] == [
        ("s1", None, None, None)
    ]
    assert found[0]["has_missing_context"] is None


@pytest.mark.parametrize(
    ("stored", "repairs", "computed", "expected"),
    [
        (20, [], 35, 20),
        (None, [], 35, 35),
        (None, [], None, None),
        (0, [], 35, 0),
        (None, ["edit_distance:out_of_range"], 35, None),
    ],
)
def test_edit_distance(
    tmp_path: Path, stored: int | None, repairs: list[str], computed: int | None, expected: int | None
) -> None:
    """S4: stored, else computed; a value out of range is nothing and is not recomputed."""
    outputs = [{"session_id": "s1", "output_edit_distance_pct": computed}]
    said = [raw_feedback("f1", edit_distance=stored, repairs=repairs)]
    (found,) = sessions_of(tmp_path, said, raw_sessions__outputs=outputs)
    assert found["edit_distance_pct"] == expected


def test_edit_distance_without_feedback(tmp_path: Path) -> None:
    (found,) = sessions_of(tmp_path, [], raw_sessions__outputs=[{"session_id": "s1", "output_edit_distance_pct": 7}])
    assert found["edit_distance_pct"] == 7


def test_archived_sessions(tmp_path: Path) -> None:
    """S3: feedback of a session the source no longer has: what was archived, unless something later came."""
    archived = {"rating": "negative", "submitted_at": STARTED, "has_missing_context": True, "edit_distance_pct": 12}
    retired = [
        session("a", feedback_id="fa", **archived),
        session("b", feedback_id="fb", **archived),
        session("c", output_edit_distance_pct=9),
        session("d", feedback_id="fd", **archived),
    ]
    said = [raw_feedback("late", "b"), raw_feedback("first", "c"), raw_feedback("fd", "d", hours=0, rating="skipped")]
    found = sessions_of(tmp_path, said, core__retired_sessions=retired)
    assert [(row["session_id"], row["feedback_id"], row["rating"], row["edit_distance_pct"]) for row in found] == [
        ("a", "fa", "negative", 12),
        ("b", "late", "positive", None),
        ("c", "first", "positive", 9),
        ("d", "fd", "skipped", None),
        ("s1", None, None, None),
    ]


# --- days --------------------------------------------------------------------------------------------------------


def days_of(tmp_path: Path, sessions: list[Row], name: str = "core__session_days", **params: Any) -> list[Row]:
    made = run_one_after_another(tmp_path, ("core__session_figures", name), {"core__sessions": sessions}, **params)
    return [dict(row) for row in made[name]]


def test_counts(tmp_path: Path) -> None:
    """S1: total = positive + negative + skipped + no_feedback, per tenant, workspace and day."""
    sessions = [
        session("1", "positive"),
        session("2", "positive"),
        session("3", "negative", error_categories=["other", "hallucination"]),
        session(
            "4", "skipped", error_categories=["hallucination"], output_issues=["style_issue"], has_missing_context=True
        ),
        session("5"),
        session("6", workspace_id="w2"),
        session("7", tenant_id="t2"),
        session("8", event_date=date(2026, 1, 21)),
    ]
    first, *others = days_of(tmp_path, sessions)
    counts = {name: value for name, value in first.items() if isinstance(value, int) and not isinstance(value, bool)}
    assert counts == {
        "total_sessions": 5,
        "positive_ratings": 2,
        "negative_ratings": 1,
        "skipped_ratings": 1,
        "no_feedback_count": 1,
        "reviewed_count": 0,
        "missing_context_count": 1,
    }
    assert first["error_category_counts"] == '{"hallucination":2,"other":1}'
    assert first["output_issue_counts"] == '{"style_issue":1}'
    assert first["missing_context_rate"] == 0.25
    assert first["first_pass_acceptance_rate"] is first["average_edit_distance"] is first["avg_accuracy_score"] is None
    assert [(row["tenant_id"], row["workspace_id"], row["date"], row["total_sessions"]) for row in others] == [
        ("t1", "w1", date(2026, 1, 21), 1),
        ("t1", "w2", DAY, 1),
        ("t2", "w1", DAY, 1),
    ]


@pytest.mark.parametrize(
    ("approved", "reviewed", "rate"),
    [(1, 3, 33.33), (2, 3, 66.67), (1, 8, 12.5), (1, 6, 16.67), (0, 2, 0.0), (5, 5, 100.0)],
)
def test_first_pass_acceptance(tmp_path: Path, approved: int, reviewed: int, rate: float) -> None:
    """S2: approved / reviewed * 100."""
    verdicts = ["approved"] * approved + ["rejected", "changes_requested"] * reviewed
    sessions = [session(str(n), "skipped", verdict=verdict) for n, verdict in enumerate(verdicts[:reviewed])]
    (row,) = days_of(tmp_path, [*sessions, session("x", "positive"), session("y")])
    assert (row["first_pass_acceptance_rate"], row["reviewed_count"]) == (rate, reviewed)


def test_averages_are_rounded_half_up(tmp_path: Path) -> None:
    """S2: over non-null values, 2 decimals; the edit distance of sessions with feedback only. 1/8 = 0.125 -> 0.13."""
    scores = [1, 0, 0, 0, 0, 0, 0, 0, None]
    sessions = [
        session(str(n), "positive", accuracy_score=score, completeness_score=100, edit_distance_pct=score)
        for n, score in enumerate(scores)
    ]
    (row,) = days_of(tmp_path, [*sessions, session("x", edit_distance_pct=90)])
    assert (row["avg_accuracy_score"], row["avg_completeness_score"], row["avg_style_match_score"]) == (
        0.13,
        100.0,
        None,
    )
    assert row["average_edit_distance"] == 0.13


def test_slices(tmp_path: Path) -> None:
    sessions = [
        session("1", "positive", slice_id="a", error_categories=["other"]),
        session("2", slice_id="b"),
        session("3"),
    ]
    found = days_of(tmp_path, sessions, "metric__session_slice_daily", sample_rate=0.5)
    assert [(row["slice_id"], row["total_sessions"], row["error_category_counts"]) for row in found] == [
        ("a", 1, '{"other":1}'),
        ("b", 1, "{}"),
        (None, 1, "{}"),
    ]
    assert found[0]["positive_ratings_estimate"] == 2.0


def test_slices_add_up_to_the_day(tmp_path: Path) -> None:
    """S2: the day is made of its slices, so a mean of the day is not the mean of their means: 10, and 20, 30, 40 give 25."""
    said = [("a", 10, ["other"]), ("b", 20, ["other"]), ("b", 30, ["hallucination"]), (None, 40, ["other"])]
    sessions = [
        session(
            str(n), "positive", slice_id=part, accuracy_score=score, verdict="approved", error_categories=categories
        )
        for n, (part, score, categories) in enumerate(said)
    ]
    figures = run_sql(tmp_path, "core__session_figures", {"core__sessions": [*sessions, session("x", slice_id="a")]})
    shown = "is_slice", "slice_id", "total_sessions", "no_feedback_count", "avg_accuracy_score", "error_category_counts"
    assert figures.select(shown).rows() == [
        (False, None, 5, 1, 25.0, '{"hallucination":1,"other":3}'),
        (True, "a", 2, 1, 10.0, '{"other":1}'),
        (True, "b", 2, 0, 25.0, '{"hallucination":1,"other":1}'),
        (True, None, 1, 0, 40.0, '{"other":1}'),
    ]


def day(date: date, sessions: int) -> Row:
    """A row of core__session_days or core__frozen_session_days."""
    ratings = {"positive_ratings": 0, "negative_ratings": 0, "skipped_ratings": 0, "no_feedback_count": sessions}
    key = {"tenant_id": "t1", "workspace_id": "w1", "date": date}
    return {**key, "total_sessions": sessions, "sample_rate": 1.0, **ratings}


def daily(tmp_path: Path, now: list[Row], frozen: list[Row], **params: Any) -> dict[Any, Row]:
    inputs = {"core__session_days": now, "core__frozen_session_days": frozen}
    found = run_sql(tmp_path, "metric__session_daily", {name: rows for name, rows in inputs.items() if rows}, **params)
    return {row["date"]: row for row in found.to_dicts()}


def test_freezing() -> None:
    """S3: from 90 days before as_of on; then fewer sessions are refused, as many or more are taken."""
    edge, later = date(2025, 11, 3), date(2025, 11, 4)
    old = [edge - timedelta(days=back) for back in range(1, 5)]
    now = frame("core__session_days", [day(when, 5) for when in (edge, later, *old[:3])])
    frozen = frame("core__frozen_session_days", [day(when, n) for when, n in zip(old, (6, 5, 4, 3), strict=True)])
    found = frozen_now(now, frozen.sort("date"), edge)
    assert dict(found.select("date", "total_sessions").iter_rows()) == {
        edge: 5,
        old[0]: 6,
        old[1]: 5,
        old[2]: 5,
        old[3]: 3,
    }


def test_frozen_days_are_told_as_they_are_frozen(tmp_path: Path) -> None:
    """Whatever they add up to now, and also where nothing is left of them."""
    days = [date(2025, 11, n) for n in (1, 2, 3)]
    found = daily(tmp_path, [day(when, 5) for when in days[1:]], [day(days[0], 2), day(days[1], 6)])
    told = {when: (row["total_sessions"], row["is_frozen"]) for when, row in found.items()}
    assert told == {days[0]: (2, True), days[1]: (6, True), days[2]: (5, False)}


def test_a_frozen_day_stays_frozen(tmp_path: Path) -> None:
    """Also when as_of goes back; a day that is not over then is not told."""
    rows = [day(date(2026, 1, 30), 5), day(date(2026, 1, 31), 5)]
    found = daily(tmp_path, rows[:1], rows, as_of=datetime(2026, 1, 31, tzinfo=AS_OF.tzinfo))
    assert [(row["total_sessions"], row["is_frozen"]) for row in found.values()] == [(5, True)]


def test_the_check_finds_what_does_not_add_up(tmp_path: Path) -> None:
    row = {
        "tenant_id": "t1",
        "workspace_id": "w1",
        "date": DAY,
        "total_sessions": 1,
        "no_feedback_count": 1,
        "is_frozen": False,
    }
    good = {**row, "positive_ratings": 0, "negative_ratings": 0, "skipped_ratings": 0}
    for number, (daily_row, sessions, offends) in enumerate(
        [
            (good, [session("1")], False),
            (good | {"positive_ratings": 1}, [session("1")], True),
            (good, [session("1"), session("2")], True),
            (good, [], True),
            (good | {"is_frozen": True}, [], False),
        ]
    ):
        inputs = {"metric__session_daily": [daily_row], "core__sessions": sessions}
        found = run_sql(
            tmp_path / str(number), "metric__session_daily__adds_up", {k: v for k, v in inputs.items() if v}
        )
        assert (found.height > 0) == offends, number


# --- documents, baseline, signals --------------------------------------------------------------------------------


def test_context_effectiveness(tmp_path: Path) -> None:
    """S5: Wilson's interval, null below 5 rated; the same workspace without the document; Newcombe's interval."""
    sessions = [session(f"a{n}", "positive", document_ids=["d1"]) for n in range(8)]
    sessions += [session(f"b{n}", "negative", document_ids=["d1", "d2"], error_categories=["other"]) for n in range(2)]
    sessions += [session(f"c{n}", "positive" if n < 5 else "negative") for n in range(10)]
    sessions += [session("d", "skipped", document_ids=["d1"]), session("e", document_ids=["d1"])]
    sessions += [session(f"x{n}", "positive", workspace_id="w2", document_ids=["d1"]) for n in range(5)]
    nodes = [{"id": "d1", "type": "Runbook", "name": "Rolling back"}]
    inputs = {"core__sessions": sessions, "raw_sessions__context_nodes": nodes}
    first, second, alone = run_sql(tmp_path, "metric__context_effectiveness", inputs).to_dicts()
    assert first == {
        "tenant_id": "t1",
        "workspace_id": "w1",
        "document_id": "d1",
        "document_type": "runbook",
        "document_name": "Rolling back",
        "session_count": 12,
        "positive_count": 8,
        "negative_count": 2,
        "effectiveness": 0.8,
        "effectiveness_low": pytest.approx(0.490162, abs=2e-6),
        "effectiveness_high": pytest.approx(0.943318, abs=2e-6),
        "other_rated_count": 10,
        "other_positive_rate": 0.5,
        "association": 0.3,
        "association_low": pytest.approx(-0.107031, abs=1e-3),
        "association_high": pytest.approx(0.599998, abs=1e-2),
        "error_category_counts": '{"other":2}',
    }
    assert second["session_count"] == 2
    nothing = (
        "effectiveness",
        "effectiveness_low",
        "effectiveness_high",
        "association",
        "association_low",
        "association_high",
    )
    assert [second[name] for name in nothing] == [None] * 6
    assert second["other_positive_rate"] == round(13 / 18, 6)
    assert (alone["workspace_id"], alone["effectiveness"], alone["effectiveness_high"]) == ("w2", 1.0, 1.0)
    assert alone["other_positive_rate"] is alone["association"] is alone["association_low"] is None


def tenant(name: str, rated: int, positive: int) -> list[Row]:
    said = ["positive"] * positive + ["negative"] * (rated - positive)
    return [session(f"{name}{n}", rating, tenant_id=name) for n, rating in enumerate(said)]


def test_baseline(tmp_path: Path) -> None:
    """S7: for workspaces with fewer than 20 rated sessions, over at least 5 other tenants, none with more than half."""
    others = [row for n in range(1, 6) for row in tenant(f"o{n}", 20, 10 + n)]
    few = [*tenant("new", 19, 3), session("unrated", tenant_id="new")]
    (row,) = run_sql(tmp_path / "1", "metric__session_baseline", {"core__sessions": others + few}).to_dicts()
    assert (row["tenant_id"], row["rated_count"], row["other_tenant_count"], row["has_baseline"]) == (
        "new",
        19,
        5,
        True,
    )
    assert (row["baseline_positive_rate"], row["baseline_rated_count"], row["baseline_acceptance_rate"]) == (
        0.65,
        100,
        None,
    )
    (row,) = run_sql(tmp_path / "2", "metric__session_baseline", {"core__sessions": others[20:] + few}).to_dicts()
    assert (row["other_tenant_count"], row["has_baseline"], row["baseline_positive_rate"]) == (4, False, None)
    large = [*others, *tenant("huge", 101, 50), *few]
    (row,) = run_sql(tmp_path / "3", "metric__session_baseline", {"core__sessions": large}).to_dicts()
    assert (row["other_tenant_count"], row["has_baseline"], row["baseline_positive_rate"]) == (6, False, None)
    (row,) = run_sql(
        tmp_path / "4", "metric__session_baseline", {"core__sessions": [*others, *tenant("half", 100, 50), *few]}
    ).to_dicts()
    assert (row["has_baseline"], row["largest_tenant_share"]) == (True, 0.5)
    assert run_sql(tmp_path / "5", "metric__session_baseline", {"core__sessions": tenant("old", 20, 3)}).is_empty()


def test_signals(tmp_path: Path) -> None:
    """N: a row per rating that is positive or negative, and a row per verdict."""
    sessions = [
        session("1", "positive", submitted_at=STARTED, submitted_by="r"),
        session("2", "negative", submitted_at=STARTED, submitted_by="default", user_id="u", verdict="approved"),
        session("3", "skipped", submitted_at=STARTED, verdict="changes_requested"),
        session("4", "skipped", submitted_at=STARTED, verdict="rejected"),
        session("5"),
    ]
    found = run_sql(tmp_path, "core__signals", {"core__sessions": sessions})
    assert found.select("signal_id", "kind", "subject_id", "user_id", "polarity").rows() == [
        ("sessions:rating:f1", "rating", "1", "r", "positive"),
        ("sessions:rating:f2", "rating", "2", "u", "negative"),
        ("sessions:verdict:f2", "verdict", "2", "u", "positive"),
        ("sessions:verdict:f3", "verdict", "3", None, "negative"),
        ("sessions:verdict:f4", "verdict", "4", None, "negative"),
    ]
    assert found["is_explicit"].all() and (found["weight"] == 1).all()


def test_satisfaction(tmp_path: Path) -> None:
    """N: per system and day; the overall line goes by fixed shares, whatever the volume."""

    def signal(number: int, system: str, polarity: str) -> Row:
        when = {"occurred_at": STARTED, "event_date": STARTED.date()}
        return {"signal_id": str(number), "system": system, "polarity": polarity, "weight": 1.0, **when}

    def feedback(kind: str, sentiment: str | None, count: int) -> Row:
        return {"event_date": STARTED.date(), "effective_type": kind, "sentiment": sentiment, "feedback_count": count}

    rows = [
        signal(200, "sessions", "negative"),
        signal(201, "sessions", "neutral"),
        signal(202, "sessions", "positive"),
    ]
    rows += [signal(203, "sessions", "negative"), signal(1, "feedback", "negative")]  # which is among the counted ones
    counts = [feedback("rating", "positive", 90), feedback("rating", "negative", 7), feedback("correction", None, 3)]
    inputs = {"core__signals": rows, "core__feedback_counts": counts}
    found = run_sql(tmp_path, "metric__satisfaction_daily", inputs)
    shown = found.select("system", "signal_count", "satisfaction_rate", "decided_rate", "fixed_share")
    assert shown.rows() == [
        ("feedback", 100, 0.9, 0.9, 0.25),
        ("overall", 104, 0.575, 0.616667, 0.5),
        ("sessions", 4, 0.25, 0.333333, 0.25),
    ]
    shares = '{"feedback": 1.0}'
    found = run_sql(tmp_path, "metric__satisfaction_daily", inputs, satisfaction_shares=shares)
    assert found.filter(pl.col("system") == "overall")["satisfaction_rate"].to_list() == [0.9]


def test_the_order_of_rows_does_not_matter(tmp_path: Path) -> None:
    sessions = [
        session(str(n), ("positive", "negative", "skipped", None)[n % 4], document_ids=[f"d{n % 3}"]) for n in range(40)
    ]
    for query in ("core__session_figures", "metric__context_effectiveness", "metric__session_baseline"):
        found = [
            run_sql(tmp_path / f"{query}{way}", query, {"core__sessions": sessions[::way]}).to_dicts()
            for way in (1, -1)
        ]
        assert all(one == two for one, two in pairwise(found))
