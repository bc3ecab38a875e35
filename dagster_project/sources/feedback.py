"""SAM feedback (seed 0): what `feedback.db` holds and how a row of it becomes one of ours.

Only row-local rules live here: repairs (G1), the contract (F1, F2, G8) and the vocabularies. What depends on other rows
(one voice per person, contested answers) is SQL over the keys.
"""

import polars as pl

from dagster_project.extract import TableSpec
from dagster_project.instants import instant, repair_milliseconds
from dagster_project.quarantine import Rule
from dagster_project.signals.text_keys import SPACES, has_text

FEEDBACK_TYPES = ("rating", "correction", "preference", "flag")
CORRECTION_TYPES = ("full_replacement", "partial_fix", "addition", "clarification")
FLAG_TYPES = ("harmful", "incorrect", "off_topic", "unhelpful", "repetitive", "incomplete", "other")
DOMAINS = ("code", "reasoning", "creative", "factual", "planning", "general")

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
    required=(
        "feedback_id",
        "response_id",
        "session_id",
        "timestamp",
        "feedback_type",
        "original_query",
        "original_response",
    ),
    key="feedback_id",
    event_time="timestamp",
    edited=("timestamp", "processed", "processed_at", "rating", "quality_weight", "training_format", "feedback_type"),
    measured=("correction", "what_was_wrong", "original_response"),
)
# What the source rewrites after the fact: two copies of a row may differ in these and still be one (F3).
REWRITTEN = ("processed", "training_format", "quality_weight", "processed_at")
# What makes two rows of one voter say the same thing (F3).
CONTENT = (
    "rating", "correction", "correction_type", "what_was_wrong",
    "preferred_response", "comparison_basis", "flag_type", "flag_details",
)  # fmt: skip

RESPONSES = TableSpec(
    system="feedback",
    name="responses",
    columns={
        "response_id": "text",
        "session_id": "text",
        "timestamp": "real",
        "confidence": "real",
        "escalated": "integer",
    },
    required=("response_id",),
    key="response_id",
    edited=("response_id", "session_id", "timestamp"),
    left_behind=("query", "response"),  # a rated answer's text is in its feedback rows
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
    left_behind=(
        "avg_rating", "net_sentiment", "confidence_delta", "first_feedback_at", "last_feedback_at",
        "session_ids", "updated_at",
    ),
)  # fmt: skip
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
)  # fmt: skip


def canonical(rows: pl.DataFrame, rating_scale: str) -> pl.DataFrame:
    """Source columns to canonical ones: times in seconds (G1), the instant and its day, the configured rating scale."""
    return (
        repair_milliseconds(rows, ("timestamp", "response_timestamp", "processed_at", "created_at"))
        .with_columns(
            instant(pl.col("timestamp")).alias("occurred_at"),
            pl.lit(rating_scale, dtype=pl.String).alias("rating_scale"),
        )
        .with_columns(pl.col("occurred_at").dt.date().alias("event_date"))
    )


def word(column: str) -> pl.Expr:
    """A vocabulary's value as it is compared: trimmed, in lower case (G8)."""
    return pl.col(column).str.strip_chars(SPACES).str.to_lowercase()


def known_or(column: str, known: tuple[str, ...], otherwise: str | None) -> pl.Expr:
    """An open vocabulary: a value we do not know becomes `otherwise`; the raw table keeps what was written (G8)."""
    return pl.when(word(column).is_in(known)).then(word(column)).otherwise(pl.lit(otherwise, dtype=pl.String))


def _empty(column: str) -> pl.Expr:
    return pl.col(column).is_null() | (pl.col(column) == "")


def _blank(column: str) -> pl.Expr:
    return ~has_text(column)


_THUMBS = pl.col("rating").is_in([-1, 1])
_FIVE = pl.col("rating").is_between(1, 5)
_IN_SCALE = pl.when(pl.col("rating_scale") == "five").then(_FIVE).otherwise(_THUMBS)

# F1, F2, G8. Every rule names the column it blames after the colon.
ENTRY_RULES = (
    Rule("missing:feedback_id", _empty("feedback_id")),
    Rule("missing:response_id", _empty("response_id")),
    Rule("missing:session_id", _empty("session_id")),
    Rule("missing:timestamp", pl.col("timestamp").is_null()),
    Rule("out_of_range:timestamp", pl.col("timestamp").is_not_null() & pl.col("occurred_at").is_null()),
    Rule("missing:feedback_type", _empty("feedback_type")),
    Rule("unknown:feedback_type", ~_empty("feedback_type") & ~word("feedback_type").is_in(FEEDBACK_TYPES)),
    Rule("missing:original_query", pl.col("original_query").is_null()),
    Rule("missing:original_response", pl.col("original_response").is_null()),
    Rule("missing:rating", (word("feedback_type") == "rating") & pl.col("rating").is_null()),
    Rule("missing:correction", (word("feedback_type") == "correction") & _blank("correction")),
    Rule("missing:preferred_response", (word("feedback_type") == "preference") & _blank("preferred_response")),
    Rule("missing:flag_type", (word("feedback_type") == "flag") & _blank("flag_type")),
    Rule("out_of_range:rating", pl.col("rating").is_not_null() & ~_IN_SCALE),
    Rule("out_of_range:response_confidence", ~pl.col("response_confidence").is_between(0, 1)),
    Rule("out_of_range:escalated_to_claude", ~pl.col("escalated_to_claude").is_in([0, 1])),
)
RESPONSE_RULES = (Rule("missing:response_id", _empty("response_id")),)
STORED_AGGREGATE_RULES = RESPONSE_RULES
STORED_SESSION_RULES = (Rule("missing:session_id", _empty("session_id")),)
