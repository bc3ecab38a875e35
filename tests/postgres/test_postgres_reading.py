"""Reading Postgres tables: one snapshot, bounded batches, days (G1, G6), fingerprints (G7), keys and filters."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dagster_project.columns.instants import instant
from dagster_project.contracts.checks import not_null, source_schema
from dagster_project.contracts.source_table import TableSpec
from dagster_project.databases import postgres, postgres_connection
from dagster_project.databases.fingerprint_cache import FingerprintCache
from dagster_project.databases.postgres import PostgresDatabase
from dagster_project.errors import GristmillError
from dagster_project.intake.day_reading import DatedTable, ReadDays, judged, quarantined, read_days
from dagster_project.intake.fingerprints import look
from dagster_project.intake.open_files import OpenFile
from tests.postgres.ddl import FEEDBACK, MESSAGES, MESSAGES_DDL, ONLY_REACTIONS, SESSIONS, SESSIONS_DDL
from tests.postgres.server import READER_PASSWORD, Schema, Server, sql

SPEC = TableSpec(
    system="test",
    name="things",
    columns={"key": "text", "at": "time", "amount": "integer", "share": "real", "note": "text", "tags": "list"},
    required=("key", "at"),
    key="key",
    event_time="at",
    edited=("amount", "share", "tags"),
    measured=("note",),
)
TABLE = "create table things (key text, at timestamptz, amount int, share numeric, note text, tags text[])"
FIRST, END = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY = 20_462  # 2026-01-09


def filled(schema: Schema, rows: int, table: str = TABLE) -> Schema:
    """A row every hour from 2026-01-09 on."""
    schema.execute(
        table,
        "insert into things (key, at, amount, share, note, tags) select 'k' || n, "
        "timestamptz '2026-01-09 00:30+00' + (n - 1) * interval '1 hour', n, n / 4.0, 'note', array['a', 'b'] "
        f"from generate_series(1, {rows}) n",
    )
    return schema


def keys(batches: Any) -> list[str]:
    return [key for batch in batches for key in batch["key"]]


# --- batches ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch_rows", [1, 2, 7, 10, 11, 100])
def test_batches_lose_no_row(batch_rows: int, schema: Schema, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of one row, batches that end with the table, and one that holds it all."""
    monkeypatch.setattr(postgres_connection, "BATCH_ROWS", batch_rows)
    with filled(schema, 10).open() as database:
        batches = list(database.read_all(SPEC))
    assert [batch.height for batch in batches] == [batch_rows] * (10 // batch_rows) + [10 % batch_rows][
        : 10 % batch_rows
    ]
    assert keys(batches) == [f"k{n}" for n in range(1, 11)]


def test_wide_rows_come_in_small_batches(schema: Schema, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_connection, "FIRST_ROWS", 4)
    schema.execute(
        TABLE, "insert into things (key, at, note) select n, now(), repeat('x', 2000000) from generate_series(1, 40) n"
    )
    with schema.open() as database:
        assert [batch.height for batch in database.read_all(SPEC)] == [4, 8, 8, 8, 8, 4]


@pytest.mark.parametrize("bad", ["main", "ascii"])
def test_very_many_unknown_columns_are_kept(bad: str, new_schema: Callable[..., Schema]) -> None:
    """A result has at most 1,664 columns; of a row with bad bytes an original takes two a column."""
    names = [f"x{n}" for n in range(1_500)]
    value = "convert_from('\\xff', 'SQL_ASCII')" if bad == "ascii" else "'last'"
    schema = new_schema(bad)
    schema.execute(
        TABLE.replace("tags text[]", f"tags text[], {', '.join(f'{name} text' for name in names)}"),
        f"insert into things (key, at, {names[-1]}) select 'a', now(), {value}",
    )
    with schema.open() as database:
        (row,) = [row for batch in database.read_all(SPEC) for row in batch.rows(named=True)]
        (original,) = database.originals(SPEC, [1])["row"]
    if bad == "main":
        assert json.loads(row["extra"]) == dict.fromkeys(names) | {names[-1]: "last"}
    assert row["problems"] == (["bad_text:extra"] if bad == "ascii" else [])
    assert json.loads(original)[names[-1]] == ({"$hex": "ff"} if bad == "ascii" else "last")


