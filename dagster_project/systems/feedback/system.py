"""Feedback as the rest of the house sees it."""

from dagster_project.systems.declaration import System
from dagster_project.systems.feedback.intake import (
    SNAPSHOTS,
    bring_feedback_snapshot_up_to_date,
    bring_feedback_up_to_date,
)
from dagster_project.systems.feedback.source import DATED

SYSTEM = System(
    name="feedback",
    about="SAM's feedback.db (seed 0)",
    kinds=frozenset({"sqlite"}),
    dated=DATED,
    bring_dated=lambda run, table: bring_feedback_up_to_date(run),
    undated={table: snapshot[0] for table, snapshot in SNAPSHOTS.items()},
    bring_undated=bring_feedback_snapshot_up_to_date,
    companions={"raw_feedback__entries": ("core__feedback_keys",)},
    judged_by={"raw_feedback__entries": "raw_feedback__responses"},
)
