"""The systems, joined: every folder of `systems/` that declares one, and what the rest of the house takes from all of them."""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from dagster_project import systems
from dagster_project.config import Config
from dagster_project.contracts.source_table import TableSpec
from dagster_project.run.mill_run import MillRun
from dagster_project.systems.declaration import System

SYSTEMS: dict[str, System] = {
    folder.name: import_module(f"{systems.__name__}.{folder.name}.system").SYSTEM
    for folder in iter_modules(systems.__path__)
    if folder.ispkg
}
DATED_SPECS: dict[str, TableSpec] = {table: spec for system in SYSTEMS.values() for table, spec in system.dated.items()}


def open_run(config: Config, *more: Any, **named: Any) -> MillRun:
    """A run on a home that reads all systems; what else it takes is `MillRun`'s."""
    return MillRun(config, *more, dated=DATED_SPECS, **named)
