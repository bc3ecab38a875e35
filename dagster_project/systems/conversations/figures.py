"""The figures of conversations, as seed 1 names them. Reads published tables only."""

from typing import Any

import polars as pl

from dagster_project.columns.rounding import rate
from dagster_project.columns.words import counts
from dagster_project.engines import reading
from dagster_project.lake.lake import Lake
from dagster_project.systems.conversations.columns import FEEDBACK_STATUSES, TURN_CORRECTIONS


def figures(lake: Lake) -> dict[str, Any]:
    """Seed 1: what became of the turns, how users objected, and how satisfied they are (C1-C5)."""
    turns = reading.columns(
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
    statuses = counts(turns["feedback_status"], FEEDBACK_STATUSES)
    scores = turns["satisfaction_score"].drop_nulls()
    # scores are added as whole numbers, because floating addition is not repeatable (G2)
    total = int((scores * 1e6).round().cast(pl.Int64).sum())
    stored, disputed = turns["source_status"].count(), int(turns["is_disputed"].sum())
    return {
        "total_turns": turns.height,
        "users": turns["user_id"].drop_nulls().n_unique(),
        "sessions": turns["thread_id"].n_unique(),
        "user_feedback_status": statuses,
        "rejected_rate": rate(statuses["rejected"], turns.height),
        "accepted_rate": rate(statuses["accepted"], turns.height),
        "correction_type": counts(turns["correction_type"], TURN_CORRECTIONS),
        "satisfaction": {"avg_score": rate(total, 1_000_000 * scores.len()), "scored_turns": scores.len()},
        "reusable_turns": int(turns["is_reusable"].sum()),
        "repeated_rejection_sessions": turns.filter(pl.col("consecutive_rejections") >= 2)["thread_id"].n_unique(),
        "machine_signals": reading.columns(lake, "core__machine_signals", "message_turn_key").height,
        "detector_head": _head(lake),
        "source_status": {"stored": stored, "disputed": disputed, "disputed_rate": rate(disputed, stored)},
    }


def _head(lake: Lake) -> dict[str, Any] | None:
    """Whether a head decides with the rules, and how well it finds rejections it did not see (C7); null without turns."""
    figures = reading.columns(
        lake, "metric__detector_head", "judge", "label", "is_in_use", "state", "label_count", "f1"
    ).filter(pl.col("label") == "rejected")
    if figures.is_empty():
        return None
    of = {row["judge"]: row for row in figures.iter_rows(named=True)}
    told = {name: of["head"][name] for name in ("is_in_use", "state", "label_count")}
    return told | {"rejected_f1": of["head"]["f1"], "rejected_f1_rules_alone": of["rules"]["f1"]}
