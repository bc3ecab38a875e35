"""What a row of SAM feedback must be (F1, F2, G8). To responses, F1's orphans stand at the end."""

import polars as pl

from dagster_project.columns.instants import INSTANT
from dagster_project.columns.text_keys import has_text
from dagster_project.contracts.checks import between, filled, holds, not_null, source_schema
from dagster_project.intake.relations import Relation
from dagster_project.systems.feedback import source as feedback
from dagster_project.systems.feedback.columns import FEEDBACK_TYPES

_TYPE, _RATING = pl.col("stated_type"), pl.col("rating")
_IN_SCALE = pl.when(pl.col("rating_scale") == "five").then(_RATING.is_between(1, 5)).otherwise(_RATING.is_in([-1, 1]))

ENTRIES = source_schema(
    feedback.ENTRIES,
    [
        filled("feedback_id"),
        filled("response_id"),
        filled("session_id"),
        not_null("timestamp"),
        holds("out_of_range:timestamp", pl.col("timestamp").is_null() | pl.col("occurred_at").is_not_null()),
        filled("feedback_type"),
        holds("unknown:feedback_type", (pl.col("feedback_type") == "") | _TYPE.is_in(FEEDBACK_TYPES)),
        not_null("original_query"),
        not_null("original_response"),
        holds("missing:rating", (_TYPE != "rating") | _RATING.is_not_null()),
        holds("missing:correction", (_TYPE != "correction") | has_text("correction")),
        holds("missing:preferred_response", (_TYPE != "preference") | has_text("preferred_response")),
        holds("missing:flag_type", (_TYPE != "flag") | has_text("flag_type")),
        holds("out_of_range:rating", _RATING.is_null() | _IN_SCALE),
        between("response_confidence", 0, 1),
        between("escalated_to_claude", 0, 1),
    ],
    derived={"stated_type": pl.String, "rating_scale": pl.String, "occurred_at": INSTANT},
)
RESPONSES = source_schema(
    feedback.RESPONSES,
    [
        filled("response_id"),
        holds("out_of_range:timestamp", pl.col("timestamp").is_null() | pl.col("occurred_at").is_not_null()),
        between("confidence", 0, 1),
        between("escalated", 0, 1),
    ],
    derived={"occurred_at": INSTANT},
)
STORED_AGGREGATES = source_schema(feedback.STORED_AGGREGATES, [filled("response_id")])
STORED_SESSIONS = source_schema(feedback.STORED_SESSIONS, [filled("session_id")])

ORPHAN = "orphan:response_id"  # feedback on a response the source does not know (F1)


def to_responses(known: pl.Series | None) -> list[Relation]:
    """What feedback must be to the ids of the `responses` table; null where there is no such table."""
    if known is None:
        return []
    is_told = pl.col("response_id").is_not_null() & (pl.col("response_id") != "")
    return [Relation(ORPHAN, is_told & ~pl.col("response_id").is_in(known.implode()))]
