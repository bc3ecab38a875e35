"""What people rely on: names and types stay, every table and column says what it is, and no client's time zone moves a day."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from dagster_project.contracts import TABLES
from dagster_project.contracts.analysts import ANALYSTS
from dagster_project.engines import queries
from dagster_project.engines.warehouse_file import build_warehouse
from dagster_project.lake.lake import Lake
from tests.contracts.test_comments import CODE
from tests.sql.harness import PARAMS
from tests.warehouse.conftest import opened

PINNED = Path(__file__).with_name("schema.json")
WORDS = {table.view for table in TABLES.values() if table.view} | ANALYSTS.keys()


@pytest.fixture(scope="module")
def warehouse(asked_home: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with opened(asked_home) as connection:
        yield connection


def schema_of(warehouse: duckdb.DuckDBPyConnection) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    columns = (
        "select schema_name, table_name, column_name, data_type from duckdb_columns() where not internal order by all"
    )
    for schema, table, column, kind in warehouse.sql(columns).fetchall():
        found.setdefault(f"{schema}.{table}", {})[column] = kind
    return found


def test_names_and_types_are_added_to_and_nothing_else(tmp_path: Path) -> None:
    """What is in `schema.json` stays as it is. What is new is put there with `PIN_SCHEMA=1`, which takes nothing away."""
    lake = Lake(tmp_path)
    for name in [name for name, table in TABLES.items() if table.is_view]:
        lake.catalog.views[name] = queries.query(name).filled_in(PARAMS)
    build_warehouse(lake, tmp_path, tmp_path / "warehouse.duckdb")
    with opened(tmp_path) as empty:
        pinned, found = json.loads(PINNED.read_text("utf-8")) if PINNED.exists() else {}, schema_of(empty)
    assert {table: found.get(table, {}).keys() & columns.keys() for table, columns in pinned.items()} == {
        table: columns.keys() for table, columns in pinned.items()
    }
    assert {(table, column): found[table][column] for table, columns in pinned.items() for column in columns} == {
        (table, column): kind for table, columns in pinned.items() for column, kind in columns.items()
    }
    if os.environ.get("PIN_SCHEMA"):
        PINNED.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", "utf-8")
    else:
        assert found == pinned, "something is new: PIN_SCHEMA=1 puts it into schema.json"


@pytest.mark.slow
def test_files_and_queries_give_the_types_that_are_pinned(warehouse: duckdb.DuckDBPyConnection) -> None:
    """Whether a table lies in the file, on files of the publication, or has no row yet."""
    assert schema_of(warehouse) == json.loads(PINNED.read_text("utf-8"))


@pytest.mark.slow
def test_every_name_works_without_a_schema(warehouse: duckdb.DuckDBPyConnection) -> None:
    """One name everywhere, plumbing too; and plumbing has a schema of its own."""
    main = {
        name
        for (name,) in warehouse.sql("select table_name from duckdb_columns() where schema_name = 'main'").fetchall()
    }
    assert main >= {*TABLES, *WORDS}
    for name, table in TABLES.items():
        own, by_name = (
            warehouse.sql(f"select count(*), count(distinct t) from {place} as t").fetchall()
            for place in (f'{table.schema}."{name}"', f'"{name}"')
        )
        assert own == by_name, name
    assert {TABLES[name].schema for name in ("core__feedback", "metric__feedback_daily", "quarantine__rows")} == {
        "main"
    }
    assert {TABLES[name].schema for name in ("core__voices", "core__prompts", "archive__sessions")} == {"core"}


@pytest.mark.slow
def test_everything_is_commented_in_plain_words(warehouse: duckdb.DuckDBPyConnection) -> None:
    tables = "select table_name, comment from duckdb_tables() where not internal"
    views = "select view_name, comment from duckdb_views() where not internal"
    columns = "select table_name || '.' || column_name, comment from duckdb_columns() where not internal"
    said = warehouse.sql(f"{tables} union all {views} union all {columns}").fetchall()
    assert len(said) > 2000
    assert [name for name, comment in said if not comment or CODE.search(comment)] == []
    described = warehouse.sql(
        "select view_name from duckdb_views() where schema_name = 'main' and comment like 'Plumbing%'"
    ).fetchall()
    assert {name for (name,) in described} <= {name for name, table in TABLES.items() if table.schema != "main"}


@pytest.mark.slow
def test_the_dictionary_has_every_column(warehouse: duckdb.DuckDBPyConnection) -> None:
    """Once: plumbing where it belongs. Types are those of the warehouse, comments those of the columns."""
    listed = warehouse.sql(
        'select "schema" || \'.\' || "table", "column", type, comment from data_dictionary where "column" is not null'
    ).fetchall()
    assert len(listed) == len(set(listed))
    found = {
        (f"{schema}.{table}", column): (kind.lower(), comment)
        for schema, table, column, kind, comment in warehouse.sql(
            "select schema_name, table_name, column_name, data_type, comment from duckdb_columns() where not internal"
        ).fetchall()
    }
    for table, column, kind, comment in listed:
        assert found[table, column][1] == comment
        assert found[table, column][0].split("(")[0].rstrip("[]") == kind.split("(")[0].rstrip("[]"), (table, column)
    elsewhere = {f"main.{name}" for name, table in TABLES.items() if table.schema != "main"}
    assert {table for table, _ in found} - {table for table, *_ in listed} == elsewhere
    (of_signals,) = warehouse.sql(
        """select grain, example from data_dictionary where "table" = 'signals' and "column" is null"""
    ).fetchall()
    assert of_signals[0] == "signal_id" and "from signals" in of_signals[1]


ZONES = ("UTC", "Pacific/Auckland", "America/Los_Angeles")


@pytest.mark.slow
def test_no_day_depends_on_the_client(warehouse: duckdb.DuckDBPyConnection) -> None:
    """G1: instants have no zone, and what a client makes of them, or of days, is the same in Auckland."""
    kinds = {kind for columns in schema_of(warehouse).values() for kind in columns.values()}
    assert not [kind for kind in kinds if "TIME ZONE" in kind]
    answers: dict[str, list[object]] = {zone: [] for zone in ZONES}
    for table, columns in schema_of(warehouse).items():
        moments = [name for name, kind in columns.items() if kind in ("TIMESTAMP", "DATE")]
        if not table.startswith("main.") or not moments:
            continue
        shown = ", ".join(
            f'min("{name}")::varchar, max(date_trunc(\'day\', "{name}"))::varchar, count(distinct "{name}"::date)'
            for name in moments
        )
        name = '"{}"'.format(table.removeprefix("main."))
        for zone in ZONES:
            warehouse.execute(f"set TimeZone = '{zone}'")
            answers[zone].append((table, warehouse.sql(f"select count(*), {shown} from {name}").fetchall()))
    warehouse.execute("set TimeZone = 'UTC'")
    assert answers[ZONES[0]] == answers[ZONES[1]] == answers[ZONES[2]]


@pytest.mark.slow
def test_the_day_of_a_row_is_that_of_its_instant(warehouse: duckdb.DuckDBPyConnection) -> None:
    for table in ("signals", "complaints", "core__feedback", "core__reactions", "core__turns", "judged_turns"):
        wrong = f"select count(*) from {table} where event_date <> occurred_at::date"
        assert warehouse.sql(wrong).fetchall() == [(0,)], table
        assert warehouse.sql(f"select count(*) > 0 from {table}").fetchall() == [(True,)], table


@pytest.mark.slow
def test_complaints_are_the_negative_signals_with_masked_texts(warehouse: duckdb.DuckDBPyConnection) -> None:
    for system, counted in warehouse.sql(
        "select system, count(*) from signals where polarity = 'negative' group by system"
    ).fetchall():
        asked = f"select count(*), count(said_by_user), count(problem) from complaints where system = '{system}'"
        ((rows, said, problem),) = warehouse.sql(asked).fetchall()
        assert (rows, said > 0) == (counted, True), system
        assert problem > 0 or system == "reactions"
    texts = "concat_ws(' ', question, answer, said_by_user, better_answer)"
    plain = warehouse.sql(
        rf"select count(*) from complaints where regexp_matches({texts}, '[a-z]@[a-z]+\.[a-z]')"
    ).fetchall()
    assert plain == [(0,)]
