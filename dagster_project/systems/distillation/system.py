"""Distillation as the rest of the house sees it."""

from dagster_project.systems.declaration import System, Why
from dagster_project.systems.distillation import lookups, why
from dagster_project.systems.distillation.figures import figures
from dagster_project.systems.distillation.intake import read_by_day, read_whole
from dagster_project.systems.distillation.source import DATED, UNDATED
from dagster_project.systems.distillation.tables import TABLES
from dagster_project.systems.distillation.writeback import MARKS

SYSTEM = System(
    name="distillation",
    about="SAM's distillation.db (seed 2)",
    kinds=frozenset({"sqlite"}),
    document="2-distillation.md",
    tables=TABLES,
    dated=DATED,
    read_by_day=read_by_day,
    undated=UNDATED,
    read_whole=read_whole,
    figures=figures,
    why=Why(
        noun="distilled example",
        key="distilled",
        facts=lookups.facts,
        tell=why.tell,
        dated=lookups.dated,
        ids=lookups.example_ids,
        source_row=lookups.source_row,
        candidates="core__distillation_candidates",
        fates=lookups.fates,
    ),
    marks=MARKS,
    is_always_made=True,
)
