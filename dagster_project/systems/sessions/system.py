"""AI sessions as the rest of the house sees them."""

from dagster_project.systems.declaration import System
from dagster_project.systems.sessions.figures import figures
from dagster_project.systems.sessions.intake import read_by_day, read_whole
from dagster_project.systems.sessions.source import DATED, UNDATED
from dagster_project.systems.sessions.tables import TABLES

SYSTEM = System(
    name="sessions",
    about="AI sessions and reviews (seed 4)",
    kinds=frozenset({"postgres", "sqlite"}),
    document="4-sessions.md",
    tables=TABLES,
    dated=DATED,
    read_by_day=read_by_day,
    undated=UNDATED,
    read_whole=read_whole,
    judged_by={"raw_sessions__feedback": "raw_sessions__sessions"},
    figures=figures,
    state=("*session*", "*anonymised*"),
)
