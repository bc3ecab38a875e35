"""Postgres values, type by type: what is read, what is refused (G5), and what a row is written down as (G11)."""

import json
import math
import sqlite3
import struct
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from dagster_project.contracts.source_table import TableSpec
from dagster_project.databases import postgres_connection
from dagster_project.databases.sqlite import SqliteDatabase
from tests.postgres.server import Schema, sql

ONE = "value"
MOMENT = "2026-01-09 23:06:40.123456"
SECONDS = 1_768_000_000.123456


def spec_of(kind: str) -> TableSpec:
    return TableSpec(system="test", name="things", columns={"key": "text", ONE: kind}, required=("key",), key="key")


def read(schema: Schema, spec: TableSpec) -> list[dict[str, Any]]:
    with schema.open() as database:
        return [row for batch in database.read_all(spec) for row in batch.rows(named=True)]


def one_value(schema: Schema, kind: str, declared: str, value: str) -> tuple[Any, list[str]]:
    """What becomes of one value of a column beside a good neighbour and a null."""
    schema.execute(
        f"create table things (key text, {ONE} {declared})", f"insert into things values ('a', {value}), ('b', null)"
    )
    first, second = read(schema, spec_of(kind))
    assert (first["source_rowid"], first["key"], first["extra"]) == (1, "a", None)
    assert second == {"source_rowid": 2, "key": "b", ONE: None, "extra": None, "problems": []}
    assert list(first) == ["source_rowid", "key", ONE, "extra", "problems"]
    return first[ONE], first["problems"]