def test_an_empty_table(schema: Schema) -> None:
    schema.execute(TABLE)
    with schema.open() as database:
        assert list(database.read_all(SPEC)) == []
        assert list(database.read_rows(SPEC, [])) == []
        assert database.fingerprints(SPEC).rows() == []
        assert database.undated_rowids(SPEC) == []
        assert database.look(SPEC, FingerprintCache(None)).days == []
        assert database.originals(SPEC, [1]).rows() == []


def test_a_stream_may_be_left_and_others_run_beside_it(schema: Schema, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused rows are looked up while a table is streaming; a reader may stop in the middle."""
    monkeypatch.setattr(postgres_connection, "BATCH_ROWS", 3)
    with filled(schema, 10).open() as database:
        first, second = database.read_all(SPEC), database.read_all(SPEC)
        assert next(first)["key"].to_list() == ["k1", "k2", "k3"]
        assert next(second)["key"].to_list() == ["k1", "k2", "k3"]
        assert database.originals(SPEC, [2])["source_rowid"].to_list() == [2]
        del first  # its cursor goes with it
        assert keys(second) == [f"k{n}" for n in range(4, 11)]
        abandoned = database.read_all(SPEC)
        next(abandoned)
    del abandoned
    database.close()


# Run as a program of its own, so that the peak is that of this read alone.
STREAM = """
import resource, sys
from dagster_project.databases.postgres import PostgresDatabase
from tests.postgres.test_postgres_reading import SPEC
with PostgresDatabase(sys.stdin.read(), sys.argv[1]) as database:
    database.shape(SPEC)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rows = total = 0
    for batch in database.read_all(SPEC):
        rows += batch.height
        total += batch["note"].str.len_bytes().sum()
    print(rows, total, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_a_large_table_is_streamed_in_bounded_memory(schema: Schema) -> None:
    """200 000 rows with 400 MB of text pass through; what is held at any time is a small part of that."""
    schema.execute(
        TABLE,
        "alter table things alter note set storage external",
        "insert into things (key, at, note) select 'k' || n, timestamptz '2026-01-09+00' + n * interval '1 second', "
        "repeat(md5(n::text), 63) from generate_series(1, 200000) n",
    )
    command = [sys.executable, "-c", STREAM, schema.name]
    done = subprocess.run(
        command, input=schema.server.uri(), capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2]
    )
    rows, total, grown_kb = (int(number) for number in done.stdout.split())
    assert (rows, total) == (200_000, 200_000 * 63 * 32)
    assert grown_kb < 150_000, f"{grown_kb} KB"


# --- one state of the database ---------------------------------------------------------------------------------------


def test_one_snapshot_while_others_write(schema: Schema, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commits between and during reads are not seen, in no table; the next transaction sees them."""
    monkeypatch.setattr(postgres_connection, "BATCH_ROWS", 2)
    filled(schema, 6)
    schema.execute("create table others as select * from things")
    others = TableSpec(**{**SPEC.__dict__, "name": "others"})
    with schema.open() as database:
        before = database.fingerprints(SPEC).rows()
        stream = database.read_all(SPEC)
        seen = keys([next(stream)])
        schema.execute(
            "insert into things (key, at) values ('new', '2026-01-09 12:00+00')",
            "delete from things where key = 'k6'",
            "update things set amount = 99 where key = 'k5'",
            "delete from others",
        )
        assert seen + keys(stream) == [f"k{n}" for n in range(1, 7)]
        assert database.fingerprints(SPEC).rows() == before
        assert json.loads(database.originals(SPEC, [5])["row"][0])["amount"] == 5
        assert len(keys(database.read_all(others))) == 6
        snapshots = {database._connection.rows("select txid_current_snapshot()::text as s")[0]["s"] for _ in range(3)}
        assert len(snapshots) == 1
    with schema.open() as database:
        assert sorted(keys(database.read_all(SPEC))) == ["k1", "k2", "k3", "k4", "k5", "new"]
        assert keys(database.read_all(others)) == []
        assert database.fingerprints(SPEC).rows() != before


def test_a_writer_is_not_kept_waiting(schema: Schema) -> None:
    with filled(schema, 3).open() as database:
        stream = database.read_all(SPEC)
        next(stream)
        schema.execute("set lock_timeout to '2s'", "update things set amount = 0")


def test_a_locked_table_is_a_clear_error(schema: Schema) -> None:
    """Waits no longer than it may, and says that a later try may go well."""
    filled(schema, 3)
    with schema.server.connect(autocommit=False) as writer, writer.cursor() as cursor:
        cursor.execute(f"lock table {schema.name}.things in access exclusive mode")
        with schema.open(busy_timeout_seconds=0.2) as database, pytest.raises(GristmillError) as error:
            list(database.read_all(SPEC))
        assert (
            str(error.value)
            == f"source {database.path} is locked by a writer: canceling statement due to lock timeout; "
            "run again when it is free"
        )
        writer.rollback()


@pytest.mark.parametrize(
    "statement", ["delete from {0}.things", "create table {0}.x (a int)", "select nextval('{0}.s')"]
)
def test_nothing_can_be_written(statement: str, schema: Schema) -> None:
    """G4: not even by the owner, and not by a statement of ours."""
    filled(schema, 3)
    schema.execute("create sequence s")
    with PostgresDatabase(schema.server.owner_uri, schema.name) as database:
        assert keys(database.read_all(SPEC)) == ["k1", "k2", "k3"]
        with pytest.raises(GristmillError, match="read-only transaction"):
            database._connection.rows(statement.format(schema.name))
    assert schema.server.ask(f"select count(*) from {schema.name}.things") == [(3,)]


def test_the_search_path_is_not_trusted(schema: Schema, server: Server) -> None:
    """A table, a function or an operator of the same name elsewhere on the path changes nothing."""
    filled(schema, 2)
    evil = f"{schema.name}_evil"
    role = f"{schema.name}_role"
    server.execute(
        f"create schema {evil}",
        f"create table {evil}.things (key text, at timestamptz)",
        f"create function {evil}.octet_length(text) returns int language sql as 'select 1/0'",
        f"create role {role} login password {sql(READER_PASSWORD)} in role reader",
        f"grant usage on schema {evil} to {role}",
        f"alter role {role} set search_path to {evil}, pg_catalog",
        f"alter role {role} set statement_timeout to '9s'",
        f"alter role {role} set timezone to 'Asia/Tokyo'",
        f"alter role {role} set default_transaction_isolation to 'read committed'",
        f"alter role {role} set extra_float_digits to -10",
    )
    with PostgresDatabase(server.uri(user=role), schema.name) as database, schema.open() as plain:
        assert keys(database.read_all(SPEC)) == ["k1", "k2"]
        assert database.fingerprints(SPEC).rows() == plain.fingerprints(SPEC).rows()
        assert database.originals(SPEC, [1]).rows() == plain.originals(SPEC, [1]).rows()
        assert database._connection.rows("select current_setting('statement_timeout') as t") == [{"t": "0"}]


# --- days ------------------------------------------------------------------------------------------------------------


def expected_day(moment: datetime) -> int | None:
    return (moment - EPOCH) // timedelta(days=1) if FIRST <= moment < END else None


def days_found(schema: Schema, declared: str, values: list[str]) -> list[int | None]:
    """The day each value is found under, by asking for the rows of each fingerprinted day."""
    rows = ", ".join(f"('{n}', {value})" for n, value in enumerate(values))
    schema.execute(
        "drop table if exists things",
        f"create table things (key text, at {declared})",
        f"insert into things values {rows}",
    )
    found: dict[int, int | None] = {}
    with schema.open() as database:
        for day, count, lowest, highest, _ in database.fingerprints(SPEC).rows():
            if day is None:
                rowids = database.undated_rowids(SPEC)
            else:
                rowids = pl.concat(database.read_days(SPEC, [day], lowest, highest))["source_rowid"].to_list()
            assert (len(rowids), min(rowids), max(rowids)) == (count, lowest, highest)
            found |= dict.fromkeys(rowids, day)
        values_read = pl.concat(database.read_all(SPEC))["at"]
    ours = values_read.to_frame().select(instant(pl.col("at")).dt.date().cast(pl.Int32)).to_series().to_list()
    milliseconds = [value is not None and value >= 1e11 for value in values_read]
    assert [day for day, is_ms in zip(ours, milliseconds, strict=True) if not is_ms] == [
        found[n + 1] for n, is_ms in enumerate(milliseconds) if not is_ms
    ]
    return [found[n + 1] for n in range(len(values))]


EDGES = [
    edge + step
    for edge in (FIRST, EPOCH + timedelta(days=DAY), END)
    for step in (timedelta(microseconds=-1), timedelta(), timedelta(microseconds=1), timedelta(hours=5))
]


@pytest.mark.parametrize("declared", ["timestamptz", "timestamp", "text", "double precision", "numeric"])
def test_days_at_the_boundaries(declared: str, schema: Schema) -> None:
    """G1: the microsecond before midnight and the one after, whatever the column is."""
    values = [f"'{edge.isoformat()}'" for edge in EDGES]
    if declared == "timestamp":
        values = [f"'{edge.replace(tzinfo=None).isoformat()}'" for edge in EDGES]
    elif declared in ("double precision", "numeric"):
        values = [f"'{(edge - EPOCH) / timedelta(microseconds=1) / 1e6!r}'" for edge in EDGES]
    assert days_found(schema, declared, values) == [expected_day(edge) for edge in EDGES]


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.datetimes(datetime(1995, 1, 1), datetime(2105, 1, 1)), min_size=1, max_size=20), st.integers(-12, 14)
)
def test_days_are_those_of_python(new_schema: Callable[..., Schema], moments: list[datetime], offset: int) -> None:
    """G1: timestamps with any offset, and the same ones as texts."""
    aware = [moment.replace(tzinfo=UTC) for moment in moments]
    hours = timedelta(hours=offset)
    values = [f"'{(moment + hours).replace(tzinfo=None).isoformat()}{offset:+03d}:00'" for moment in aware]
    schema = new_schema()
    for declared in ("timestamptz", "text"):
        assert days_found(schema, declared, values) == [expected_day(moment) for moment in aware]


def test_numbers_in_milliseconds_and_other_numbers(schema: Schema) -> None:
    """G1: what can only be milliseconds is on the day it means."""
    values = ["1768000000", "1768000000123", "99999999999", "1e14", "0", "-1", "'NaN'", "'Infinity'", "null"]
    assert days_found(schema, "double precision", values) == [DAY, DAY, *[None] * 7]
    assert days_found(schema, "numeric", [*values, "'1e400'"]) == [DAY, DAY, *[None] * 8]
    assert days_found(schema, "bigint", values[:3]) == [DAY, DAY, None]


def test_what_has_no_day(schema: Schema) -> None:
    """G6: infinities, years before Christ and after 2100, and no time at all are found by looking for them."""
    values = ["'infinity'", "'-infinity'", "'0044-03-15 BC'", "'5000-01-01'", "'1999-12-31 23:59:59.999999+00'", "null"]
    assert days_found(schema, "timestamptz", [*values, "'2026-01-09+00'"]) == [*[None] * 6, DAY]
    assert days_found(schema, "date", ["'infinity'", "'2026-01-09'", "'0044-03-15 BC'"]) == [None, DAY, None]
    assert days_found(schema, "text", ["'never'", "'2026-01-09'", "''", "' 2026-01-09T10:00:00Z'"]) == [
        None,
        DAY,
        None,
        DAY,
    ]
    schema.execute("alter table things alter at type boolean using true")
    with schema.open() as database:
        assert database.undated_rowids(SPEC) == [1, 2, 3, 4]
    spec = TableSpec(system="test", name="things", columns={"key": "text"}, required=("key",), key="key")
    with schema.open() as database:
        assert [row[:4] for row in database.fingerprints(spec).rows()] == [(None, 4, 1, 4)]
        assert database.undated_rowids(spec) == []


def test_only_the_days_asked_for(schema: Schema) -> None:
    with filled(schema, 100).open() as database:
        days = {day: (low, high) for day, _, low, high, _ in database.fingerprints(SPEC).rows()}
        assert list(days) == [DAY + n for n in range(5)]
        assert len(keys(database.read_days(SPEC, [DAY, DAY + 2], days[DAY][0], days[DAY + 2][1]))) == 48
        assert keys(database.read_days(SPEC, [DAY + 50], 1, 100)) == []


# --- fingerprints (G7) -----------------------------------------------------------------------------------------------


def fingerprints(schema: Schema) -> list[tuple[Any, ...]]:
    with schema.open() as database:
        return database.fingerprints(SPEC).rows()


EDITS = [
    "amount = 8",
    "amount = null",
    "amount = 0",
    "share = 0.2500001",
    "share = null",
    "note = 'longer'",
    "note = null",
    "note = ''",
    "tags = '{a}'",
    "tags = '{a,B}'",
    "tags = null",
    "tags = '{}'",
    "at = at + interval '1 day'",
    "at = null",
    "amount = null, share = 1",
]


@pytest.mark.parametrize("declared", ["timestamptz", "text"])
@pytest.mark.parametrize("keyed", ["", "id serial primary key, "], ids=["by place", "by key"])
def test_every_edit_changes_the_fingerprint(keyed: str, declared: str, new_schema: Callable[..., Schema]) -> None:
    """G7: each edit gives another fingerprint than any other, and only that of its own day changes."""
    found, schema = [], new_schema()
    for edit in ["key = key", *EDITS]:
        schema = new_schema()
        table = TABLE.replace("(key", f"({keyed}key").replace("at timestamptz", f"at {declared}")
        filled(schema, 30, table)
        edit = edit.replace("at + interval '1 day'", f"(at::timestamptz + interval '1 day')::{declared}")  # noqa: PLW2901
        schema.execute(f"update things set {edit} where key = 'k1'")
        if not keyed:  # the row moved; a fingerprint of what it holds must differ, too
            schema.execute("create table copied as select * from things order by key", "drop table things")
            schema.execute("alter table copied rename to things")
        found.append(fingerprints(schema))
    assert len({str(rows) for rows in found}) == len(found)
    assert len({str(rows[1][1:]) for rows in found if rows[0][1] == 24}) == 1
    with schema.open() as database:
        assert fingerprints(schema) == [tuple(row) for row in database.look(SPEC, FingerprintCache(None)).days]


def test_inserts_and_deletes_change_the_fingerprint(schema: Schema) -> None:
    states = [fingerprints(filled(schema, 5))]
    for change in (
        "delete from things where key = 'k2'",
        "insert into things select * from things where key = 'k1'",
        "vacuum full things",
    ):
        schema.execute(change)
        states.append(fingerprints(schema))
    assert len({str(state) for state in states}) == 4


def test_a_set_of_texts_scanned_in_pieces(schema: Schema, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(schema, 100, TABLE.replace("timestamptz", "text"))
    expected = fingerprints(schema)
    monkeypatch.setattr(postgres, "SCAN_BATCH_ROWS", 7)
    assert fingerprints(schema) == expected
    assert [row[:2] for row in expected] == [(DAY + n, min(24, 100 - 24 * n)) for n in range(5)]


# --- what a row is found again by ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "is_key"),
    [
        ("create table things (id bigserial primary key, key text, at timestamptz)", True),
        ("create table things (number smallint primary key, id int, key text, at timestamptz)", True),
        ("create table things (id int not null unique, key text, at timestamptz)", True),
        ("create table things (id int not null, key text primary key, at timestamptz, unique (id))", True),
        ("create table things (id int unique, key text, at timestamptz)", False),
        ("create table things (id int not null, key text, at timestamptz, unique (id, key))", False),
        ("create table things (number int not null unique, id int, key text, at timestamptz)", False),
        ("create table things (id uuid primary key default gen_random_uuid(), key text, at timestamptz)", False),
        (
            "create table things (id int, key text, at timestamptz); create unique index on things (id) where id > 5",
            False,
        ),
    ],
)
def test_the_key_or_the_place(table: str, is_key: bool, schema: Schema) -> None:
    """source_rowid is the integer key if the table vouches for one, else the row's place."""
    number = "number" if "number" in table else "id"
    columns = f"{number}, " if "uuid" not in table else ""
    values = [f"({f'{n * 100}, ' if columns else ''}'k{n}', '2026-01-09+00')" for n in range(1, 6)]
    schema.execute(*table.split("; "), f"insert into things ({columns}key, at) values {', '.join(values)}")
    expected = [100, 200, 300, 400, 500] if is_key else [1, 2, 3, 4, 5]
    with schema.open() as database:
        assert pl.concat(database.read_all(SPEC))["source_rowid"].to_list() == expected
        assert database.fingerprints(SPEC).rows()[0][:4] == (DAY, 5, expected[0], expected[-1])
        assert keys(database.read_rows(SPEC, [expected[1], expected[3], 7, -1])) == ["k2", "k4"]
        assert database.originals(SPEC, [expected[3], expected[1], -5])["source_rowid"].to_list() == [
            expected[1],
            expected[3],
        ]
        assert keys(database.read_days(SPEC, [DAY], expected[1], expected[3])) == ["k2", "k3", "k4"]


def test_places_in_many_blocks(schema: Schema) -> None:
    """A place is block * 65536 + line, in the order of the table."""
    schema.execute(
        TABLE,
        "alter table things alter note set storage plain",
        "insert into things (key, at, note) select n, '2026-01-09+00', repeat('x', 3000) from generate_series(1, 50) n",
    )
    with schema.open() as database:
        rows = pl.concat(database.read_all(SPEC))
        rowids = rows["source_rowid"].to_list()
        assert rowids == sorted(rowids)
        assert rowids[-1] > 20 * 65_536
        assert keys(database.read_rows(SPEC, [rowids[30]])) == [rows["key"][30]]
        assert database.fingerprints(SPEC).rows()[0][:4] == (DAY, 50, rowids[0], rowids[-1])


def test_partitioned_tables_and_views(schema: Schema) -> None:
    """They are read by an integer id that is unique; else one line says why they cannot be read."""
    schema.execute(
        "create table things (id bigint, key text, at timestamptz) partition by range (at)",
        "create table things_1 partition of things for values from ('2026-01-01+00') to ('2026-02-01+00')",
        "create table things_2 partition of things for values from ('2026-02-01+00') to ('2026-03-01+00')",
        "insert into things values (10, 'a', '2026-01-09+00'), (20, 'b', '2026-02-09+00')",
        "create table base (id int, key text, at timestamptz)",
        "insert into base values (1, 'a', now()), (1, 'b', now())",
        "create view keyless as select * from base",
        "create view lucky as select 5 as id, 'k' as key, timestamptz '2026-01-09+00' as at",
        "create materialized view made as select 'k' as key, timestamptz '2026-01-09+00' as at",
        "create table parent (id int primary key, key text, at timestamptz)",
        "create table child () inherits (parent)",
        "insert into parent values (1, 'a', '2026-01-09+00')",
        "insert into child values (1, 'b', '2026-01-09+00')",
    )

    def named(name: str) -> TableSpec:
        return TableSpec(**{**SPEC.__dict__, "name": name})

    with schema.open() as database:
        assert {"things", "things_1", "keyless", "lucky", "made", "parent"} <= database.tables
        assert pl.concat(database.read_all(SPEC))["source_rowid"].to_list() == [10, 20]
        assert keys(database.read_rows(SPEC, [20])) == ["b"]
        assert keys(database.read_all(named("lucky"))) == ["k"]
        for name, what in (("keyless", "a view"), ("made", "a view"), ("parent", "inherited")):
            with pytest.raises(GristmillError) as error:
                database.shape(named(name))
            assert str(error.value) == (
                f"{database.path}: table '{name}' is {what} and has no integer key `id`: its rows cannot be told apart"
            )


def test_a_part_of_a_table(schema: Schema) -> None:
    """Rows that do not pass are not there: not counted, not read, not looked up."""
    filled(schema, 30)
    part = replace(SPEC, part="even", where_postgres="amount % 2 = 0 or amount = 25")
    with schema.open() as database:
        assert [row[1] for row in database.fingerprints(part).rows()] == [12, 4]
        assert keys(database.read_days(part, [DAY + 1], 1, 30)) == ["k25", "k26", "k28", "k30"]
        assert len(keys(database.read_all(part))) == 16
        assert keys(database.read_rows(part, [1, 2])) == ["k2"]
        assert database.originals(part, [1, 2])["source_rowid"].to_list() == [2]
        assert len(keys(database.read_all(SPEC))) == 30


def test_names_that_are_taken_or_odd(server: Server) -> None:
    """Columns called like ours, names that need quotes, and names in capitals."""
    name = 'Kdcube "ä" it\'s'
    columns = ("rowid", "day", "digest", "extra", "c0", "f0", "T", "source_rowid", "problems", 'Über "x"')
    quoted_columns = [f'"{column.replace(chr(34), chr(34) * 2)}"' for column in columns]
    schema = f'"{name.replace(chr(34), chr(34) * 2)}"'
    server.execute(
        f"create schema {schema}",
        f'create table {schema}."Things" ("Key" text, "AT" timestamptz, amount text, {" int, ".join(quoted_columns)} int)',
        f"insert into {schema}.\"Things\" values ('k', '2026-01-09+00', 'x', {', '.join('7' for _ in columns)})",
        f"grant usage on schema {schema} to reader",
        f"grant select on all tables in schema {schema} to reader",
    )
    with PostgresDatabase(server.uri(), name) as database:
        (row,) = pl.concat(database.read_all(SPEC)).rows(named=True)
        assert (row["source_rowid"], row["key"], row["problems"]) == (1, "k", ["wrong_type:amount"])
        assert json.loads(row["extra"]) == dict.fromkeys(columns, 7)
        assert database.shape(SPEC).unknown == columns
        assert database.fingerprints(SPEC).rows()[0][:4] == (DAY, 1, 1, 1)
        assert json.loads(database.originals(SPEC, [1])["row"][0])["AT"] == "2026-01-09 00:00:00+00"


def test_two_ways_to_read_one_table(schema: Schema) -> None:
    narrow = TableSpec(system="test", name="things", columns={"amount": "id"}, required=("amount",), key="amount")
    with filled(schema, 2).open() as database:
        assert keys(database.read_all(SPEC)) == ["k1", "k2"]
        assert pl.concat(database.read_all(narrow))["amount"].to_list() == ["1", "2"]
        assert database.undated_rowids(narrow) == database.undated_rowids(SPEC) == []


# --- the documents' tables -------------------------------------------------------------------------------------------

U = "00000000-0000-0000-0000-00000000000"


def test_the_tables_of_seed_4(schema: Schema) -> None:
    schema.execute(
        *SESSIONS_DDL,
        *(f"insert into {table} values ('{U}1')" for table in ("tenants", "workspaces", "slices", "users")),
        f"insert into ai_sessions values ('{U}2', '{U}1', '{U}1', null, '{U}1', array['{U}8','{U}9']::uuid[], 812, "
        "'2026-01-09 10:00:00+00', null, '2026-01-09 10:00:00.25+00', null, '2026-01-09 10:00:00+00')",
        f"insert into session_feedback values ('{U}3', '{U}1', '{U}2', 'NEGATIVE', '{{OUTDATED_INFO,NULL}}', null, 'nö', "
        f"80, null, 0, 'approved', 57, '{{}}', '2026-01-10 11:00:00+00', '{U}1')",
    )
    with schema.open() as database:
        (session,) = pl.concat(database.read_all(SESSIONS)).rows(named=True)
        (feedback,) = pl.concat(database.read_all(FEEDBACK)).rows(named=True)
        assert database.shape(FEEDBACK).missing == ("submitted_by_id",)
        assert database.shape(SESSIONS).unknown == ()
    assert session == {
        "source_rowid": 1,
        "id": f"{U}2",
        "tenant_id": f"{U}1",
        "workspace_id": f"{U}1",
        "slice_id": None,
        "user_id": f"{U}1",
        "context_document_ids": f'["{U}8","{U}9"]',
        "context_node_ids": None,
        "context_token_count": 812,
        "context_compiled_at": 1_767_952_800.0,
        "query_hash": None,
        "started_at": 1_767_952_800.25,
        "ended_at": None,
        "created_at": 1_767_952_800.0,
        "extra": None,
        "problems": [],
    }
    assert feedback == {
        "source_rowid": 1,
        "id": f"{U}3",
        "tenant_id": f"{U}1",
        "session_id": f"{U}2",
        "rating": "NEGATIVE",
        "error_categories": '["OUTDATED_INFO",null]',
        "missing_context": None,
        "comment": "nö",
        "accuracy_score": 80,
        "completeness_score": None,
        "style_match_score": 0,
        "review_verdict": "approved",
        "edit_distance": 57,
        "output_issues": "[]",
        "submitted_at": 1_768_042_800.0,
        "submitted_by": f"{U}1",
        "submitted_by_id": None,
        "extra": None,
        "problems": [],
    }


def test_the_table_of_seed_3(schema: Schema) -> None:
    """Only reactions and turn logs are read, never what is left behind, and rows are found by their id."""
    insert = "insert into conv_messages (user_id, conversation_id, role, text, ts, tags, embedding, search_tsv) values"
    schema.execute(
        MESSAGES_DDL,
        f"{insert} ('u', 'c', 'user', 'hi', '2026-01-09+00', '{{}}', '{{1,2}}', 'hi')",
        f"{insert} ('u', 'c', 'artifact', '[turn.log.reaction] {{}}', '2026-01-09+00', "
        "'{artifact:turn.log.reaction,turn:t1,origin:user}', '{1,2}', 'secret')",
        f"{insert} ('u', 'c', 'artifact', '{{}}', 'infinity', '{{kind:turn.log.reaction}}', null, null)",
    )
    reactions = replace(MESSAGES, part="reactions", where_postgres=ONLY_REACTIONS)
    with schema.open() as database:
        first, second = pl.concat(database.read_all(reactions)).rows(named=True)
        assert database.shape(reactions).missing == ("s3_uri", "track_id")
        assert database.shape(reactions).unknown == ()
        assert [row[:4] for row in database.fingerprints(reactions).rows()] == [(DAY, 1, 2, 2), (None, 1, 3, 3)]
        assert database.undated_rowids(reactions) == [3]
        original = json.loads(database.originals(reactions, [2])["row"][0])
    assert (first["source_rowid"], first["id"], first["ts"]) == (2, 2, 1_767_916_800.0)
    assert first["tags"] == '["artifact:turn.log.reaction","turn:t1","origin:user"]'
    assert (second["source_rowid"], second["ts"], second["problems"]) == (3, None, ["out_of_range:ts"])
    assert "embedding" not in original
    assert "search_tsv" not in original
    assert original["tags"] == ["artifact:turn.log.reaction", "turn:t1", "origin:user"]


def test_intake_works_with_it(schema: Schema, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The spine reads days, refuses rows and fetches their originals while the table is streaming."""
    monkeypatch.setattr(postgres_connection, "BATCH_ROWS", 5)
    filled(schema, 60)
    schema.execute("update things set share = 'NaN' where key in ('k3', 'k30')")

    def canonical(batch: pl.DataFrame, _: OpenFile) -> pl.DataFrame:
        moment = instant(pl.col("at"))
        return batch.with_columns(moment.alias("occurred_at"), moment.dt.date().alias("event_date"))

    table = DatedTable(SPEC, canonical, source_schema(SPEC, [not_null("at")]))
    with schema.open() as database:
        files = [OpenFile("things", 0, database)]  # pyright: ignore[reportArgumentType]
        seen = look(files, SPEC, FingerprintCache(tmp_path))
        groups = []
        for read in read_days(table, files, seen, seen.dates, tmp_path / "days"):
            assert isinstance(read, ReadDays)
            group = judged(table, read)
            groups.append((group.kept, quarantined(table, group, {"things": files[0]})))
    assert sum(kept.height for kept, _ in groups) == 58
    refused = pl.concat(refused for _, refused in groups)
    assert sorted(refused["key"].to_list()) == ["k3", "k30"]
    assert refused["reasons"].to_list() == [["not_finite:share"]] * 2
    assert json.loads(refused["row"][0])["share"] == {"$float": "nan"}
