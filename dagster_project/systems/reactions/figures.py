"""The figures of reactions, as seed 3 names them. Reads published tables only."""

from typing import Any

import polars as pl

from dagster_project.columns.rounding import rate
from dagster_project.columns.words import counts
from dagster_project.engines import reading
from dagster_project.lake.lake import Lake
from dagster_project.systems.reactions.columns import INACTIVE_REASONS, ORIGINS, REACTIONS

SHOWN_ORIGINS = (*ORIGINS, "unknown")


def figures(lake: Lake) -> dict[str, Any]:
    """Seed 3: active reactions by origin and reaction, and the share that is ok (R2, R3); why the others do not count (R1)."""
    columns = ("tenant", "project", "conversation_id", "turn_id", "user_id", "origin", "reaction", "is_active")
    rows = reading.columns(lake, "core__reactions", *columns, "is_orphan", "inactive_reason")
    active = rows.filter("is_active").with_columns(
        # a machine that says nothing counts as neutral (R2)
        pl.col("origin").fill_null("unknown"),
        pl.col("reaction").fill_null("neutral"),
    )
    whole = _reaction_figures(active)
    origins = counts(active["origin"], SHOWN_ORIGINS)
    place = ["tenant", "project", "conversation_id"]
    return {
        "conversations": active.select(place).n_unique(),
        "turns": active.select(*place, "turn_id").n_unique(),
        "feedback_counts": {"total": active.height, **origins, **{name: whole[name] for name in REACTIONS}},
        "satisfaction_rate": whole["satisfaction_rate"],
        "ok_rate": whole["ok_rate"],
        "by_origin": {name: _reaction_figures(active.filter(pl.col("origin") == name)) for name in SHOWN_ORIGINS},
        "orphans": int(active["is_orphan"].sum()),
        "inactive": counts(rows["inactive_reason"], INACTIVE_REASONS),
    }


def _reaction_figures(rows: pl.DataFrame) -> dict[str, Any]:
    found = counts(rows["reaction"], REACTIONS)
    return found | {
        "satisfaction_rate": rate(found["ok"], rows.height),
        "ok_rate": rate(found["ok"], found["ok"] + found["not_ok"]),
    }
