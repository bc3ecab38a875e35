"""What holds for every .sql file: its form, and that it fits its contract on empty inputs."""

import json
import re
from pathlib import Path

import duckdb
import pytest

from dagster_project.contracts import TABLES
from dagster_project.contracts.analysts import ANALYSTS
from dagster_project.engines import queries
from tests.sql.harness import run_sql

CONTRACTS = {**TABLES, **ANALYSTS}
FILES = sorted(
    path for path in queries.SQL_FOLDER.glob("*/*.sql") if path.parent.name != "examples"
)  # those are for people
NAMES = [path.stem for path in FILES]


@pytest.mark.parametrize("name", NAMES)
def test_fits_its_contract_on_empty_tables(name: str, tmp_path: Path) -> None:
    result = run_sql(tmp_path, name, {})
    assert result.height == (1 if name == "metric__feedback_stats" else 0)


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_is_one_select_in_the_house_style(path: Path) -> None:
    sql = path.read_text(encoding="utf-8")
    body = "\n".join(line.split("--")[0] for line in sql.splitlines())
    assert body == body.lower() or "'" in body  # only literals may have capitals
    outside_literals = re.sub(r"'[^']*'", "''", body)
    assert not re.search(r"\b(create|insert|update|delete|copy|attach|pragma)\b", outside_literals)
    assert ";" not in body and "{{" not in body
    assert not re.search(r"select\s+\*\s+from\s+(raw|core|metric|train|quarantine)_", body)


@pytest.mark.parametrize("name", NAMES)
def test_ends_in_a_total_order(name: str) -> None:
    """G2: the outermost select orders by every column of the grain, which identifies a row; so no row has an equal.
    A view, which is not written, has no order."""
    chosen = queries.query(name)
    assert chosen.grain
    if name == "release__leaving":  # read in pieces that are put in order one by one
        return
    if name in CONTRACTS:
        assert set(chosen.grain) == set(CONTRACTS[name].grain)
    tree = duckdb.sql("select json_serialize_sql($sql)", params={"sql": chosen.sql}).fetchall()[0][0]
    modifiers = json.loads(tree)["statements"][0]["node"]["modifiers"]
    orders = [order for modifier in modifiers for order in modifier.get("orders", [])]
    ordered = {order["expression"]["column_names"][-1] for order in orders}
    assert not orders if name in ANALYSTS or (name in TABLES and TABLES[name].is_view) else ordered >= set(chosen.grain)


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_declares_just_the_inputs_it_reads(path: Path) -> None:
    query = queries.query(path.stem)
    body = path.read_text(encoding="utf-8").split("-- params:")[1]
    read = re.sub(r"'[^']*'", "''", re.sub(r"--.*", "", body))  # a name in a literal is what is told of a row
    used = {name for name in TABLES if re.search(rf"\b{name}\b", read)}
    assert used == {*query.inputs}
    assert set(query.params) == set(re.findall(r"\$(\w+)", body))


@pytest.mark.parametrize("name", NAMES)
def test_stands_in_the_readme_as_its_header_says(name: str) -> None:
    query, readme = queries.query(name), (queries.SQL_FOLDER / "README.md").read_text(encoding="utf-8")
    params = [f"${param}" for param in query.params]
    cells = [f"`{name}`", query.what, *(", ".join(words) or "-" for words in (query.grain, query.inputs, params))]
    (row,) = (line for line in readme.splitlines() if line.startswith(f"| {cells[0]} |"))
    assert row.startswith(f"| {' | '.join(cells[:2])}")  # which may say more
    assert row.endswith(f" | {' | '.join(cells[2:])} |")


@pytest.mark.parametrize("name", [name for name, table in TABLES.items() if table.empty_without])
def test_what_is_not_looked_for_would_not_be_found(name: str, tmp_path: Path) -> None:
    """Where none of the inputs a table is nothing without has a row, its query, which then does not run, has none either."""
    needed = TABLES[name].empty_without
    others = {table: [{}] for table in queries.query(name).inputs if table not in needed}
    assert others and set(needed) < set(queries.query(name).inputs)
    assert run_sql(tmp_path, name, others).is_empty()
