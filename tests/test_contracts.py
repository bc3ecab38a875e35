"""Contracts: the quick counts and Pandera agree on every frame, in memory and in a file; a violation is told in one line."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandera.errors import SchemaErrors

from dagster_project.contracts import TABLES
from dagster_project.contracts.columns import GLOSSARY
from dagster_project.contracts.table import Table
from dagster_project.errors import GristmillError
from dagster_project.tables import fit

TABLE = Table("some_things", "Things.", ("id",), "id tier? mean_weight rank? is_escalated session_ids")
GOOD = {"id": "a", "tier": "high", "mean_weight": 0.5, "rank": 1, "is_escalated": True, "session_ids": ["s"]}
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "id": st.sampled_from(["a", "", None]),
    "tier": st.sampled_from(["high", "low", "High", "", None]),
    "mean_weight": st.sampled_from([0.0, 1.0, 0.3, -0.0, 1.000001, -1e-9, float("nan"), float("inf"), None]),
    "rank": st.sampled_from([1, 2, 0, -1, None]),
    "is_escalated": st.sampled_from([True, False, None]),
    "session_ids": st.sampled_from([["s"], [], None]),
}


def frame(rows: list[dict[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=TABLE.polars_schema)


def accepts(check: Any, given_rows: Any) -> bool:
    try:
        check(given_rows)
    except SchemaErrors:
        return False
    return True


@given(st.lists(st.fixed_dictionaries(VALUES), max_size=4))
def test_the_counts_find_what_pandera_finds(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]
) -> None:
    found = frame(rows)
    expected = accepts(lambda f: TABLE.schema.validate(f, lazy=True), found)
    assert accepts(TABLE.validate, found) == expected
    path: Path = tmp_path_factory.getbasetemp() / "things.parquet"
    found.write_parquet(path)
    assert accepts(TABLE.validate_file, path) == expected


@pytest.mark.parametrize(
    "wrong", [{"id": None}, {"tier": "High"}, {"mean_weight": 1.1}, {"rank": 0}, {"session_ids": None}], ids=str
)
def test_one_wrong_value_is_enough(wrong: dict[str, Any]) -> None:
    assert accepts(TABLE.validate, frame([GOOD, GOOD]))
    assert not accepts(TABLE.validate, frame([GOOD, GOOD | wrong]))


def test_another_shape_is_refused() -> None:
    assert not accepts(TABLE.validate, frame([GOOD]).drop("rank"))
    assert not accepts(TABLE.validate, frame([GOOD]).select(*reversed(TABLE.columns)))


def test_a_violation_is_one_line() -> None:
    row = dict.fromkeys(TABLES["core__voices"].columns) | {
        "feedback_id": "f1",
        "status": "lost",
        "status_ref": "f2",
    }
    with pytest.raises(GristmillError, match=r"core__voices does not meet its contract: column 'status'.*'lost'"):
        fit("core__voices", pl.DataFrame([row]))


@pytest.mark.parametrize("name", TABLES)
def test_every_column_is_in_the_glossary(name: str) -> None:
    assert [column for column in TABLES[name].columns if column not in GLOSSARY] == []
    assert set(TABLES[name].grain) <= {*TABLES[name].columns}
