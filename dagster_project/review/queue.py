"""The review queue as people see it (D8): what waits, and what they have judged already, from a lake."""

from collections.abc import Collection

import polars as pl

from dagster_project.config import Config
from dagster_project.lake.lake import Lake
from dagster_project.registry import published_lake
from dagster_project.review.decisions import Decisions
from dagster_project.review.items import ReviewItem, items_from_frame
from dagster_project.review.texts import correction_texts, example_texts, scan
from dagster_project.review.user_remarks import remarks_on_corrections, remarks_on_examples

BATCHES_AT_HAND = 20  # how much of a long queue a reviewer has before them
QUEUE, ITEMS, REVIEWS = "core__review_queue", "core__review_items", "core__reviews"


def load_queue(config: Config, wanted: Collection[str] = ()) -> list[ReviewItem]:
    """What a reviewer of this home may be offered, most valuable first: the top of the queue as published, and what was judged.

    What was judged is there for a blind second look and for changing one's mind. It has the rank of the item it stands before.
    `wanted` are ids to be found wherever they are, also outside the queue: a person may overrule a score or the source.
    """
    lake = published_lake(config.home)
    most = config.review_batch * BATCHES_AT_HAND
    waiting = first_in_queue(lake, most, wanted)
    ids = pl.concat([pl.Series(list(wanted), dtype=pl.String), _judged_ids(lake, most)]).unique(maintain_order=True)
    judged = _judged(lake, ids, waiting)
    return with_texts(lake, _ranked(lake, waiting, judged))


def first_in_queue(lake: Lake, most: int, wanted: Collection[str] = ()) -> pl.DataFrame:
    is_first, is_wanted = pl.col("rank") <= most, pl.col("item_id").is_in(list(wanted))
    return scan(lake, QUEUE).filter(is_first | is_wanted).sort("rank").collect()


def with_texts(lake: Lake, rows: pl.DataFrame) -> list[ReviewItem]:
    """Rows of the queue as items, with their texts and what users said about them."""
    examples, corrections = (rows.filter(pl.col("kind") == kind) for kind in ("example", "correction"))
    texts = pl.concat(
        [example_texts(lake, examples.select(id="item_id", day="event_date")), correction_texts(lake, corrections)]
    )
    judged_by_users = examples.filter("has_feedback")["item_id"]
    remarks = pl.concat([remarks_on_examples(lake, judged_by_users), remarks_on_corrections(lake, corrections)])
    named = rows.rename(
        {"item_id": "id", "quality_score": "score", "quality_flags": "flags", "review_reasons": "reasons"}
    )
    told = named.join(texts, on="id", maintain_order="left")
    return items_from_frame(told.join(remarks, on="id", how="left", maintain_order="left"))


# --- what was judged ---------------------------------------------------------------------------------------------


def _judged_ids(lake: Lake, most: int) -> pl.Series:
    """What somebody has a verdict on, or had when the lake was published; the latest first."""
    held = scan(lake, REVIEWS).select("example_id").collect()["example_id"]
    latest = Decisions(lake.home).latest_votes().sort("line", descending=True)["example_id"]
    return pl.concat([latest, held]).unique(maintain_order=True).head(most)


def _judged(lake: Lake, ids: pl.Series, waiting: pl.DataFrame) -> pl.DataFrame:
    """As the queue would have them if nobody had judged them. Nothing here tells what the verdict was."""
    missing = ids.filter(~ids.is_in(waiting["item_id"].implode()))
    found = scan(lake, ITEMS).filter(pl.col("item_id").is_in(missing.implode())).collect()
    return found.select(pl.lit(None, dtype=pl.Int64).alias("rank"), *waiting.columns[1:])


def _ranked(lake: Lake, waiting: pl.DataFrame, judged: pl.DataFrame) -> pl.DataFrame:
    """Both in the queue's order, which `core__review_items` knows."""
    if judged.is_empty():
        return waiting
    rows = pl.concat([waiting, judged])
    known = scan(lake, ITEMS).filter(pl.col("item_id").is_in(rows["item_id"].implode()))
    priorities = known.select("item_id", "review_priority").collect()
    ordered = rows.join(priorities, on="item_id").sort("review_priority", "item_id", descending=[True, False])
    behind_all = ordered["rank"].max() or 0
    return ordered.with_columns(pl.col("rank").backward_fill().fill_null(pl.lit(behind_all) + 1))
