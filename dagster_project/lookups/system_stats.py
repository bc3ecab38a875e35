"""The figures of conversations, reactions and AI sessions, as their documents name them. Reads published tables only.

Feedback's own stand in `metric__feedback_stats` (seed 0), distillation's in `distillation_lookups` (seed 2).
"""

from collections.abc import Iterator
from typing import Any

import polars as pl

from dagster_project.columns.rounding import share
from dagster_project.columns.words import counts
from dagster_project.engines import reading
from dagster_project.lake.lake import Lake

Figures = dict[str, Any]
STATUSES, CORRECTION_TYPES = ("rejected", "accepted", "neutral"), ("explicit", "rephrased", "abandonment")
REACTIONS, ORIGINS = ("ok", "not_ok", "neutral"), ("user", "machine", "unknown")
INACTIVE = ("superseded", "cleared", "low_confidence", "no_text", "copy", "expired")
SCORES = ("accuracy_score", "completeness_score", "style_match_score")


def figure_lines(figures: Figures) -> Iterator[str]:
    """One line a figure, for a person; what has parts of its own gets a line for each."""
    flat: dict[str, Any] = {}
    for name, value in figures.items():
        has_parts = isinstance(value, dict) and any(isinstance(part, dict) for part in value.values())
        flat |= {f"{name} {key}": part for key, part in value.items()} if has_parts else {name: value}
    width = max(16, *map(len, flat))
    for name, value in flat.items():
        shown = ", ".join(f"{key} {_shown(part)}" for key, part in value.items()) if isinstance(value, dict) else None
        yield f"{name:<{width}} {_shown(value) if shown is None else shown or 'none'}"


def _shown(value: Any) -> str:
    return "-" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def _rows(lake: Lake, table: str, *columns: str) -> pl.DataFrame:
    return reading.scan(lake, table).select(*columns).collect(engine="streaming")


def _rate(part: int, whole: int) -> float | None:
    return share(part, whole) if whole else None


def conversations(lake: Lake) -> Figures:
    """Seed 1: what became of the turns, how users objected, and how satisfied they are (C1-C5)."""
    turns = _rows(
        lake,
        "core__turns",
        "user_id",
        "thread_id",
        "feedback_status",
        "correction_type",
        "satisfaction_score",
        "is_reusable",
        "consecutive_rejections",
        "source_status",
        "is_disputed",
    )
    statuses = counts(turns["feedback_status"], STATUSES)
    scores = turns["satisfaction_score"].drop_nulls()
    # scores are added as whole numbers, because floating addition is not repeatable (G2)
    total = int((scores * 1e6).round().cast(pl.Int64).sum())
    stored, disputed = turns["source_status"].count(), int(turns["is_disputed"].sum())
    return {
        "total_turns": turns.height,
        "users": turns["user_id"].drop_nulls().n_unique(),
        "sessions": turns["thread_id"].n_unique(),
        "user_feedback_status": statuses,
        "rejected_rate": _rate(statuses["rejected"], turns.height),
        "accepted_rate": _rate(statuses["accepted"], turns.height),
        "correction_type": counts(turns["correction_type"], CORRECTION_TYPES),
        "satisfaction": {"avg_score": _rate(total, 1_000_000 * scores.len()), "scored_turns": scores.len()},
        "reusable_turns": int(turns["is_reusable"].sum()),
        "repeated_rejection_sessions": turns.filter(pl.col("consecutive_rejections") >= 2)["thread_id"].n_unique(),
        "machine_signals": _rows(lake, "core__machine_signals", "message_turn_key").height,
        "source_status": {"stored": stored, "disputed": disputed, "disputed_rate": _rate(disputed, stored)},
    }


def reactions(lake: Lake) -> Figures:
    """Seed 3: active reactions by origin and reaction, and the share that is ok (R2, R3); why the others do not count (R1)."""
    columns = ("tenant", "project", "conversation_id", "turn_id", "user_id", "origin", "reaction", "is_active")
    rows = _rows(lake, "core__reactions", *columns, "is_orphan", "inactive_reason")
    active = rows.filter("is_active").with_columns(
        # a machine that says nothing counts as neutral (R2)
        pl.col("origin").fill_null("unknown"),
        pl.col("reaction").fill_null("neutral"),
    )
    whole = _reaction_figures(active)
    origins = counts(active["origin"], ORIGINS)
    place = ["tenant", "project", "conversation_id"]
    return {
        "conversations": active.select(place).n_unique(),
        "turns": active.select(*place, "turn_id").n_unique(),
        "feedback_counts": {"total": active.height, **origins, **{name: whole[name] for name in REACTIONS}},
        "satisfaction_rate": whole["satisfaction_rate"],
        "ok_rate": whole["ok_rate"],
        "by_origin": {name: _reaction_figures(active.filter(pl.col("origin") == name)) for name in ORIGINS},
        "orphans": int(active["is_orphan"].sum()),
        "inactive": counts(rows["inactive_reason"], INACTIVE),
    }


def _reaction_figures(rows: pl.DataFrame) -> Figures:
    found = counts(rows["reaction"], REACTIONS)
    return found | {
        "satisfaction_rate": _rate(found["ok"], rows.height),
        "ok_rate": _rate(found["ok"], found["ok"] + found["not_ok"]),
    }


def sessions(lake: Lake) -> Figures:
    """Seed 4's feedback_metrics_daily over all days and workspaces, under its names and in its units (S1, S2)."""
    rows = _rows(
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
    ratings = counts(rows["rating"], ("positive", "negative", "skipped"))
    verdicts = counts(rows["verdict"], ("approved", "changes_requested", "rejected"))
    reviewed, missing = sum(verdicts.values()), int(rated["has_missing_context"].sum())
    daily = _rows(lake, "metric__session_daily", "is_frozen")
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
        "missing_context_rate": _rate(missing, rated.height),
        "edit_distance_marks": counts(rows["edit_distance_mark"], ("too_long", "out_of_range")),
        "tenants": rows["tenant_id"].n_unique(),
        "workspaces": rows.select("tenant_id", "workspace_id").n_unique(),
        "days": {"total": daily.height, "frozen": int(daily["is_frozen"].sum())},
        "restatements": _rows(lake, "metric__restatements", "entry").height,
        "sample_rate": _rows(lake, "core__session_days", "sample_rate")["sample_rate"].max(),
    }


def _mean(values: pl.Series) -> float | None:
    """Over non-null whole numbers, two decimals, half up (S2)."""
    given = values.drop_nulls()
    return share(int(given.sum()), given.len(), 2) if given.len() else None


def _list_counts(lists: pl.Series) -> dict[str, int]:
    """In how many sessions each word occurs, sorted by word."""
    return counts(lists.explode().drop_nulls().rename("word"), ())
