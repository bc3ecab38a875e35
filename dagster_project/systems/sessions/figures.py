"""The figures of AI sessions, as seed 4 names them. Reads published tables only."""

from typing import Any

import polars as pl

from dagster_project.columns.rounding import rate, share
from dagster_project.columns.words import counts
from dagster_project.engines import reading
from dagster_project.lake.lake import Lake
from dagster_project.systems.sessions.columns import RATINGS, VERDICTS
from dagster_project.systems.sessions.source import SCORES


def figures(lake: Lake) -> dict[str, Any]:
    """Seed 4's feedback_metrics_daily over all days and workspaces, under its names and in its units (S1, S2)."""
    rows = reading.columns(
        lake,
        "core__sessions",
        "tenant_id",
        "workspace_id",
        "feedback_id",
        "rating",
        "verdict",
        "edit_distance_pct",
        "edit_distance_mark",
        *SCORES,
        "error_categories",
        "output_issues",
        "has_missing_context",
    )
    rated = rows.filter(pl.col("feedback_id").is_not_null())
    ratings = counts(rows["rating"], RATINGS)
    verdicts = counts(rows["verdict"], VERDICTS)
    reviewed, missing = sum(verdicts.values()), int(rated["has_missing_context"].sum())
    daily = reading.columns(lake, "metric__session_daily", "is_frozen")
    return {
        "total_sessions": rows.height,
        **{f"{rating}_ratings": ratings[rating] for rating in ratings},
        "no_feedback_count": rows.height - rated.height,
        "first_pass_acceptance_rate": share(100 * verdicts["approved"], reviewed, 2) if reviewed else None,
        "average_edit_distance": _mean(rated["edit_distance_pct"]),
        "error_category_counts": _list_counts(rows["error_categories"]),
        **{f"avg_{score}": _mean(rows[score]) for score in SCORES},
        "review_verdicts": verdicts,
        "output_issue_counts": _list_counts(rows["output_issues"]),
        "missing_context_rate": rate(missing, rated.height),
        "edit_distance_marks": counts(rows["edit_distance_mark"], ("too_long", "out_of_range")),
        "tenants": rows["tenant_id"].n_unique(),
        "workspaces": rows.select("tenant_id", "workspace_id").n_unique(),
        "days": {"total": daily.height, "frozen": int(daily["is_frozen"].sum())},
        "restatements": reading.columns(lake, "metric__restatements", "entry").height,
        "sample_rate": reading.columns(lake, "core__session_days", "sample_rate")["sample_rate"].max(),
    }


def _mean(values: pl.Series) -> float | None:
    """Over non-null whole numbers, two decimals, half up (S2)."""
    given = values.drop_nulls()
    return share(int(given.sum()), given.len(), 2) if given.len() else None


def _list_counts(lists: pl.Series) -> dict[str, int]:
    """In how many sessions each word occurs, sorted by word."""
    return counts(lists.explode().drop_nulls().rename("word"), ())
