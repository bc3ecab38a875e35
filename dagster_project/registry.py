"""The systems, joined: the tables that are read by day, and the run that knows them."""

from typing import Any

from dagster_project.config import Config
from dagster_project.contracts.source_table import TableSpec
from dagster_project.run.mill_run import MillRun
from dagster_project.systems.conversations import source as conversations
from dagster_project.systems.distillation import source as distillation
from dagster_project.systems.feedback import source as feedback
from dagster_project.systems.reactions import source as reactions
from dagster_project.systems.sessions import source as sessions

DATED_SPECS: dict[str, TableSpec] = {
    **feedback.DATED,
    **distillation.DATED,
    **conversations.DATED,
    **reactions.DATED,
    **sessions.DATED,
}


def open_run(config: Config, *more: Any, **named: Any) -> MillRun:
    """A run on a home that reads all systems; what else it takes is `MillRun`'s."""
    return MillRun(config, *more, dated=DATED_SPECS, **named)
