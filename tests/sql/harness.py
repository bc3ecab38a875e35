"""Run one .sql file on a few rows: columns a test does not name get a plain default of their type."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl

from dagster_project.columns.spaces import SPACES
from dagster_project.contracts import TABLES
from dagster_project.contracts.analysts import ANALYSTS
from dagster_project.contracts.table import Table
from dagster_project.contracts.train import ROLES
from dagster_project.engines import queries
from dagster_project.engines.checked_tables import checked
from dagster_project.engines.stored_tables import fit, store, store_days, store_query
from dagster_project.lake.lake import Lake
from dagster_project.systems.feedback.columns import COLUMNS

AS_OF = datetime(2026, 2, 1, tzinfo=UTC)
PARAMS = {
    "as_of": AS_OF,
    "min_weight": 0.3,
    "low_tier": "augmentation",
    "release_date": date(2026, 1, 31),
    "format": "instruction",
    "ready_score": 0.7,
    "auto_ready": True,
    "synthetic_pairs": False,
    "review_corrections": False,
    "sample_rate": 1.0,
    "spaces": SPACES,
    "satisfaction_shares": '{"feedback": 0.25, "conversations": 0.25, "reactions": 0.25, "sessions": 0.25}',
}
PLAIN: dict[Any, Any] = {
    pl.String: "x",
    pl.Int64: 1,
    pl.Float64: 0.5,
    pl.Boolean: True,
    pl.Date: date(2026, 1, 31),
    pl.Binary: b"\0" * 160,
}
# A thumbs-up by one user on one answer, just before as_of.
KEYS_ROW = {
    "feedback_id": "f1",
    "response_id": "r1",
    "session_id": "s1",
    "user_id": "u1",
    "voter_id": "user:u1",
    "occurred_at": AS_OF,
    "feedback_type": "rating",
    "effective_type": "rating",
    "sentiment": "positive",
    "rating": 1,
    "rating_scale": "thumbs",
    "domain": "code",
    "split": "train",
    "is_escalated": False,
    "is_processed": False,
    "prompt_key": "p1",
    "thread_key": 1,
    "answer_key": 1,
    "answer_hash": 1,
}
# A good answer of the teacher that nobody has judged, without an attempt of SAM's.
DISTILLED_ROW = {
    "example_id": "e1",
    "source_id": "e1",
    "origin": "distillation_examples",
    "session_id": None,
    "occurred_at": AS_OF,
    "prompt_key": "p1",
    "domain": "code",
    "reasoning_type": "direct",
    "step_count": 0,
    "error_count": 0,
    "principle_count": 0,
    "quality_score": 0.8,
    "quality_weight": 0.8,
    "source_review": 0,
    "review_status": "pending",
    "is_own_review": False,
    "is_ready": True,
    "training_format": "instruction",
    "feedback_count": 0,
    "has_attempt": False,
    "is_failed": False,
    "is_hardly_changed": False,
    "is_right_attempt": False,
    "is_unseen_attempt": False,
    "is_source_ready": False,
}
# A turn just before as_of that nobody answered.
TURN_ROW = {
    "turn_key": "u1/1",
    "turn_number": 1,
    "turn_id": "turn_000001",
    "user_id": "u1",
    "session_id": "s1",
    "thread_id": "u1 / s1",
    "occurred_at": AS_OF - timedelta(hours=1),
    "feedback_status": "neutral",
    "feedback_confidence": 0.5,
    "reason": "session_end",
    "refers_back": False,
    "is_reusable": True,
    "consecutive_rejections": 0,
    "prompt_key": "p1",
}
# Texts in which nothing is found.
TRAITS_ROW: dict[str, Any] = {
    "origin_id": "f1",
    "has_items": False,
    "is_refusal": False,
    "is_context_parsed": True,
    **{f"{role}_has_tokens": False for role in ROLES},
}
KNOWN_ROWS: dict[str, dict[str, Any]] = {
    "core__feedback_traits": TRAITS_ROW,
    "core__distilled_traits": {**TRAITS_ROW, "origin_id": "e1"},
    **dict.fromkeys(("core__feedback_keys", "core__feedback"), KEYS_ROW),
    **dict.fromkeys(("core__distilled_answers", "core__distillation"), DISTILLED_ROW),
    **dict.fromkeys(("core__turn_pairs", "core__turns"), TURN_ROW),
    "core__signals": {"system": "feedback", "kind": "rating", "polarity": "positive"},
    "core__judged_turns": {"compared_with": "ratings", "detected": "accepted", "polarity": "positive"},
}


def row(table: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """A whole row of a table: nullable columns null, the others plain, then what the test says."""
    known = {"split": "train"} | KNOWN_ROWS.get(table, {})
    whole: dict[str, Any] = {}
    for name, nullable in TABLES[table].columns.items():
        dtype = TABLES[table].meanings[name].dtype
        whole[name] = known.get(name, None if nullable else PLAIN.get(dtype, AS_OF if dtype == pl.Datetime else []))
    if "status" in whole and "status" not in values:
        whole["status"] = "active"
    if "weight_parts" in whole:
        whole["weight_parts"] = dict.fromkeys(COLUMNS["weight_parts"].dtype.to_schema(), 0.0)  # type: ignore[union-attr]
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
        rows = queries.fetch(lake, name, PARAMS | params)
        return fitted(ANALYSTS[name], rows).sort(ANALYSTS[name].grain) if name in ANALYSTS else rows
    if contract.is_view:
        lake.catalog.views[name] = queries.query(name).filled_in(PARAMS | params)
        return fit(name, queries.view(lake, name).collect()).sort(
            *([] if "rank" not in contract.columns else ["rank"]), *contract.grain
        )
    store_query(lake, name, PARAMS | params, memory_limit_mb=512)
    return fit(name, pl.read_parquet(lake.path(name), hive_partitioning=False))


def without_intervals(row: Mapping[str, Any]) -> dict[str, Any]:
    """A day's figures without the ends of their intervals, which `test_rates.py` is about."""
    return {name: value for name, value in row.items() if not name.endswith(("_rate_low", "_rate_high"))}


def fitted(table: Table, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows of a view of the warehouse, if they meet its contract."""
    return checked(table, rows.select(pl.col(name).cast(dtype) for name, dtype in table.polars_schema.items()))


def run_one_after_another(
    folder: Path, names: Sequence[str], inputs: Mapping[str, Sequence[Mapping[str, Any]]], **params: Any
) -> dict[str, Sequence[Mapping[str, Any]]]:
    """The inputs and every query's rows, each query on what there is of its inputs by then."""
    made = dict(inputs)
    for name in names:
        known = {table: made[table] for table in queries.query(name).inputs if made.get(table)}
        made[name] = run_sql(folder / name, name, known, **params).to_dicts()
    return made
