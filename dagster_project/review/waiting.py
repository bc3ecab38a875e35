"""What waits for people and what they decided, counted by queue: for the record of the work."""

import polars as pl

from dagster_project.engines import reading
from dagster_project.lake.lake import Lake
from dagster_project.review.settling import FEEDBACK, QUEUES

REVIEW, REVIEW_QUEUE, REVIEWS, SETTLEMENTS = "review", "core__review_queue", "core__reviews", "core__settlements"


def waiting_now(lake: Lake) -> pl.DataFrame:
    """How many items wait in each queue, and of which day the oldest is."""
    days = {REVIEW: reading.scan(lake, REVIEW_QUEUE).select(pl.col("event_date").alias("day"))}
    days |= {
        queue: reading.scan(lake, table).select(pl.col("occurred_at").dt.date().alias("day"))
        for queue, table in QUEUES.items()
    }
    counted = [
        rows.select(
            pl.lit(queue).alias("queue"),
            pl.len().cast(pl.Int64).alias("waiting_count"),
            pl.col("day").min().alias("oldest_waiting_date"),
        ).collect()
        for queue, rows in days.items()
    ]
    return pl.concat(counted)


def decided_daily(lake: Lake) -> pl.DataFrame:
    """How many items of each queue were decided on which day. A verdict that was taken back, or replaced, is none."""
    judged = reading.scan(lake, REVIEWS).select(
        pl.lit(REVIEW).alias("queue"), pl.col("decided_at").dt.date().alias("date")
    )
    settled = reading.scan(lake, SETTLEMENTS).select("feedback_id", pl.col("settled_at").dt.date().alias("date"))
    settled = settled.collect()
    is_meant = pl.col("feedback_id").is_in(settled["feedback_id"].implode())
    kinds = reading.scan(lake, FEEDBACK).filter(is_meant).select("feedback_id", "effective_type").collect()
    safety, corrections = QUEUES
    queue = pl.when(pl.col("effective_type") == "flag").then(pl.lit(safety)).otherwise(pl.lit(corrections))
    found = settled.join(kinds, on="feedback_id", how="inner").select(queue.alias("queue"), "date")
    both = pl.concat([judged.collect(), found])
    return both.group_by("date", "queue").agg(pl.len().cast(pl.Int64).alias("decided_count")).sort("date", "queue")
