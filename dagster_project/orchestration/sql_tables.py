"""Tables made by a query: made again only if their inputs, their query, its parameters or the code around it changed (G12)."""

import hashlib
import json

from dagster_project.code_identity import code_identity
from dagster_project.engines import queries
from dagster_project.engines.stored_tables import store_query
from dagster_project.run.mill_run import MillRun


def bring_sql_table_up_to_date(run: MillRun, table: str) -> bool:
    """Returns whether the table had to be made. A train__ table has a partition per release."""
    lake = run.lake
    partition = f"release_date={run.release_date}" if table.startswith("train__") else ""
    inputs = inputs_hash(run, table)
    if lake.catalog.inputs.get(table) == inputs and partition in lake.partitions(table):
        return False
    rows = store_query(lake, table, run.params, run.config.memory_limit_mb, partition)
    lake.catalog.inputs[table] = inputs
    run.report(table, rows)
    return True


def inputs_hash(run: MillRun, table: str) -> str:
    """What the table is made from: bytes of inputs by version, queries by text, parameters by value.

    Its checks are among the queries: what is not made again was judged by them when it was made.
    """
    chosen = queries.query(table)
    parts = {
        "code": code_identity(__name__),
        "queries": [queries.query(name).hash for name in (table, *queries.checks_of(table))],
        "params": {name: str(run.params[name]) for name in chosen.params},
        "inputs": {name: run.lake.versions(name) for name in chosen.inputs},
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
