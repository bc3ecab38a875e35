"""Reactions as the rest of the house sees them."""

from dagster_project.systems.declaration import System, Why
from dagster_project.systems.reactions import lookups, why
from dagster_project.systems.reactions.figures import figures
from dagster_project.systems.reactions.intake import read_by_day
from dagster_project.systems.reactions.source import DATED
from dagster_project.systems.reactions.tables import TABLES

SYSTEM = System(
    name="reactions",
    about="conv_messages (seed 3)",
    kinds=frozenset({"postgres", "sqlite"}),
    document="3-reactions.md",
    tables=TABLES,
    dated=DATED,
    read_by_day=read_by_day,
    figures=figures,
    why=Why(noun="reaction", key="reactions", facts=lookups.facts, tell=why.tell, dated=lookups.dated),
)
