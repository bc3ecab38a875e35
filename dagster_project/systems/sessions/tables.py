"""The tables of sessions: what comes in, what is derived from it, what is counted."""

from dagster_project.contracts.shared import PLACED
from dagster_project.contracts.table import Table, by_name
from dagster_project.systems.sessions.columns import (
    COLUMNS,
    COMMENT,
    CREATED_AT,
    NAME,
    NEGATIVE,
    OUTPUT_HASH,
    POSITIVE,
    RATED,
    SESSION_ID,
    SESSIONS_COUNTED,
    STARTED_AT,
    STORED_RATING,
    STORED_VERDICT,
)
from dagster_project.systems.sessions.columns import TABLE_OWN as SESSION_OWN

SESSION = """session_id tenant_id workspace_id slice_id? user_id? started_at ended_at? event_date feedback_id? submitted_at?
    submitted_by? rating? verdict? edit_distance_pct? edit_distance_mark? output_edit_distance_pct? accuracy_score? completeness_score?
    style_match_score? error_categories output_issues has_missing_context? context_token_count? document_ids"""
SESSION_DAY = """tenant_id workspace_id date total_sessions positive_ratings negative_ratings skipped_ratings
    no_feedback_count first_pass_acceptance_rate? average_edit_distance? error_category_counts avg_accuracy_score?
    avg_completeness_score? avg_style_match_score? reviewed_count output_issue_counts missing_context_count
    missing_context_rate? sample_rate"""
RATES = """rated_count positive_rate? positive_rate_low? positive_rate_high? first_pass_acceptance_rate_low?
    first_pass_acceptance_rate_high? with_feedback_count missing_context_rate_low? missing_context_rate_high?"""
ESTIMATES = """total_sessions_estimate positive_ratings_estimate negative_ratings_estimate skipped_ratings_estimate
    no_feedback_estimate"""

TABLES = by_name(
    COLUMNS,
    Table(
        "raw_sessions__sessions",
        "One AI session (the session system's table `ai_sessions`).",
        ("id",),
        f"""id tenant_id workspace_id slice_id? user_id context_document_ids context_token_count? context_compiled_at?
        query_hash? started_at ended_at? created_at? {PLACED}""",
        is_by_day=True,
        own={"started_at": STARTED_AT, "created_at": CREATED_AT},
        said={
            "user_id": "whose session it is, as stored",
        },
    ),
    Table(
        "raw_sessions__feedback",
        "One feedback or review of an AI session, by the day it was submitted (the session system's table `session_feedback`).",
        ("id",),
        f"""id tenant_id session_id rating error_categories missing_context? comment? accuracy_score? completeness_score?
        style_match_score? review_verdict? edit_distance? output_issues submitted_at submitted_by? {PLACED}""",
        is_by_day=True,
        own={
            "rating": STORED_RATING,
            "review_verdict": STORED_VERDICT,
            "session_id": SESSION_ID,
            "comment": COMMENT,
        },
        said={
            "error_categories": "what was wrong, in the source's words",
            "output_issues": "what the review found wrong with the output, in the source's words",
            "event_date": "day on which the feedback was given, UTC",
            "occurred_at": "when the feedback was given (UTC)",
        },
    ),
    Table(
        "raw_sessions__context_nodes",
        "One document that can be in the context of AI sessions (the session system's table `context_nodes`).",
        ("id",),
        "id tenant_id? type? layer? name? token_count? deleted_at? extra? source_file source_rowid repairs",
        own={"name": NAME},
    ),
    Table(
        "raw_sessions__outputs",
        "How much of an AI session's output was changed afterwards; the texts stay at the source.",
        ("session_id",),
        "session_id output_edit_distance_pct? text_hash? extra? source_file source_rowid repairs",
        own={"session_id": SESSION_ID, "text_hash": OUTPUT_HASH},
    ),
    Table(
        "core__retired_sessions",
        "One archived AI session that the source no longer has, as it was archived.",
        ("session_id",),
        SESSION,
        own=SESSION_OWN,
        said={
            "event_date": "day on which the session began, UTC",
        },
    ),
    Table(
        "core__sessions",
        "One AI session before as_of with the feedback that counts for it; archived ones stay.",
        ("session_id",),
        SESSION,
        own=SESSION_OWN,
        is_for_analysts=True,
        said={
            "event_date": "day on which the session began, UTC",
        },
    ),
    Table(
        "archive__sessions",
        "One AI session of a frozen day, kept when the source deletes it.",
        ("session_id",),
        SESSION,
        is_by_day=True,
        own=SESSION_OWN,
        said={
            "event_date": "day on which the session began, UTC",
        },
    ),
    Table(
        "core__frozen_session_days",
        "One day of a workspace as it was frozen, 90 days later.",
        ("tenant_id", "workspace_id", "date"),
        SESSION_DAY,
    ),
    Table(
        "core__session_figures",
        "One day of a workspace's AI sessions, or of one slice of it, as they add up now.",
        ("tenant_id", "workspace_id", "date", "is_slice", "slice_id"),
        SESSION_DAY.replace(" date ", " date is_slice slice_id? "),
    ),
    Table(
        "core__session_days",
        "One day of a workspace's AI sessions as they add up now, whatever is frozen.",
        ("tenant_id", "workspace_id", "date"),
        SESSION_DAY,
    ),
    Table(
        "metric__session_daily",
        "One day of a workspace's AI sessions in the columns of the session system's feedback_metrics_daily.",
        ("tenant_id", "workspace_id", "date"),
        f"{SESSION_DAY} {RATES} {ESTIMATES} is_frozen",
        view="feedback_metrics_daily",
        said={
            "rated_count": "positive_ratings + negative_ratings",
        },
    ),
    Table(
        "metric__session_slice_daily",
        "One day of a slice of a workspace: the figures of metric__session_daily as they add up now.",
        ("tenant_id", "workspace_id", "slice_id", "date"),
        f"{SESSION_DAY.replace('workspace_id', 'workspace_id slice_id?')} {RATES} {ESTIMATES}",
        said={
            "rated_count": "positive_ratings + negative_ratings",
        },
    ),
    Table(
        "metric__restatements",
        "One figure of a day that was published otherwise before: what it was, what it is, and why.",
        ("entry",),
        "entry restated_as_of previous_as_of? tenant_id workspace_id date column old_value? new_value? why",
        said={
            "date": "day whose figure changed, UTC",
        },
    ),
    Table(
        "metric__context_effectiveness",
        "One document in the context of a workspace's sessions: how those were rated beside the others.",
        ("tenant_id", "workspace_id", "document_id"),
        """tenant_id workspace_id document_id document_name? document_type? session_count positive_count negative_count effectiveness?
        effectiveness_low? effectiveness_high? other_rated_count other_positive_rate? association? association_low?
        association_high? error_category_counts""",
        view="documents",
        own={"session_count": SESSIONS_COUNTED, "positive_count": POSITIVE, "negative_count": NEGATIVE},
        said={
            "session_count": "sessions with the document in their context",
            "positive_count": "of those, sessions rated positive",
            "negative_count": "of those, sessions rated negative",
            "error_category_counts": "JSON object: error category -> sessions with the document and that category, keys sorted",
        },
    ),
    Table(
        "metric__session_baseline",
        "One workspace with fewer than 20 rated sessions, beside the rates of other tenants where those may be told.",
        ("tenant_id", "workspace_id"),
        """tenant_id workspace_id rated_count other_tenant_count largest_tenant_share? has_baseline baseline_rated_count?
        baseline_positive_rate? baseline_acceptance_rate? baseline_edit_distance?""",
        own={"rated_count": RATED},
    ),
)