# Kind, declaration, stored value, what is read.
RIGHT: list[tuple[str, str, str, Any]] = [
    ("text", "text", "'plain'", "plain"),
    ("text", "text", "''", ""),
    ("text", "text", "'ünï 🌾 \u2028 \U0010ffff'", "ünï 🌾 \u2028 \U0010ffff"),
    ("text", "varchar(20)", "'short'", "short"),
    ("text", "char(4)", "'ab'", "ab"),
    ("text", '"char"', "'x'", "x"),
    ("text", "name", "'ident'", "ident"),
    ("text", "uuid", "'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
    ("text", "json", "'{\"a\" :  [1]}'", '{"a" :  [1]}'),
    ("text", "jsonb", "'{\"a\" :  [1]}'", '{"a": [1]}'),
    ("text", "bytea", "'\\x62c3b662'", "böb"),
    ("text", "bytea", "''", ""),
    ("id", "text", "'k-1'", "k-1"),
    ("id", "smallint", "-7", "-7"),
    ("id", "bigint", "9223372036854775807", "9223372036854775807"),
    ("id", "numeric(30)", "123456789012345678901234567890", "123456789012345678901234567890"),
    ("id", "numeric(9,2)", "12", "12"),
    ("id", "uuid", "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
    ("integer", "smallint", "-32768", -32768),
    ("integer", "int", "2147483647", 2147483647),
    ("integer", "bigint", "(-9223372036854775808)", -(2**63)),
    ("integer", "boolean", "true", 1),
    ("integer", "boolean", "false", 0),
    ("integer", "numeric", "9223372036854775807", 2**63 - 1),
    ("integer", "numeric(5,2)", "80", 80),
    ("real", "double precision", "0.1", 0.1),
    ("real", "double precision", "'5e-324'", 5e-324),
    ("real", "double precision", "'1.7976931348623157e308'", 1.7976931348623157e308),
    ("real", "real", "0.1", struct.unpack("f", struct.pack("f", 0.1))[0]),
    ("real", "int", "3", 3.0),
    ("real", "bigint", "9007199254740992", 9007199254740992.0),
    ("real", "bigint", "-9223372036854775808", -9223372036854775808.0),
    ("real", "bigint", "1152921504606846976", float(2**60)),
    ("real", "numeric", "9007199254740994", 9007199254740994.0),
    ("real", "numeric", "9007199254740992.5", 9007199254740992.0),
    ("real", "numeric", "123456789012345678901234", 1.2345678901234568e23),
    ("real", "numeric(5,2)", "66.67", 66.67),
    ("real", "numeric", "0.1", 0.1),
    ("real", "numeric", "'1e-400'", 0.0),
    ("real", "numeric", "'-1e-400'", 0.0),
    ("real", "numeric", "'5e-324'", 5e-324),
    ("real", "numeric", "'1.7976931348623157e308'", 1.7976931348623157e308),
    ("time", "timestamptz", f"'{MOMENT}+00'", SECONDS),
    ("time", "timestamptz", "'2026-01-10 01:06:40.123456+02'", SECONDS),
    ("time", "timestamptz(3)", f"'{MOMENT}+00'", 1_768_000_000.123),
    ("time", "timestamp", f"'{MOMENT}'", SECONDS),
    ("time", "date", "'2026-01-09'", 1_767_916_800.0),
    ("time", "timestamptz", "'1970-01-01 00:00:00+00'", 0.0),
    ("time", "timestamptz", "'1969-12-31 23:59:59.999999+00'", -0.000001),
    ("time", "timestamptz", "'0001-01-01 00:00:00+00'", -62_135_596_800.0),
    ("time", "timestamptz", "'9999-12-31 23:59:59+00'", 253_402_300_799.0),
    ("time", "text", f"'{MOMENT.replace(' ', 'T')}Z'", SECONDS),
    ("time", "text", "'2026-01-10T01:06:40.123456+02:00'", SECONDS),
    ("time", "varchar", f"'{MOMENT}'", SECONDS),
    ("time", "text", "'1768000000.5'", 1_768_000_000.5),
    ("time", "numeric", "1768000000.123456", SECONDS),
    ("time", "bigint", "1768000000123", 1_768_000_000_123.0),
    ("time", "double precision", "1768000000.5", 1_768_000_000.5),
    # the value is null, and what it was is in the original
    ("time", "timestamptz", "'infinity'", None),
    ("time", "timestamptz", "'-infinity'", None),
    ("time", "timestamp", "'infinity'", None),
    ("time", "date", "'-infinity'", None),
    ("time", "timestamptz", "'0044-03-15 12:00:00+00 BC'", None),
    ("time", "date", "'0044-03-15 BC'", None),
    ("time", "timestamp", "'294276-12-31 23:59:59'", None),
    ("time", "date", "'5874897-12-31'", None),
    ("list", "text[]", "'{}'", "[]"),
    ("list", "text[]", "array['a', null, 'b,c', '', 'NULL']", '["a",null,"b,c","","NULL"]'),
    (
        "list",
        "text[]",
        "array['say \"hi\"', 'back\\slash', '{braces}', E'tab\\tnew\\nline', 'ünï 🌾']",
        json.dumps(
            ['say "hi"', "back\\slash", "{braces}", "tab\tnew\nline", "ünï 🌾"],
            ensure_ascii=False,
            separators=(",", ":"),
        ),
    ),
    ("list", "varchar(9)[]", "array['a']", '["a"]'),
    (
        "list",
        "uuid[]",
        "array['A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11']::uuid[]",
        '["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"]',
    ),
    ("list", "int[]", "array[1, null, -2]", '["1",null,"-2"]'),
    ("list", "text[]", "'[5:6]={a,b}'", '["a","b"]'),
    ("list", "jsonb", '\'["a", null, "ü"]\'', '["a", null, "ü"]'),
    ("list", "json", "'[\"a\"]'", '["a"]'),
    ("list", "jsonb", "'null'", None),
    ("list", "text", "'[\"a\"]'", '["a"]'),
]


@pytest.mark.parametrize(("kind", "declared", "value", "expected"), RIGHT)
def test_a_right_value_is_read_as_it_is(kind: str, declared: str, value: str, expected: Any, schema: Schema) -> None:
    """G1, G5: every declaration a kind may have."""
    found, problems = one_value(schema, kind, declared, value)
    assert problems == []
    assert (found, type(found)) == (expected, type(expected))


# Kind, declaration, stored value, reason. The value is null but for numbers that are not finite.
WRONG: list[tuple[str, str, str, str]] = [
    ("text", "int", "5", "wrong_type"),
    ("text", "boolean", "true", "wrong_type"),
    ("text", "timestamptz", "now()", "wrong_type"),
    ("text", "text[]", "array['a']", "wrong_type"),
    ("text", "interval", "'1 day'", "wrong_type"),
    ("text", "bytea", "'\\xff'", "wrong_type"),
    ("text", "bytea", "'\\x610062'", "bad_text"),
    ("id", "double precision", "5", "wrong_type"),
    ("id", "numeric", "1.5", "wrong_type"),
    ("id", "numeric", "'NaN'", "wrong_type"),
    ("id", "numeric", "'Infinity'", "wrong_type"),
    ("integer", "text", "'5'", "wrong_type"),
    ("integer", "numeric", "1.5", "wrong_type"),
    ("integer", "numeric", "9223372036854775808", "wrong_type"),
    ("integer", "numeric", "'NaN'", "wrong_type"),
    ("integer", "numeric", "'-Infinity'", "wrong_type"),
    ("integer", "double precision", "1", "wrong_type"),
    ("integer", "timestamptz", "now()", "wrong_type"),
    ("real", "text", "'0.5'", "wrong_type"),
    ("real", "bigint", "9007199254740993", "wrong_type"),
    ("real", "bigint", "-9007199254740993", "wrong_type"),
    ("real", "bigint", "9223372036854775807", "wrong_type"),
    ("real", "numeric", "9007199254740993", "wrong_type"),
    ("real", "numeric(20,2)", "-9007199254740993.00", "wrong_type"),
    ("real", "boolean", "true", "wrong_type"),
    ("real", "bytea", "'\\x00'", "wrong_type"),
    ("real", "timestamptz", "now()", "wrong_type"),
    ("real", "double precision", "'NaN'", "not_finite"),
    ("real", "double precision", "'Infinity'", "not_finite"),
    ("real", "real", "'-Infinity'", "not_finite"),
    ("real", "numeric", "'NaN'", "not_finite"),
    ("real", "numeric", "'-Infinity'", "not_finite"),
    ("real", "numeric", "'1e400'", "not_finite"),
    ("real", "numeric", "'-1e400'", "not_finite"),
    ("time", "double precision", "'NaN'", "not_finite"),
    ("time", "boolean", "true", "wrong_type"),
    ("time", "interval", "'1 day'", "wrong_type"),
    ("time", "text", "'yesterday'", "wrong_type"),
    ("time", "text", "'2026-13-01'", "wrong_type"),
    ("time", "bytea", "'\\x32'", "wrong_type"),
    ("list", "text[]", "'{{a},{b}}'", "wrong_type"),
    ("list", "int[]", "'{{1,2},{3,4}}'", "wrong_type"),
    ("list", "jsonb", "'{\"a\": 1}'", "wrong_type"),
    ("list", "jsonb", "'\"a\"'", "wrong_type"),
    ("list", "int", "1", "wrong_type"),
]


@pytest.mark.parametrize(("kind", "declared", "value", "reason"), WRONG)
def test_a_wrong_value_is_named(kind: str, declared: str, value: str, reason: str, schema: Schema) -> None:
    """G5: the row is refused for this column; the rows beside it are read."""
    found, problems = one_value(schema, kind, declared, value)
    assert problems == [f"{reason}:{ONE}"]
    if reason == "wrong_type":
        assert found is None
    if reason == "not_finite":
        assert found is not None and not math.isfinite(found)


def test_enums_domains_and_citext(schema: Schema) -> None:
    """Types of the user's own: an enum is a text, a domain is what it is made of, citext is a text."""
    schema.execute(  # the extension is in few installations, its type is soon made
        "create type citext",
        "create function citext_in(cstring) returns citext immutable strict language internal as 'textin'",
        "create function citext_out(citext) returns cstring immutable strict language internal as 'textout'",
        "create function citext_send(citext) returns bytea stable strict language internal as 'textsend'",
        "create type citext (input = citext_in, output = citext_out, send = citext_send, internallength = variable, "
        "storage = extended, category = 'S', collatable = true)",
        "create cast (citext as text) without function as implicit",
        "create type mood as enum ('glad', 'it''s, \"so\"')",
        "create domain score as int check (value >= 0)",
        "create domain better_score as score",
        "create domain words as text[]",
        "create table things (key citext, mood mood, moods mood[], score better_score, words words)",
        """insert into things values ('K', 'it''s, "so"', array['glad', null, 'it''s, "so"']::mood[], 7, '{a}')""",
    )
    columns = {"key": "text", "mood": "text", "moods": "list", "score": "integer", "words": "list"}
    spec = TableSpec(system="test", name="things", columns=columns, required=("key",), key="key")
    (row,) = read(schema, spec)
    assert row == {
        "source_rowid": 1,
        "key": "K",
        "mood": 'it\'s, "so"',
        "moods": '["glad",null,"it\'s, \\"so\\""]',
        "score": 7,
        "words": '["a"]',
        "extra": None,
        "problems": [],
    }


def test_the_frame_is_exactly_that_of_sqlite(schema: Schema) -> None:
    """Columns, their order and types, with missing ones null and unknown ones in `extra`."""
    kinds = {"key": "text", "who": "id", "amount": "integer", "share": "real", "at": "time", "tags": "list"}
    missing = {f"no_{kind}": kind for kind in kinds.values()}
    spec = TableSpec(
        system="test", name="things", columns=kinds | missing, required=("key",), key="key", left_behind=("embedding",)
    )
    schema.execute(
        'create table things (key text, "Who" int, amount int, share float8, at timestamptz, tags text[], embedding text, '
        '"it\'s ""odd""" numeric, mood text)',
        "insert into things values ('a', 5, 1, 0.5, '2026-01-09 00:00+00', '{x}', 'never', 1.50, null)",
        "insert into things (key) values ('b')",
    )
    with schema.open() as database:
        found = pl.concat(database.read_all(spec))
        shape = database.shape(spec)
    assert shape.missing == tuple(missing)
    assert shape.unknown == ('it\'s "odd"', "mood")
    none = {name: [None, None] for name in missing}
    types = {
        "text": pl.String,
        "id": pl.String,
        "integer": pl.Int64,
        "real": pl.Float64,
        "time": pl.Float64,
        "list": pl.String,
    }
    expected = pl.DataFrame(
        {
            "source_rowid": [1, 2],
            "key": ["a", "b"],
            "who": ["5", None],
            "amount": [1, None],
            "share": [0.5, None],
            "at": [1_767_916_800.0, None],
            "tags": ['["x"]', None],
            **none,
            "extra": ['{"it\'s \\"odd\\"":1.50,"mood":null}', None],
            "problems": [[], []],
        },
        schema={
            "source_rowid": pl.Int64,
            **{name: types[kind] for name, kind in (kinds | missing).items()},
            "extra": pl.String,
            "problems": pl.List(pl.String),
        },
    )
    assert_frame_equal(found, expected)


def test_all_wrong_columns_of_a_row_are_named(schema: Schema) -> None:
    """G5, G11: all reasons, and an event time that no instant can say is out of range, not missing."""
    spec = TableSpec(
        system="test",
        name="things",
        columns={"key": "text", "at": "time", "n": "integer", "r": "real", "tags": "list"},
        required=("key",),
        key="key",
        event_time="at",
    )
    schema.execute(
        "create table things (key bytea, at timestamptz, n text, r float8, tags text[])",
        "insert into things values ('\\xff', 'infinity', 'x', 'NaN', '{{a}}')",
    )
    (row,) = read(schema, spec)
    assert row["problems"] == ["wrong_type:key", "out_of_range:at", "wrong_type:n", "not_finite:r", "wrong_type:tags"]


@pytest.mark.parametrize(
    ("declared", "value", "expected"),
    [
        ("int", "null", "null"),
        ("bigint", "9007199254740993", "9007199254740993"),
        ("numeric", "123456789012345678901234567890.1234567890", "123456789012345678901234567890.1234567890"),
        ("numeric", "'NaN'", '{"$float":"nan"}'),
        ("numeric", "'-Infinity'", '{"$float":"-inf"}'),
        ("double precision", "0.1", "0.1"),
        ("double precision", "'1e22'", "1e+22"),
        ("double precision", "'NaN'", '{"$float":"nan"}'),
        ("double precision", "'Infinity'", '{"$float":"inf"}'),
        ("boolean", "true", "true"),
        ("bytea", "'\\x00abff'", '{"$hex":"00abff"}'),
        ("text", "'say \"hi\" ünï 🌾'", '"say \\"hi\\" ünï 🌾"'),
        ("text", "''", '""'),
        ("jsonb", "'{\"a\": [1, null]}'", '{"a": [1, null]}'),
        ("json", "'\"\\ud800\"'", '"\\"\\\\ud800\\""'),
        ("timestamptz", "'infinity'", '"infinity"'),
        ("timestamptz", "'0044-03-15 12:00:00+00 BC'", '"0044-03-15 12:00:00+00 BC"'),
        ("timestamp", "'2026-01-09 12:00:00.5'", '"2026-01-09 12:00:00.5"'),
        ("text[]", "'{{a,null},{\"b,c\",d}}'", '[["a",null],["b,c","d"]]'),
        ("interval", "'1 day 2 hours'", '"1 day 02:00:00"'),
        ("inet", "'10.0.0.1'", '"10.0.0.1/32"'),
    ],
)
def test_an_original_is_exact(declared: str, value: str, expected: str, schema: Schema) -> None:
    """G11: the row as stored; numbers exact, what JSON cannot say in braces, and never what is left behind."""
    spec = TableSpec(
        system="test", name="things", columns={"key": "text"}, required=("key",), key="key", left_behind=("embedding",)
    )
    schema.execute(
        f"create table things (key text, {ONE} {declared}, embedding text)",
        f"insert into things values ('k', {value}, 'never')",
    )
    with schema.open() as database:
        found = database.originals(spec, [1, 2, -1, 2**62]).rows()
        extra = pl.concat(database.read_all(spec))["extra"].to_list()
        assert database.originals(spec, []).rows() == []
    assert found == [(1, f'{{"key":"k","{ONE}":{expected}}}')]
    assert extra == [None if expected == "null" else f'{{"{ONE}":{expected}}}']
    json.loads(found[0][1])


def test_a_database_that_does_not_know_its_encoding(new_schema: Callable[..., Schema]) -> None:
    """SQL_ASCII: texts may be any bytes. What is not UTF-8 is refused, and kept as hex."""
    schema = new_schema("ascii")
    schema.execute(
        "create table things (key text, at text, tags text[], note bytea, mood text)",
        "insert into things values ('gut', '2026-01-09', '{a,b}', '\\x61', 'ok'), ('b', 'x', null, null, null)",
        "insert into things select convert_from('\\x62ff', 'SQL_ASCII'), null, array[convert_from('\\xff', 'SQL_ASCII')]",
        "insert into things select 'd', null, null, null, convert_from('\\xfe', 'SQL_ASCII')",
        "insert into things values ('schön', '1768000000', null, null, 'ünï')",
    )
    spec = TableSpec(
        system="test",
        name="things",
        columns={"key": "text", "at": "time", "tags": "list", "note": "text"},
        required=("key",),
        key="key",
        event_time="at",
        edited=("key",),
    )
    rows = read(schema, spec)
    assert [row["key"] for row in rows] == ["gut", "b", None, "d", "schön"]
    assert [row["at"] for row in rows] == [1_767_916_800.0, None, None, None, 1_768_000_000.0]
    assert [row["problems"] for row in rows] == [
        [],
        ["wrong_type:at"],
        ["bad_text:key", "bad_text:tags"],
        ["bad_text:extra"],
        [],
    ]
    assert [row["extra"] for row in rows] == ['{"mood":"ok"}', None, None, None, '{"mood":"ünï"}']
    with schema.open() as database:
        originals = [json.loads(row) for row in database.originals(spec, [1, 3, 4, 5])["row"]]
        assert [day[:2] for day in database.fingerprints(spec).rows()] == [(20_462, 2), (None, 3)]
    assert originals[0] == {"key": "gut", "at": "2026-01-09", "tags": ["a", "b"], "note": {"$hex": "61"}, "mood": "ok"}
    assert (originals[1]["key"], originals[2]["mood"]) == ({"$hex": "62ff"}, {"$hex": "fe"})
    assert originals[3]["key"] == "schön"


def test_a_database_in_another_encoding(new_schema: Callable[..., Schema]) -> None:
    """The server turns what it knows into UTF-8."""
    schema = new_schema("latin")
    schema.execute("create table things (key text, value text[])", "insert into things values ('schön', array['ß'])")
    (row,) = read(schema, spec_of("list"))
    assert (row["key"], row[ONE], row["problems"]) == ("schön", '["ß"]', [])


# --- the same rows in SQLite and in Postgres give the same frames -----------------------------------------------------

SPEC = TableSpec(
    system="test",
    name="things",
    columns={"key": "text", "who": "id", "amount": "integer", "share": "real"},
    required=("key",),
    key="key",
    event_time="share",
)
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
ROWS = st.lists(
    st.tuples(
        TEXTS | st.none(),
        TEXTS | st.none(),
        st.integers(-(2**63), 2**63 - 1) | st.none(),
        st.floats(allow_nan=False) | st.floats(946_684_700, 4_102_444_900) | st.none(),
    ),
    max_size=12,
)


def of_sqlite(rows: Sequence[tuple[Any, ...]]) -> tuple[pl.DataFrame, list[tuple[Any, ...]]]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "s.db"
        with closing(sqlite3.connect(path)) as database:
            database.execute("create table things (key TEXT, who TEXT, amount INTEGER, share REAL)")
            database.executemany("insert into things values (?, ?, ?, ?)", rows)
            database.commit()
        with SqliteDatabase(path) as source:
            return _collected(source), [day[:4] for day in source.fingerprints(SPEC).rows()]


def _collected(source: Any) -> pl.DataFrame:
    return pl.concat([pl.DataFrame(schema=source_schema()), *source.read_all(SPEC)])


def source_schema() -> dict[str, Any]:
    types: dict[str, Any] = {"source_rowid": pl.Int64, "key": pl.String, "who": pl.String, "amount": pl.Int64}
    return types | {"share": pl.Float64, "extra": pl.String, "problems": pl.List(pl.String)}


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ROWS)
@example([("a", "1", 1, math.inf), ("b", "2", 2**53 + 1, 946_684_799.9999996), (None, None, None, 1_768_000_000_000.0)])
def test_the_same_rows_in_sqlite_and_in_postgres(
    new_schema: Callable[..., Schema], rows: list[tuple[Any, ...]]
) -> None:
    """G1, G5: equal frames, and equal days, whichever engine holds the rows."""
    schema = new_schema()
    values = ", ".join(f"({', '.join(sql(value) for value in row)})" for row in rows)
    schema.execute(
        "create table things (key text, who text, amount bigint, share double precision)",
        *([f"insert into things values {values}"] if rows else []),
    )
    expected, days = of_sqlite(rows)
    with schema.open() as database, pytest.MonkeyPatch.context() as patch:
        patch.setattr(postgres_connection, "BATCH_ROWS", 3)
        found = _collected(database)
        found_days = [day[:4] for day in database.fingerprints(SPEC).rows()]
    assert_frame_equal(found, expected, check_exact=True)
    assert found_days == days
