"""Run one .sql file on a few rows: columns a test does not name get a plain default of their type."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import polars as pl

from dagster_project import queries
from dagster_project.contracts import TABLES
from dagster_project.contracts.columns import GLOSSARY
from dagster_project.lake import Lake
from dagster_project.tables import fit, store, store_days, store_query

AS_OF = datetime(2026, 2, 1, tzinfo=UTC)
PARAMS = {"as_of": AS_OF, "min_weight": 0.3, "release_date": date(2026, 1, 31)}
PLAIN: dict[Any, Any] = {
    pl.String: "x", pl.Int64: 1, pl.Float64: 0.5, pl.Boolean: True, pl.UInt64: 1, pl.Date: date(2026, 1, 31),
}  # fmt: skip
# A thumbs-up by one user on one answer, just before as_of.
KEYS_ROW = {
    "feedback_id": "f1", "response_id": "r1", "session_id": "s1", "user_id": "u1", "voter_id": "user:u1",
    "occurred_at": AS_OF, "feedback_type": "rating", "effective_type": "rating", "sentiment": "positive",
    "rating": 1, "rating_scale": "thumbs", "domain": "code", "split": "train", "is_escalated": False,
    "is_processed": False, "prompt_key": "p1",
}  # fmt: skip


def row(table: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """A whole row of a table: nullable columns null, the others plain, then what the test says."""
    known = KEYS_ROW if table in ("core__feedback_keys", "core__feedback") else {}
    whole: dict[str, Any] = {}
    for name, nullable in TABLES[table].columns.items():
        dtype = GLOSSARY[name].dtype
        whole[name] = known.get(name, None if nullable else PLAIN.get(dtype, AS_OF if dtype == pl.Datetime else []))
    if "status" in whole and "status" not in values:
        whole["status"] = "active"
    if "weight_parts" in whole:
        whole["weight_parts"] = dict.fromkeys(GLOSSARY["weight_parts"].dtype.to_schema(), 0.0)  # type: ignore[union-attr]
    for name in ("tier", "base_tier"):
        if name in whole:
            whole[name] = "standard"
    if unknown := set(values) - set(whole):
        raise KeyError(f"{table} has no column {unknown}")
    return whole | dict(values)


def frame(table: str, rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    return fit(table, pl.DataFrame([row(table, values) for values in rows], schema=TABLES[table].polars_schema))


def run_sql(folder: Path, name: str, inputs: Mapping[str, Sequence[Mapping[str, Any]]], **params: Any) -> pl.DataFrame:
    """The query's result on these inputs; tables that are not named are empty."""
    lake = Lake(folder)
    for table, rows in inputs.items():
        if TABLES[table].is_by_day:
            store_days(lake, table, frame(table, rows).sort("event_date"))
        else:
            store(lake, table, [frame(table, rows)])
    contract = TABLES.get(name)
    if contract is None:
        return queries.fetch(lake, name, PARAMS | params)
    store_query(lake, name, PARAMS | params, memory_limit_mb=512)
    rows = fit(name, pl.read_parquet(lake.path(name), hive_partitioning=False))
    return rows.sort(contract.grain) if "(unordered)" in queries.query(name).sql else rows
