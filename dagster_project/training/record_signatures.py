"""The signatures of records (T6), from the traits of their days: too large to go through a query with everything else."""

from collections.abc import Mapping

import numpy as np
import polars as pl

from dagster_project.columns.minhash import PLACES, unstored, woven
from dagster_project.engines import reading
from dagster_project.engines.kept_days import grouped
from dagster_project.lake.lake import Lake
from dagster_project.training.kept_traits import DISTILLED, FEEDBACK

GROUP_ROWS = 50_000  # of traits that are in memory together
REJECTED = ("preference", "correction")  # formats with an answer that is set against the one they teach


def record_signatures(lake: Lake, rows: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Of each row its prompt's signature, and its answers': zeros where there is none.

    rows: format, origin_id, event_date, is_distilled, partner_id, partner_event_date, and target_role, the text of its own row that a
    record without a partner teaches.
    """
    found = {of: np.zeros((rows.height, PLACES), np.uint8) for of in ("prompt", "target", "rejected")}
    wanted = _wanted(rows)
    for table, is_distilled in ((FEEDBACK, False), (DISTILLED, True)):
        mine = wanted.filter(pl.col("is_distilled") == is_distilled)
        counts = dict(mine["day"].value_counts().iter_rows())
        for days in grouped(sorted(counts), counts.__getitem__, GROUP_ROWS):
            traits = reading.scan(lake, table, [f"event_date={day}" for day in days])
            _fill(found, mine.filter(pl.col("day").is_in(days)), traits)
    has_rejected = rows["format"].is_in(REJECTED).any()
    return found["prompt"], woven(found["target"], found["rejected"]) if has_rejected else found["target"]


def _wanted(rows: pl.DataFrame) -> pl.DataFrame:
    """A line for each signature: whose text, of which day, in which role, and what it is `of` the record at `row`."""
    rows = rows.with_row_index("row")
    is_pair = pl.col("partner_id").is_not_null()
    own = (pl.col("origin_id"), pl.col("event_date").alias("day"), pl.col("is_distilled"))
    partners = (
        pl.coalesce("partner_id", "origin_id").alias("origin_id"),
        pl.when(is_pair).then("partner_event_date").otherwise("event_date").alias("day"),
        pl.col("is_distilled") & ~is_pair,
    )
    taught = pl.when(is_pair).then(pl.lit("answer")).otherwise("target_role").alias("role")
    rejected = rows.filter(pl.col("format").is_in(REJECTED))
    return pl.concat(
        [
            rows.select("row", *own, pl.lit("asked").alias("role"), pl.lit("prompt").alias("of")),
            rows.select("row", *partners, taught, pl.lit("target").alias("of")),
            rejected.select("row", *own, pl.lit("answer").alias("role"), pl.lit("rejected").alias("of")),
        ]
    )


def _fill(found: Mapping[str, np.ndarray], wanted: pl.DataFrame, traits: pl.LazyFrame) -> None:
    for role in wanted["role"].unique(maintain_order=True):
        signature = pl.col(f"{role}_signature").alias("signature")
        known = traits.select("origin_id", signature).drop_nulls().collect()
        met = wanted.filter(pl.col("role") == role).join(known, on="origin_id")
        for (of,), some in met.partition_by("of", as_dict=True).items():
            found[str(of)][some["row"].to_numpy()] = unstored(some["signature"])
