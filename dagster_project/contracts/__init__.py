"""Contracts: what a table is. `TABLES` maps the asset key, which is also the folder, the view and the SQL file.

Here are the tables that belong to no system; each system has its own in `systems/<name>/tables.py`, and `registry.py` joins them.
So a module below the registry looks a table up when it needs it, not when it is imported.
"""

from collections.abc import Mapping

from dagster_project.contracts import shared, train
from dagster_project.contracts.table import Table

TABLES: dict[str, Table] = {table.name: table for table in (*shared.ALL, *train.ALL)}
LAYERS = ("raw", "quarantine", "core", "archive", "metric", "train")


def join(*systems: Mapping[str, Table]) -> None:
    """Put the systems' tables among the others: layer by layer, in each the systems in their order, then what is shared."""
    found = {**{name: table for tables in systems for name, table in tables.items()}, **TABLES}
    ordered = sorted(found, key=lambda name: LAYERS.index(name.split("_")[0]))
    TABLES.clear()
    TABLES.update({name: found[name] for name in ordered})
