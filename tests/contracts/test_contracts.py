"""Contracts of our own tables: Pandera finds every value that breaks a rule, in a frame and in a file, and says it in one line."""

import math
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagster_project.contracts import TABLES
from dagster_project.contracts.meaning import word
from dagster_project.contracts.table import Table
from dagster_project.engines import checked_tables as tables
from dagster_project.engines import stored_tables as storing
from dagster_project.engines.checked_tables import check_file, checked, table_schema
from dagster_project.engines.stored_tables import CheckedTogether, fit
from dagster_project.errors import GristmillError
from dagster_project.lake.lake import Lake
from dagster_project.lake.parquet import TableWriter
from dagster_project.orchestration.sql_tables import inputs_hash
from tests.conftest import catalog, run
from tests.sql.harness import PARAMS

TABLE = Table("some_things", "Things.", ("id",), "id tier? mean_weight rank? has_query origin_ids")
GOOD = {"id": "a", "tier": "high", "mean_weight": 0.5, "rank": 1, "has_query": True, "origin_ids": ["s"]}
INSTRUCTION = "train__instruction"
RECORD = {
    "quality_weight": 0.5,
    "base_weight": 0.5,
    "tier": "high",
    "split": "train",
    "origin_ids": ["f"],
    "release_date": date(2026, 1, 9),
    "is_refusal": False,
    "messages": [{"role": "user", "content": "x"}],
}
WRONG: dict[str, list[Any]] = {
    "id": [None],
    "tier": ["High", ""],
    "mean_weight": [1.000001, -1e-9, math.inf, None],
    "rank": [0, -1],
    "has_query": [None],
    "origin_ids": [None],
}
RIGHT: dict[str, list[Any]] = {
    "id": ["a", ""],
    "tier": ["high", "low", None],
    "mean_weight": [0.0, 1.0, 0.3, -0.0],
    "rank": [1, 2, None],
    "has_query": [True, False],
    "origin_ids": [["s"], []],
}
VALUES = {name: st.sampled_from([*RIGHT[name] * 3, *WRONG[name]]) for name in TABLE.columns}


def frame(rows: list[dict[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=TABLE.polars_schema)


def complaints(check: Any, *given_rows: Any) -> str:
    try:
        check(TABLE, *given_rows)
    except GristmillError as error:
        return str(error)
    return ""


@given(st.lists(st.fixed_dictionaries(VALUES), max_size=5))
def test_every_wrong_value_is_found_and_counted(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]
) -> None:
    """In a frame, and in a file that is read in batches of two rows."""
    wrong = sum(value in WRONG[name] for row in rows for name, value in row.items())
    path: Path = tmp_path_factory.getbasetemp() / "things.parquet"
    with TableWriter(path, TABLE.file_layout) as writer:
        writer.write(frame(rows).to_arrow())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "FILE_ROWS", 2)
        for said in (complaints(checked, frame(rows)), complaints(check_file, path)):
            assert f"({wrong} violations)" in said if wrong else not said


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name in WRONG for value in WRONG[name]] + [("mean_weight", math.nan)], ids=str
)
def test_one_wrong_value_is_enough(name: str, value: Any) -> None:
    assert complaints(checked, frame([GOOD, GOOD])) == ""
    assert f"column {name!r}" in complaints(checked, frame([GOOD, GOOD | {name: value}]))


def test_another_shape_is_refused() -> None:
    rows = frame([GOOD])
    assert "some_things does not have its columns: 'rank'" in complaints(checked, rows.drop("rank"))
    assert "some_things does not have its columns: 'more'" in complaints(checked, rows.with_columns(more=1))
    assert "some_things does not have its columns" in complaints(checked, rows.select(*reversed(TABLE.columns)))
    other = complaints(checked, rows.with_columns(pl.col("rank").cast(pl.String)))
    assert "some_things does not have its columns: 'rank'" in other and "String" in other


def test_a_violation_is_one_line() -> None:
    row = dict.fromkeys(TABLES["core__voices"].columns) | {"feedback_id": "f1", "status": "lost", "status_ref": "f2"}
    with pytest.raises(GristmillError) as error:
        fit("core__voices", pl.DataFrame([row, row]))
    assert str(error.value) == (
        "core__voices does not meet its contract: column 'status', "
        "check \"isin(['active', 'duplicate', 'superseded'])\", value 'lost' (2 violations); nothing was published"
    )


