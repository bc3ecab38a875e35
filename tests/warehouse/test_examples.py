"""Each example of sql/examples is one SELECT that answers the question in its head, and stands in docs/analysts.md."""

import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from dagster_project.engines.warehouse_tables import EXAMPLES, examples_by_table
from tests.warehouse.conftest import opened

FILES = sorted(EXAMPLES.glob("*.sql"))
PAGE = Path(__file__).parents[2] / "docs" / "analysts.md"
MAY_BE_EMPTY = {"04_unusually_bad_days", "23_restated_figures"}  # where all is well there is nothing to tell


@pytest.fixture(scope="module")
def warehouse(asked_home: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with opened(asked_home) as connection:
        yield connection


def test_there_are_enough() -> None:
    assert len(FILES) >= 25


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_its_head_asks_a_question_and_the_page_has_it(path: Path) -> None:
    lines = path.read_text("utf-8").splitlines()
    question = " ".join(line.removeprefix("-- ") for line in lines if line.startswith("-- "))
    assert question.endswith("?")
    assert f"| {question} | [{path.name}](../sql/examples/{path.name}) |" in PAGE.read_text("utf-8")
    assert re.fullmatch(r"\d\d_[a-z_]+", path.stem)


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_it_is_answered(path: Path, warehouse: duckdb.DuckDBPyConnection) -> None:
    """The same twice, too: an answer whose order is left open would differ some day."""
    sql = path.read_text("utf-8")
    (statement,) = warehouse.extract_statements(sql)
    assert statement.type == duckdb.StatementType.SELECT
    rows = warehouse.execute(sql).fetchall()
    assert rows or path.stem in MAY_BE_EMPTY
    assert "order by" in sql and rows == warehouse.execute(sql).fetchall()


def test_tables_know_their_examples() -> None:
    known = examples_by_table()
    assert {
        "signals",
        "complaints",
        "documents",
        "workspaces",
        "releases",
        "restatements",
        "metric__turn_daily",
    } <= known.keys()
    assert known["workspaces"].startswith("-- Which customers' workspaces are least happy?")
