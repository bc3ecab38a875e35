"""The texts behind candidates, read again from where they lie by day, and masked as keys see them (T8): for what looks at texts once
it is known which of them matter."""

from collections.abc import Callable, Sequence
from datetime import date

import polars as pl

from dagster_project.columns.masking import without_items
from dagster_project.engines import reading
from dagster_project.lake.lake import Lake
from dagster_project.systems.distillation.answers import merged

ENTRIES, SOURCES = "raw_feedback__entries", "core__distillation_sources"
ROLES = ("context", "query", "answer", "better", "note")
_BETTER = pl.coalesce("preferred_response", "correction")
FEEDBACK = {
    "context": pl.col("conversation_context"),
    "query": pl.col("original_query"),
    "answer": pl.col("original_response"),
    "correction": pl.col("correction"),
    "preferred": pl.col("preferred_response"),
    "note": pl.col("what_was_wrong"),
}
DISTILLED = {
    "context": ("query_context", "query_context"),
    "query": ("query", "query"),
    "answer": ("attempt", "sam_attempt"),
    "better": ("claude_response", "claude_response"),
}


class SourceTexts:
    """Reads texts of some rows, a few days at a time."""

    def __init__(self, lake: Lake, allow: tuple[str, ...]) -> None:
        self.lake, self.allow = lake, allow

    def of_feedback(self, days: Sequence[date], rows: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
        """`rows` (origin_id, has_items ...) with these texts of theirs."""
        found = reading.scan(self.lake, ENTRIES, [f"event_date={day}" for day in days]).select(
            pl.col("feedback_id").alias("origin_id"), *(FEEDBACK[n].alias(n) for n in names)
        )
        texts = found.join(rows.select("origin_id").unique().lazy(), on="origin_id", how="semi").collect()
        return self._masked(rows.join(texts, on="origin_id", how="left", maintain_order="left"), names)

    def of_examples(self, days: Sequence[date], rows: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
        """The same of distilled examples."""
        sources = reading.scan(self.lake, SOURCES).filter(pl.col("example_date").is_in(list(days)))
        wanted = sources.join(
            rows.select(example_id="origin_id").unique().lazy(), on="example_id", how="semi"
        ).collect()
        texts = merged(self.lake, wanted, [DISTILLED[name][1] for name in dict.fromkeys((*names, "answer", "better"))])
        told = texts.select(pl.col("example_id").alias("origin_id"), *(pl.col(DISTILLED[n][0]).alias(n) for n in names))
        return self._masked(rows.join(told, on="origin_id", how="left", maintain_order="left"), names)

    def _masked(self, rows: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
        """Only rows that hold something are searched."""
        places = rows["has_items"].arg_true()
        if not len(places):
            return rows
        return rows.with_columns(
            rows[name].scatter(places, without_items(rows[name].gather(places), self.allow)) for name in names
        )


Read = Callable[[Sequence[date], pl.DataFrame, Sequence[str]], pl.DataFrame]
