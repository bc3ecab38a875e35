"""Feedback as the rest of the house sees it."""

from dagster_project.systems.declaration import System, Why
from dagster_project.systems.feedback import lookups, why
from dagster_project.systems.feedback.figures import figures
from dagster_project.systems.feedback.intake import SNAPSHOTS, read_by_day, read_whole
from dagster_project.systems.feedback.source import DATED
from dagster_project.systems.feedback.tables import TABLES
from dagster_project.systems.feedback.writeback import MARKS

SYSTEM = System(
    name="feedback",
    about="SAM's feedback.db (seed 0)",
    kinds=frozenset({"sqlite"}),
    document="0-feedback.md",
    tables=TABLES,
    dated=DATED,
    read_by_day=read_by_day,
    undated={table: snapshot[0] for table, snapshot in SNAPSHOTS.items()},
    read_whole=read_whole,
    companions={"raw_feedback__entries": ("core__feedback_keys",)},
    judged_by={"raw_feedback__entries": "raw_feedback__responses"},
    figures=figures,
    why=Why(
        noun="feedback",
        key="feedback",
        facts=lookups.facts,
        tell=why.tell,
        dated=lookups.dated,
        candidates="core__feedback_candidates",
        fates=lookups.fates,
        queued_by="feedback_id",
    ),
    marks=MARKS,
    is_always_made=True,
)
