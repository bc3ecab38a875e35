"""Conversations as the rest of the house sees them."""

from dagster_project.systems.conversations.intake import bring_conversations_up_to_date
from dagster_project.systems.conversations.source import DATED
from dagster_project.systems.declaration import System

SYSTEM = System(
    name="conversations",
    about="PandaAI's turn_index.db (seed 1)",
    kinds=frozenset({"sqlite"}),
    dated=DATED,
    bring_dated=bring_conversations_up_to_date,
)
