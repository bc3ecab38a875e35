"""SAM feedback (seed 0): what `feedback.db` holds and how a row of it becomes one of ours.

Only what depends on one row lives here: columns, repairs (G1) and vocabularies; what a row must be is its schema's. What
depends on other rows (one voice per person, contested answers) is SQL over the keys.
"""

import polars as pl

from dagster_project.columns.instants import instant, repair_milliseconds
from dagster_project.columns.words import word
from dagster_project.contracts.source_table import TableSpec

ENTRIES = TableSpec(
    system="feedback",
    name="feedback",
    columns={
        "feedback_id": "text",
        "response_id": "text",
        "session_id": "text",
        "user_id": "text",
        "timestamp": "real",
        "response_timestamp": "real",
        "feedback_type": "text",
        "rating": "integer",
        "correction": "text",
        "correction_type": "text",
        "what_was_wrong": "text",
        "preferred_response": "text",
        "comparison_basis": "text",
        "flag_type": "text",
        "flag_details": "text",
        "original_query": "text",
        "original_response": "text",
        "conversation_context": "text",
        "domain": "text",
        "response_confidence": "real",
        "escalated_to_claude": "integer",
        "processed": "integer",
        "training_format": "text",
        "quality_weight": "real",
        "processed_at": "real",
        "created_at": "real",
    },
    required=tuple(
        """
        feedback_id response_id session_id timestamp feedback_type original_query original_response
    """.split()
    ),
    key="feedback_id",
    event_time="timestamp",
    edited=("timestamp", "processed", "processed_at", "rating", "quality_weight", "training_format", "feedback_type"),
    measured=("correction", "what_was_wrong", "original_response"),
)
# What the source rewrites after the fact: two copies of a row may differ in these and still be one (F3).
DATED = {"raw_feedback__entries": ENTRIES}
REWRITTEN = ("processed", "training_format", "quality_weight", "processed_at")
# What makes two rows of one voter say the same thing (F3).
CONTENT = tuple(
    """
    rating correction correction_type what_was_wrong preferred_response comparison_basis flag_type
    flag_details
""".split()
)

RESPONSES = TableSpec(
    system="feedback",
    name="responses",
    columns={
        "response_id": "text",
        "session_id": "text",
        "query": "text",
        "response": "text",
        "timestamp": "real",
        "confidence": "real",
        "escalated": "integer",
    },
    required=("response_id",),
    key="response_id",
    edited=("response_id", "session_id", "timestamp", "confidence", "escalated"),
    measured=("query", "response"),
)

# The source's own aggregates cannot be trusted; they are read only to say how far off they are.
STORED_AGGREGATES = TableSpec(
    system="feedback",
    name="feedback_aggregates",
    columns={
        "response_id": "text",
        "thumbs_up_count": "integer",
        "thumbs_down_count": "integer",
        "correction_count": "integer",
        "preference_count": "integer",
        "flag_count": "integer",
    },
    required=("response_id",),
    key="response_id",
    edited=("thumbs_up_count", "thumbs_down_count", "correction_count", "preference_count", "flag_count"),
    left_behind=tuple(
        """
        avg_rating net_sentiment confidence_delta first_feedback_at last_feedback_at session_ids
        updated_at
    """.split()
    ),
)
STORED_SESSIONS = TableSpec(
    system="feedback",
    name="feedback_sessions",
    columns={
        "session_id": "text",
        "total_responses": "integer",
        "feedback_given": "integer",
        "positive_count": "integer",
        "negative_count": "integer",
        "correction_count": "integer",
    },
    required=("session_id",),
    key="session_id",
    edited=("total_responses", "feedback_given", "positive_count", "negative_count", "correction_count"),
    left_behind=("feedback_rate", "session_quality", "started_at", "last_activity_at", "primary_domain", "topics"),
)


def canonical(rows: pl.DataFrame, rating_scale: str) -> pl.DataFrame:
    """Source columns to canonical ones: times in seconds (G1), the instant and its day, the configured rating scale, the type."""
    return (
        repair_milliseconds(rows, ("timestamp", "response_timestamp", "processed_at", "created_at"))
        .with_columns(
            instant(pl.col("timestamp")).alias("occurred_at"),
            pl.lit(rating_scale, dtype=pl.String).alias("rating_scale"),
            word("feedback_type").alias("stated_type"),
        )
        .with_columns(pl.col("occurred_at").dt.date().alias("event_date"))
    )


def canonical_response(rows: pl.DataFrame) -> pl.DataFrame:
    """A row of `responses` with a hash of what feedback without texts may take from it (F1)."""
    told = pl.struct("query", "response", "timestamp", "confidence", "escalated")
    return rows.with_columns(told.hash(seed=0).reinterpret(signed=True).alias("response_hash"))
