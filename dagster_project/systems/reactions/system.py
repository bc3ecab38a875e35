"""Reactions as the rest of the house sees them."""

from dagster_project.systems.declaration import System
from dagster_project.systems.reactions.intake import bring_reactions_up_to_date
from dagster_project.systems.reactions.source import DATED

SYSTEM = System(
    name="reactions",
    about="conv_messages (seed 3)",
    kinds=frozenset({"postgres", "sqlite"}),
    dated=DATED,
    bring_dated=bring_reactions_up_to_date,
)
