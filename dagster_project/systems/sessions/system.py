"""AI sessions as the rest of the house sees them."""

from dagster_project.systems.declaration import System
from dagster_project.systems.sessions.intake import bring_session_snapshot_up_to_date, bring_sessions_up_to_date
from dagster_project.systems.sessions.source import DATED, UNDATED

SYSTEM = System(
    name="sessions",
    about="AI sessions and reviews (seed 4)",
    kinds=frozenset({"postgres", "sqlite"}),
    dated=DATED,
    bring_dated=bring_sessions_up_to_date,
    undated=UNDATED,
    bring_undated=bring_session_snapshot_up_to_date,
    judged_by={"raw_sessions__feedback": "raw_sessions__sessions"},
)
