"""Tables made by a query: made again only if their inputs, their query, its parameters or the code around it changed (G12)."""

import hashlib
import json
from datetime import datetime

from dagster_project.code_identity import code_identity
from dagster_project.contracts import TABLES
from dagster_project.engines import queries
from dagster_project.engines.stored_tables import store, store_query
from dagster_project.engines.touched_rows import Touched, touched_rows
from dagster_project.run.made import Claim, Made, Outcome
from dagster_project.run.mill_run import MillRun


def claims_of(table: str) -> dict[str, Claim]:
    """What `sql/checks/<table>__<claim>.sql` claim of a table, by the name of their query: it returns the offending rows."""
    names = queries.checks_of(table)
    return {name: Claim(name.removeprefix(f"{table}__"), queries.query(name).what) for name in names}


def make_sql_table(run: MillRun, table: str) -> list[Made]:
    """A train__ table has a partition per release; a run that makes none leaves it, and what only releases look at, as it is (T5)."""
    if TABLES[table].is_view:
        return [_made_view(run, table)]
    if (table.startswith("train__") or TABLES[table].is_of_release) and not run.makes_release:
        return [Made(table, is_current=True, outcomes=_outcomes(run, table, is_current=True))]
    lake = run.lake
    partition = f"release_date={run.release_date}" if table.startswith("train__") else ""
    inputs = inputs_hash(run, table)
    is_current = lake.catalog.inputs.get(table) == inputs and partition in lake.partitions(table)
    touched = None
    if not is_current:
        if is_bound_to_be_empty(run, table):  # what a source has no aggregates of took 7 s to add up for a million rows
            rows = store(lake, table, [], partition)
        else:
            limits = run.config.memory_limit_mb, partition, run.config.query_threads
            touched = _touched(run, table)
            rows = store_query(lake, table, run.params, *limits, touched)
        lake.catalog.inputs[table] = inputs
        if TABLES[table].kept_by:
            lake.catalog.inputs[f"{table}/rules"] = _rules(run, table)
        run.report(table, rows)
    return [Made(table, is_current, outcomes=_outcomes(run, table, is_current, touched))]


def _touched(run: MillRun, table: str) -> Touched | None:
    """Where a table is kept by key and its published rows were made by the same rules: what this run touched; else None."""
    lake, published = run.lake, run.lake.published
    is_kept = TABLES[table].kept_by and published.inputs.get(f"{table}/rules") == _rules(run, table)
    if not is_kept or run.choice.full or run.damage.files or "" not in published.tables.get(table, {}):
        return None
    linked = [name for name in _behind(table) if TABLES[name].links]
    (rows,) = (name for name in linked if TABLES[name].is_by_day)
    if rows not in run.touched:
        beside = [name for name in TABLES if TABLES[name].links and name != rows]
        since = datetime.fromisoformat(str(published.as_of))
        run.touched[rows] = touched_rows(lake, rows, beside, since, run.as_of)
    return run.touched[rows]


def _behind(table: str) -> list[str]:
    """What a query reads, and what the views among it are made of."""
    found: dict[str, None] = {}
    for name in queries.query(table).inputs:
        found[name] = None
        if TABLES[name].is_view:
            found |= dict.fromkeys(_behind(name))
    return list(found)


def _rules(run: MillRun, table: str) -> str:
    """What a table kept by key is made by: all but its rows and as_of, which `touched_rows` knows of."""
    asked = [table, *queries.checks_of(table), *(name for name in _behind(table) if TABLES[name].is_view)]
    parts = {
        "code": code_identity(__name__),
        "contracts": [TABLES[name].digest for name in (table, *_behind(table))],
        "queries": [queries.query(name).hash for name in asked],
        "params": {p: str(run.params[p]) for name in asked for p in queries.query(name).params if p != "as_of"},
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def is_bound_to_be_empty(run: MillRun, table: str) -> bool:
    """Whether every input that each of its rows needs one of has no row itself."""
    needed = TABLES[table].empty_without
    return bool(needed) and not any(run.lake.rows(name) for name in needed)


def _made_view(run: MillRun, table: str) -> Made:
    """A view is there once its query is: with this run's parameters, over this run's tables."""
    catalog, inputs = run.lake.catalog, inputs_hash(run, table)
    is_current = catalog.inputs.get(table) == inputs and table in catalog.views
    for partition in run.lake.partitions(table):  # an earlier version stored it
        run.lake.drop(table, partition)
    catalog.views[table] = queries.query(table).filled_in(run.params)
    catalog.inputs[table] = inputs
    return Made(table, is_current, {"view": True}, _outcomes(run, table, is_current))


def _outcomes(run: MillRun, table: str, is_current: bool, touched: Touched | None = None) -> tuple[Outcome, ...]:
    return tuple(_outcome(run, *claim, is_current, touched) for claim in claims_of(table).items())


def _outcome(run: MillRun, query: str, claim: Claim, is_current: bool, touched: Touched | None) -> Outcome:
    """Of untouched keys a claim held when they were made."""
    if is_current:
        return Outcome.of_rows(claim, None)
    limits = run.config.memory_limit_mb, run.config.query_threads
    instead = touched.instead if touched else queries.NOTHING
    return Outcome.of_rows(claim, queries.fetch(run.lake, query, run.params, *limits, instead))


def inputs_hash(run: MillRun, table: str) -> str:
    """What the table is made from: bytes of inputs by version, contracts and queries by text, parameters by value.

    Its checks are among the queries: what is not made again was judged by them when it was made.
    """
    chosen = queries.query(table)
    parts = {
        "code": code_identity(__name__),
        "contracts": [TABLES[name].digest for name in (table, *chosen.inputs)],
        "queries": [queries.query(name).hash for name in (table, *queries.checks_of(table))],
        "params": {name: str(run.params[name]) for name in chosen.params},
        "inputs": {name: run.lake.versions(name) for name in chosen.inputs},
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
