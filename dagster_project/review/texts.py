"""The texts of what is reviewed, from a lake: for many items at once, only from the files of the days they are from. As people
see them: secrets and personal data are masked (T8).
"""

from collections.abc import Iterable

import polars as pl

from dagster_project.columns.content_hashes import JUDGED, shown
from dagster_project.columns.text_keys import has_text
from dagster_project.engines import reading
from dagster_project.lake.lake import Lake
from dagster_project.systems.distillation.answers import merged

DAYS_AT_ONCE = 10  # merging reads whole days
SOURCES, ENTRIES, KEYS = "core__distillation_sources", "raw_feedback__entries", "core__feedback_keys"
DISTILLED_TEXTS = ("query", "query_context", "sam_attempt", "claude_response")
TEXTS = pl.Schema(dict.fromkeys(("id", "query", "context", "attempt", "answer"), pl.String))


def example_texts(lake: Lake, examples: pl.DataFrame) -> pl.DataFrame:
    """id, query, context, attempt and answer of distilled examples, given by id and day."""
    sources = scan(lake, SOURCES)
    days = examples["day"].unique().sort().to_list()
    found = [pl.DataFrame(schema=TEXTS)]
    for start in range(0, len(days), DAYS_AT_ONCE):
        mine = examples.filter(pl.col("day").is_in(days[start : start + DAYS_AT_ONCE]))["id"].implode()
        rows = merged(lake, sources.filter(pl.col("example_id").is_in(mine)).collect(), DISTILLED_TEXTS)
        filled = pl.col("query", "claude_response").fill_null("")
        found.append(
            rows.with_columns(filled).select(
                id="example_id", query="query", context="query_context", attempt="attempt", answer="claude_response"
            )
        )
    return shown(pl.concat(found), *JUDGED, "context")


def correction_texts(lake: Lake, corrections: pl.DataFrame) -> pl.DataFrame:
    """The same of users' corrections, rows with item_id and event_date: what was answered, and what should have been."""
    if corrections.is_empty():
        return pl.DataFrame(schema=TEXTS)
    rows = scan(lake, ENTRIES, corrections["event_date"].unique())
    ids = corrections["item_id"].implode()
    texts = (
        rows.filter(pl.col("feedback_id").is_in(ids))
        .select(
            id="feedback_id",
            query="original_query",
            context=pl.when(has_text("conversation_context")).then("conversation_context"),
            attempt=pl.when(has_text("original_response")).then("original_response"),
            answer="correction",
        )
        .collect()
    )
    return shown(texts, *JUDGED, "context")


def texts_of_judged_corrections(lake: Lake, ids: pl.Series) -> pl.DataFrame:
    """Texts of those of the ids that are users' corrections, before anything is derived from them."""
    if ids.is_empty():
        return pl.DataFrame(schema=TEXTS)
    is_wanted = (pl.col("effective_type") == "correction") & pl.col("feedback_id").is_in(ids.implode())
    known = scan(lake, KEYS).filter(is_wanted).select(item_id="feedback_id", event_date="event_date")
    return correction_texts(lake, known.collect())


def scan(lake: Lake, table: str, days: Iterable[object] | None = None) -> pl.LazyFrame:
    partitions = None if days is None else sorted(f"event_date={day}" for day in days)
    return reading.scan(lake, table, partitions)
