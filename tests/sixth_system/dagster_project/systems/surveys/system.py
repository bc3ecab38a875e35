"""Surveys as the rest of the house sees them."""

from dagster_project.systems.surveys import lookups
from dagster_project.systems.surveys.intake import read_by_day
from dagster_project.systems.surveys.source import DATED
from dagster_project.systems.surveys.tables import TABLES

from dagster_project.systems.declaration import System, Why

SYSTEM = System(
    name="surveys",
    about="answers to one-question surveys",
    kinds=frozenset({"sqlite"}),
    document="5-surveys.md",
    tables=TABLES,
    dated=DATED,
    read_by_day=read_by_day,
    figures=lookups.figures,
    why=Why("answer to a survey", "surveys", lookups.facts, lookups.tell, lookups.dated),
)
