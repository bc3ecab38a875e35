"""Conversations as the rest of the house sees them."""

from dagster_project.systems.conversations import lookups, why
from dagster_project.systems.conversations.figures import figures
from dagster_project.systems.conversations.intake import read_by_day
from dagster_project.systems.conversations.source import DATED
from dagster_project.systems.conversations.tables import TABLES
from dagster_project.systems.declaration import System, Why

SYSTEM = System(
    name="conversations",
    about="PandaAI's turn_index.db (seed 1)",
    kinds=frozenset({"sqlite"}),
    document="1-conversations.md",
    tables=TABLES,
    dated=DATED,
    read_by_day=read_by_day,
    figures=figures,
    why=Why(noun="turn", key="turns", facts=lookups.facts, tell=why.tell, dated=lookups.dated),
)
