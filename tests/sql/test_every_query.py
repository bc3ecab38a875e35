"""What holds for every .sql file: its form, and that it fits its contract on empty inputs."""

import json
import re
from pathlib import Path

import duckdb
import pytest

from dagster_project.contracts import TABLES
from dagster_project.engines import queries
from tests.sql.harness import run_sql

FILES = sorted(queries.SQL_FOLDER.glob("*/*.sql"))
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
    """G2: the outermost select orders by every column of the grain, which identifies a row; so no row has an equal."""
    chosen = queries.query(name)
    assert chosen.grain
    if name in TABLES:
        assert set(chosen.grain) == set(TABLES[name].grain)
    tree = duckdb.sql("select json_serialize_sql($sql)", params={"sql": chosen.sql}).fetchall()[0][0]
    modifiers = json.loads(tree)["statements"][0]["node"]["modifiers"]
    orders = [order for modifier in modifiers for order in modifier.get("orders", [])]
    assert {order["expression"]["column_names"][-1] for order in orders} >= set(chosen.grain)


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_declares_just_the_inputs_it_reads(path: Path) -> None:
    query = queries.query(path.stem)
    body = path.read_text(encoding="utf-8").split("-- params:")[1]
    used = {name for name in TABLES if re.search(rf"\b{name}\b", body)}
    assert used == set(query.inputs)
    assert set(query.params) == set(re.findall(r"\$(\w+)", body))


def test_every_query_is_in_the_readme() -> None:
    readme = (queries.SQL_FOLDER / "README.md").read_text(encoding="utf-8")
    assert [name for name in NAMES if f"`{name}`" not in readme] == []
