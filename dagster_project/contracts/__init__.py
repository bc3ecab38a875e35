"""Contracts: one per table, by layer. `TABLES` maps the asset key, which is also the folder, the view and the SQL file."""

from dagster_project.contracts import core, metric, raw, train
from dagster_project.contracts.table import Table

TABLES: dict[str, Table] = {table.name: table for layer in (raw, core, metric, train) for table in layer.ALL}
