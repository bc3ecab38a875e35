"""Distillation as the rest of the house sees it."""

from dagster_project.systems.declaration import System
from dagster_project.systems.distillation.intake import (
    bring_distillation_snapshot_up_to_date,
    bring_distillation_up_to_date,
)
from dagster_project.systems.distillation.source import DATED, UNDATED

SYSTEM = System(
    name="distillation",
    about="SAM's distillation.db (seed 2)",
    kinds=frozenset({"sqlite"}),
    dated=DATED,
    bring_dated=bring_distillation_up_to_date,
    undated=UNDATED,
    bring_undated=bring_distillation_snapshot_up_to_date,
)
