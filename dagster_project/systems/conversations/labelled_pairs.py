"""What a head is fitted on and what it judges: pairs of turns with their texts, from the tables of a run (C7).

Which labels count stands here alone: the first n by (time, id), n a step of the ladder, of turns whose next message is about
them. So a head is a function of the labels, however a home came to them.
"""

from collections.abc import Iterable
from datetime import date, timedelta

import polars as pl

from dagster_project.engines import reading
from dagster_project.lake.lake import Lake
from dagster_project.systems.conversations.head import ladder
from dagster_project.systems.conversations.kept_texts import texts_of

LABELS, PAIRS, REFERENCES = "core__turn_labels", "core__turn_pairs", "core__turn_references"
_VERDICT = (
    "feedback_status",
    "feedback_confidence",
    "nominal_confidence",
    "confidence_low",
    "correction_type",
    "reason",
)
_PAIR = ("turn_key", "next_turn_key", "thread_id", "event_date", "text_hash", "similarity", *_VERDICT)


def followed_pairs(lake: Lake, days: Iterable[date] | None = None) -> pl.LazyFrame:
    """The turns of these days, or of all, that a message followed which says something."""
    partitions = None if days is None else [f"event_date={day}" for day in days]
    is_followed = pl.col("next_turn_key").is_not_null() & (pl.col("reason") != "no_text")
    return reading.scan(lake, PAIRS, partitions).select(_PAIR).filter(is_followed)


def chosen_labels(lake: Lake) -> pl.DataFrame:
    """The labels a head is fitted on, in their order, with their pairs; where there are too few, all there are."""
    labels = reading.read(lake, LABELS)
    # a message about an earlier turn says nothing of the last one (C6)
    elsewhere = reading.scan(lake, REFERENCES).select(pl.col("message_turn_key").unique()).collect()
    found = (
        followed_pairs(lake, None if labels.height else [])
        .join(labels.lazy(), on="turn_key", how="semi")
        .collect(engine="streaming")
        .join(elsewhere, left_on="next_turn_key", right_on="message_turn_key", how="anti")
        .join(labels.drop("thread_id"), on="turn_key")
        .sort("labelled_at", "label_id")
    )
    return found.head(ladder(found.height) or found.height)


def with_texts(lake: Lake, pairs: pl.DataFrame) -> pl.DataFrame:
    """The pairs as the detector sees them, in their order: query, response, the message that followed. It may be past midnight."""
    days = pairs["event_date"].unique()
    near = sorted({*days, *(day + timedelta(days=1) for day in days)})
    told = texts_of(lake, pl.concat([pairs["turn_key"], pairs["next_turn_key"]]), near)
    before = told.select("turn_key", prev_query=pl.col("query").fill_null(""), prev_response="response")
    after = told.select(next_turn_key="turn_key", next_message=pl.col("query").fill_null(""))
    found = pairs.join(before, on="turn_key", how="left", maintain_order="left")
    return found.join(after, on="next_turn_key", how="left", maintain_order="left")
