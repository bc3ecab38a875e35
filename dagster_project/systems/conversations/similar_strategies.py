"""Which strategies a planner may try for a question: those of the most similar past turns, in seed 1's order (C4, C8).

Similar first: of the turns that may be reused the nearest few by the cosine of their questions; then accepted before neutral, by
ranking and quality. Reads published tables only.
"""

from typing import Any

import polars as pl

from dagster_project.columns.similarity import load_model, similarities
from dagster_project.columns.words import filled
from dagster_project.engines import reading
from dagster_project.lake.lake import Lake
from dagster_project.systems.conversations.source import DATED

COLUMNS = ("turn_key", "user_id", "strategy_summary", "feedback_status", "ranking_score", "quality_score")
LEAST_SIMILARITY = 0.20  # below it two questions have no subject in common (C2)


def similar_strategies(lake: Lake, model: str, query: str, limit: int, user: str | None = None) -> list[dict[str, Any]]:
    """At most `limit` strategies, best first. Each distinct strategy once, as of its most similar turn."""
    turns = reading.scan(lake, "core__turns").filter(pl.col("is_reusable") & filled("strategy_summary").is_not_null())
    if user is not None:
        turns = turns.filter(pl.col("user_id") == user)
    found = turns.select(COLUMNS).collect(engine="streaming")
    # one turn may stand in both tables: the newer one's text counts
    asked = pl.concat([reading.columns(lake, table, "turn_key", "query") for table in DATED]).drop_nulls()
    found = found.join(asked.unique("turn_key", keep="first", maintain_order=True), on="turn_key").sort("turn_key")
    words = pl.Series([query], dtype=pl.String).new_from_index(0, found.height)
    alike = similarities(found["query"], words, load_model(model)) if found.height else pl.Series([], dtype=pl.Float64)
    nearest = (
        found.with_columns(alike.alias("similarity"))
        .filter(pl.col("similarity") >= LEAST_SIMILARITY)
        .sort("similarity", "turn_key", descending=[True, False])
        .unique("strategy_summary", keep="first", maintain_order=True)
        .head(limit)
    )
    place = pl.when(pl.col("feedback_status") == "accepted").then(1).otherwise(2)
    ranked = nearest.sort(
        place, "ranking_score", pl.col("quality_score").fill_null(0), "turn_key", descending=[False, True, True, False]
    )
    return ranked.to_dicts()
