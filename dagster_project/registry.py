"""The systems, joined: every folder of `systems/` that declares one, and what the rest of the house takes from all of them.

Importing it puts the systems' tables into `contracts.TABLES`.
"""

from importlib import import_module
from pathlib import Path
from typing import Any

from dagster_project import contracts, systems
from dagster_project.config import Config
from dagster_project.config.system_facts import FACTS
from dagster_project.contracts.source_table import TableSpec
from dagster_project.lake.lake import Lake, published
from dagster_project.run.mill_run import MillRun
from dagster_project.systems.declaration import System

SYSTEMS: dict[str, System] = {name: import_module(f"{systems.__name__}.{name}.system").SYSTEM for name in FACTS}
DATED_SPECS: dict[str, TableSpec] = {table: spec for system in SYSTEMS.values() for table, spec in system.dated.items()}
contracts.join(*(system.tables for system in SYSTEMS.values()))


def published_lake(home: Path) -> Lake:
    """What is published in a home. Who reads views of it needs the contracts of all they are made of, which are joined here."""
    return published(home)


def open_run(config: Config, *more: Any, **named: Any) -> MillRun:
    """A run on a home that reads all systems; what else it takes is `MillRun`'s."""
    return MillRun(config, *more, dated=DATED_SPECS, **named)