def test_a_file_is_read_only_where_it_has_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "things.parquet"
    with TableWriter(path, TABLE.file_layout) as writer:
        writer.write(frame([GOOD]).to_arrow())
    asked: list[list[str]] = []
    monkeypatch.setattr(tables, "failure_cases", lambda schema, rows: asked.append(rows.columns) or pl.DataFrame())
    loose = Table("some_things", "Things.", ("id",), "id? tier? mean_weight? rank? has_query? origin_ids?")
    check_file(loose, path)
    assert asked == [["tier", "mean_weight", "rank"]]


def test_small_pieces_are_checked_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole texts do not wait for the check, but that one is missing is found."""
    piece = pl.DataFrame(
        [dict.fromkeys(TABLES[INSTRUCTION].columns, "x") | RECORD], schema=TABLES[INSTRUCTION].polars_schema
    )
    asked: list[pl.DataFrame] = []
    monkeypatch.setattr(storing, "checked", lambda table, rows: asked.append(rows) or checked(table, rows))
    monkeypatch.setattr(storing, "CHECKED_TOGETHER", 3)
    check = CheckedTogether(INSTRUCTION)
    for _ in range(4):
        check.add(piece)
    check.finish()
    assert [rows.height for rows in asked] == [3, 1]
    assert asked[0]["messages"].to_list() == [[], [], []]
    assert asked[0]["output"].to_list() == ["", "", ""] and asked[0]["id"].to_list() == ["x", "x", "x"]
    check.add(piece.with_columns(output=pl.lit(None, dtype=pl.String)))
    with pytest.raises(GristmillError, match=r"train__instruction does not meet its contract: column 'output'"):
        check.finish()


@pytest.mark.parametrize("name", TABLES)
def test_every_column_is_in_the_glossary(name: str) -> None:
    assert list(TABLES[name].meanings) == list(TABLES[name].columns)
    assert set(TABLES[name].grain) <= {*TABLES[name].columns}


@pytest.mark.parametrize("name", TABLES)
def test_an_empty_table_meets_its_contract(name: str) -> None:
    """Its schema has the contract's columns in order, and Pandera knows every type and check in it."""
    assert list(table_schema(TABLES[name]).columns) == list(TABLES[name].columns)
    assert checked(TABLES[name], TABLES[name].empty()).is_empty()


# --- identity (G12) --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        {"description": "Other things."},
        {"grain": ("id", "tier")},
        {"layout": TABLE.layout.replace("tier?", "tier")},
        {"is_by_day": True},
        {"unchecked": ("tier",)},
        {"own": {"tier": word("anything")}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_another_contract_is_another_identity(change: dict[str, Any]) -> None:
    assert replace(TABLE).digest == TABLE.digest
    assert replace(TABLE, **change).digest != TABLE.digest


@pytest.mark.parametrize(
    ("changed", "is_made_again"), [("core__voices", True), ("core__feedback_keys", True), ("core__answers", False)]
)
def test_a_query_runs_again_if_its_contract_or_one_of_an_input_changed(
    changed: str, is_made_again: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """G12, wherever the contract stands."""
    run: Any = SimpleNamespace(lake=Lake(tmp_path), params=PARAMS)
    before = inputs_hash(run, "core__voices")
    monkeypatch.setitem(TABLES, changed, replace(TABLES[changed], description="Something else."))
    assert (inputs_hash(run, "core__voices") != before) is is_made_again


@pytest.mark.slow
def test_a_source_table_is_read_again_if_its_contract_changed(published: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """G12: dated and undated ones."""
    tables = ("raw_feedback__entries", "raw_feedback__responses")
    before = catalog(published)["sources"]
    for table in tables:
        monkeypatch.setitem(TABLES, table, replace(TABLES[table], description="Something else."))
    (published / "runs" / "unchanged.json").unlink(missing_ok=True)  # our own files are the same
    assert "days read        0" not in run(published).stdout
    after = catalog(published)["sources"]
    assert {table for table in before if before[table]["rules"] != after[table]["rules"]} == {*tables}
