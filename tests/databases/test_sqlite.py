"""Reading SQLite tables whatever they hold: wrong values (G5), originals (G11), days (G1, G6) and fingerprints (G7)."""

import json
import math
import sqlite3
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dagster_project.columns.instants import instant, repair_milliseconds
from dagster_project.contracts.source_table import TableSpec
from dagster_project.databases import sqlite as extract
from dagster_project.databases.sqlite import SqliteDatabase
from dagster_project.errors import GristmillError
from dagster_project.systems.feedback.source import ENTRIES

SPEC = TableSpec(
    system="test",
    name="things",
    columns={"key": "text", "at": "real", "amount": "integer", "share": "real", "note": "text"},
    required=("key", "at"),
    key="key",
    event_time="at",
    edited=("amount", "share"),
    measured=("note",),
)
TYPED = '"key" TEXT, "at" REAL, amount INTEGER, share REAL, note TEXT'
UNTYPED = '"key", "at", amount, share, note'
DAY = 86_400
MOMENT = 1_768_000_000.0  # 2026-01-09
GOOD = {"key": "k", "at": MOMENT, "amount": 7, "share": 0.5, "note": "fine"}
FIRST, END = 946_684_800, 4_102_444_800  # 2000 and 2100


@pytest.fixture(scope="module", autouse=True)
def small_batches() -> Iterator[None]:
    """A few rows need no large batches; every batch starts with as many typed rows as it may have."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(extract, "BATCH_ROWS", 64)
        patch.setattr(extract, "SCAN_BATCH_ROWS", 64)
        yield


class Raw(bytes):
    """Bytes to be stored as TEXT, whether or not they are UTF-8."""


def make(path: Path, rows: Sequence[Mapping[str, Any]], columns: str = TYPED, encoding: str = "UTF-8") -> Path:
    """A closed database with the table `things`; a value for `rowid` sets the rowid."""
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"pragma encoding = '{encoding}'")
        database.execute(f"create table things ({columns})")
        for row in rows:
            names = ", ".join(f'"{name}"' if name != "rowid" else name for name in row)
            marks = ", ".join("cast(? as text)" if isinstance(value, Raw) else "?" for value in row.values())
            values = [bytes(value) if isinstance(value, Raw) else value for value in row.values()]
            database.execute(f"insert into things ({names}) values ({marks})", values)
        database.commit()
    return path


def read_all(path: Path, spec: TableSpec = SPEC) -> list[dict[str, Any]]:
    with SqliteDatabase(path) as database:
        return [row for batch in database.read_all(spec) for row in batch.rows(named=True)]


def fingerprints(path: Path) -> list[tuple[Any, ...]]:
    with SqliteDatabase(path) as database:
        return database.fingerprints(SPEC).rows()


# --- G5: values of the wrong kind ------------------------------------------------------------------------------------

# Column, declarations, stored value, reason.
WRONG: list[tuple[str, str, Any, str]] = [
    ("amount", TYPED, "up", "wrong_type:amount"),
    ("amount", TYPED, 1.5, "wrong_type:amount"),
    ("amount", TYPED, b"1", "wrong_type:amount"),
    ("amount", TYPED, "9223372036854775808", "wrong_type:amount"),
    ("amount", TYPED, float(2**63), "wrong_type:amount"),
    ("amount", TYPED, 1e300, "wrong_type:amount"),
    ("amount", TYPED, Raw(b"\xff"), "wrong_type:amount"),
    ("amount", UNTYPED, "1", "wrong_type:amount"),
    ("share", TYPED, "half", "wrong_type:share"),
    ("share", TYPED, b"0.5", "wrong_type:share"),
    ("share", TYPED, Raw(b"\xff"), "wrong_type:share"),
    ("share", UNTYPED, "0.5", "wrong_type:share"),
    ("share", UNTYPED, 2**53 + 1, "wrong_type:share"),
    ("share", UNTYPED, -(2**53) - 1, "wrong_type:share"),
    ("share", UNTYPED, 2**63 - 1, "wrong_type:share"),
    ("share", '"key" TEXT, "at" REAL, amount INTEGER, share NUMERIC, note TEXT', 2**53 + 1, "wrong_type:share"),
    ("share", '"key" TEXT, "at" REAL, amount INTEGER, share "REAL INT", note TEXT', 2**53 + 1, "wrong_type:share"),
    ("amount", TYPED, math.inf, "not_finite:amount"),
    ("amount", UNTYPED, -math.inf, "not_finite:amount"),
    ("share", TYPED, math.inf, "not_finite:share"),
    ("share", TYPED, -math.inf, "not_finite:share"),
    ("at", TYPED, math.inf, "not_finite:at"),
    ("at", TYPED, "2026-01-09", "wrong_type:at"),
    ("note", UNTYPED, 5, "wrong_type:note"),
    ("note", UNTYPED, 0.25, "wrong_type:note"),
    ("note", '"key" TEXT, "at" REAL, amount INTEGER, share REAL, note NUMERIC', 5, "wrong_type:note"),
    ("note", '"key" TEXT, "at" REAL, amount INTEGER, share REAL, note BLOB', 5, "wrong_type:note"),
    ("note", TYPED, b"\xff\xfe", "wrong_type:note"),
    ("note", UNTYPED, b"\xff\xfe", "wrong_type:note"),
    ("note", TYPED, Raw(b"ab\xff"), "bad_text:note"),
    ("note", TYPED, Raw(b"\xed\xa0\x80"), "bad_text:note"),
    ("note", TYPED, Raw(b"\xc0\x80"), "bad_text:note"),
    ("note", UNTYPED, Raw(b"ab\xff"), "bad_text:note"),
    ("note", TYPED, "a\0b", "bad_text:note"),
    ("note", TYPED, "\0", "bad_text:note"),
    ("note", TYPED, "end\0", "bad_text:note"),
    ("note", TYPED, b"a\0b", "bad_text:note"),
    ("key", TYPED, Raw(b"\xff"), "bad_text:key"),
    ("key", UNTYPED, 12, "wrong_type:key"),
]
BAD_PLACES = (0, 6)


@pytest.mark.parametrize(("batch_rows", "careful_rows"), [(16, 16), (2, 1)], ids=["first batch", "far behind"])
@pytest.mark.parametrize(("column", "columns", "value", "reason"), WRONG)
def test_a_wrong_value_is_named_and_harms_no_other_row(
    column: str,
    columns: str,
    value: Any,
    reason: str,
    batch_rows: int,
    careful_rows: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """G5: the row is refused for this column alone; everything else of it, and every other row, is read as it is."""
    monkeypatch.setattr(extract, "BATCH_ROWS", batch_rows)
    monkeypatch.setattr(extract, "CAREFUL_ROWS", careful_rows)
    rows = [GOOD | {"key": f"k{n}"} | ({column: value} if n in BAD_PLACES else {}) for n in range(9)]
    found = read_all(make(tmp_path / "s.db", rows, columns))
    assert [row["problems"] for row in found] == [[reason] if n in BAD_PLACES else [] for n in range(9)]
    for n, row in enumerate(found):
        expected = rows[n] | {"extra": None, "source_rowid": n + 1}
        left_out = (column, "problems") if n in BAD_PLACES else ("problems",)
        assert {name: value for name, value in row.items() if name not in left_out} == {
            name: value for name, value in expected.items() if name not in left_out
        }


@pytest.mark.parametrize(
    ("column", "columns", "stored", "expected"),
    [
        ("share", TYPED, 3, 3.0),
        ("share", UNTYPED, 3, 3.0),
        ("share", UNTYPED, 2**53, float(2**53)),
        ("share", UNTYPED, 2**53 + 2, float(2**53 + 2)),
        ("share", UNTYPED, -(2**63), float(-(2**63))),
        ("amount", TYPED, "12", 12),
        ("amount", TYPED, 2**63 - 1, 2**63 - 1),
        ("amount", TYPED, -(2**63), -(2**63)),
        ("amount", TYPED, 4.0, 4),
        ("note", TYPED, 5, "5"),
        ("note", '"key", "at", amount, share, note VARCHAR(20)', 5, "5"),
        ("note", TYPED, "blöb 🌾".encode(), "blöb 🌾"),
        ("note", UNTYPED, "blöb 🌾".encode(), "blöb 🌾"),
        ("note", TYPED, b"", ""),
        ("note", TYPED, "", ""),
        ("note", UNTYPED, "\u2028 \x85 \U0010ffff", "\u2028 \x85 \U0010ffff"),
        ("note", TYPED, None, None),
        ("amount", UNTYPED, None, None),
        ("share", TYPED, None, None),
        ("share", TYPED, 5e-324, 5e-324),
        ("share", TYPED, 1.7976931348623157e308, 1.7976931348623157e308),
    ],
)
@pytest.mark.parametrize("beside", ["good", "bad"])
def test_a_right_value_is_read_as_it_is(
    column: str, columns: str, stored: Any, expected: Any, beside: str, tmp_path: Path
) -> None:
    """G5: integers in REAL columns and blobs of UTF-8 are fine, on the fast path and beside a row that is refused."""
    neighbour = {"key": "k0", "at": "never"} if beside == "bad" else {"key": "k0", "at": 1.0}
    found = read_all(make(tmp_path / "s.db", [neighbour, GOOD | {column: stored}], columns))
    assert found[1] == GOOD | {column: expected} | {"source_rowid": 2, "extra": None, "problems": []}
    assert found[0]["problems"] == (["wrong_type:at"] if beside == "bad" else [])


def test_all_wrong_columns_of_a_row_are_named(tmp_path: Path) -> None:
    """G5, G11: all reasons, in the order of the columns; a value that cannot be read is null."""
    row = {"key": Raw(b"\xff"), "at": "x", "amount": 1.5, "share": math.inf, "note": "a\0b"}
    (found,) = read_all(make(tmp_path / "s.db", [row]))
    assert sorted(found["problems"]) == [
        "bad_text:key",
        "bad_text:note",
        "not_finite:share",
        "wrong_type:amount",
        "wrong_type:at",
    ]
    assert (found["key"], found["at"], found["amount"]) == (None, None, None)


@settings(max_examples=10, deadline=None)
@given(
    bad=st.lists(st.booleans(), min_size=1, max_size=40),
    sizes=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    kind=st.sampled_from(["up", 1.5, b"1"]),
)
def test_no_row_is_lost_or_read_twice(bad: list[bool], sizes: tuple[int, int], kind: Any) -> None:
    """G3, G5: each rowid once and in order, and just the bad ones refused, however the stretches fall."""
    rows = [
        GOOD | {"key": f"k{n}", "amount": kind if is_bad else n, "rowid": 3 * n - 20} for n, is_bad in enumerate(bad)
    ]
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(extract, "BATCH_ROWS", sizes[0])
        patch.setattr(extract, "CAREFUL_ROWS", sizes[1])
        found = read_all(make(Path(folder) / "s.db", rows))
    assert [(row["source_rowid"], row["key"], row["amount"], row["problems"]) for row in found] == [
        (3 * n - 20, f"k{n}", None if is_bad else n, ["wrong_type:amount"] if is_bad else [])
        for n, is_bad in enumerate(bad)
    ]


def test_the_last_rowid_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """G5: a refused row at the very end of the rowids, where nothing comes behind it."""
    monkeypatch.setattr(extract, "CAREFUL_ROWS", 1)
    path = make(tmp_path / "s.db", [GOOD | {"amount": "up", "rowid": 2**63 - 1}])
    assert [(row["source_rowid"], row["problems"]) for row in read_all(path)] == [(2**63 - 1, ["wrong_type:amount"])]


def test_negative_rowids(tmp_path: Path) -> None:
    """Rowids below zero are rows like any other, down to the lowest; reading by day and by rowid finds them too."""
    rowids = [-(2**63), -5, 0, 3]
    path = make(tmp_path / "s.db", [GOOD | {"key": str(rowid), "rowid": rowid} for rowid in rowids])
    day = int(MOMENT // DAY)
    assert [row["source_rowid"] for row in read_all(path)] == rowids
    with SqliteDatabase(path) as database:
        ((found_day, rows, lowest, highest, _),) = database.fingerprints(SPEC).rows()
        by_day = pl.concat(database.read_days(SPEC, [day], lowest, highest))
        by_rowid = pl.concat(database.read_rows(SPEC, [3, -5, -(2**63), 99]))
    assert (found_day, rows, lowest, highest) == (day, 4, rowids[0], 3)
    assert by_day["source_rowid"].to_list() == rowids
    assert by_rowid["source_rowid"].to_list() == [-(2**63), -5, 3]


@pytest.mark.parametrize("encoding", ["UTF-16le", "UTF-16be"])
def test_a_database_in_another_encoding_is_refused(encoding: str, tmp_path: Path) -> None:
    """G5: text that is not stored as UTF-8 cannot be told apart from bad bytes, so such a file is refused in one line."""
    path = make(tmp_path / "s.db", [GOOD], encoding=encoding)
    with pytest.raises(GristmillError, match=f"{encoding}.*only UTF-8"):
        SqliteDatabase(path)


# --- G5: columns -----------------------------------------------------------------------------------------------------


def test_a_missing_column_is_null(tmp_path: Path) -> None:
    """G5: a column that is not required may be missing: it is null, and named."""
    path = make(tmp_path / "s.db", [{"key": "a", "at": 1.0, "note": "n"}], '"KEY" TEXT, "at" REAL, Note TEXT')
    assert read_all(path) == [
        {
            "source_rowid": 1,
            "key": "a",
            "at": 1.0,
            "amount": None,
            "share": None,
            "note": "n",
            "extra": None,
            "problems": [],
        }
    ]
    with SqliteDatabase(path) as database:
        shape = database.shape(SPEC)
    assert (tuple(shape.present), shape.missing, shape.unknown) == (("key", "at", "note"), ("amount", "share"), ())


@pytest.mark.parametrize("columns", ['"key" TEXT, amount', '"at" REAL, note TEXT'])
def test_a_missing_required_column_is_one_line(columns: str, tmp_path: Path) -> None:
    """G5: one clear line that names file, table and column."""
    path = make(tmp_path / "s.db", [], columns)
    missing = "at" if "key" in columns else "key"
    with SqliteDatabase(path) as database, pytest.raises(GristmillError) as error:
        database.shape(SPEC)
    assert str(error.value) == f"{path}: table 'things' has no column '{missing}'"


def test_a_missing_table_is_one_line(tmp_path: Path) -> None:
    """G5: one clear line."""
    path = make(tmp_path / "s.db", [])
    with SqliteDatabase(path) as database, pytest.raises(GristmillError) as error:
        database.shape(ENTRIES)
    assert str(error.value) == f"{path} has no table 'feedback'"


@pytest.mark.parametrize("beside", ["good", "bad"])
def test_unknown_columns_are_kept_as_json(beside: str, tmp_path: Path) -> None:
    """G5: what we do not know is `extra`, exact; null where all of it is null. Names are as the source spells them."""
    columns = TYPED + ', Mood, "it\'s ""odd"""'
    strange = {"Mood": 2**62 + 1, 'it\'s "odd"': "ü\n"}
    path = tmp_path / "s.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"create table things ({columns})")
        first = "up" if beside == "bad" else 1
        database.execute("insert into things values ('a', 1.0, ?, 1.0, 'n', null, null)", [first])
        database.execute("insert into things values ('b', 1.0, 1, 1.0, 'n', ?, ?)", list(strange.values()))
        database.execute("insert into things values ('c', 1.0, 1, 1.0, 'n', null, x'00ff')")
        database.commit()
    found = read_all(path)
    assert [None if row["extra"] is None else json.loads(row["extra"]) for row in found] == [
        None,
        strange,
        {"Mood": None, 'it\'s "odd"': {"$hex": "00ff"}},
    ]
    assert [row["problems"] for row in found] == [["wrong_type:amount"] if beside == "bad" else [], [], []]
    with SqliteDatabase(path) as database:
        assert database.shape(SPEC).unknown == tuple(strange)


@pytest.mark.parametrize("beside", ["good", "bad"])
def test_generated_columns_are_read(beside: str, tmp_path: Path) -> None:
    """Expected ones as what they hold, others as `extra`, all of them in originals; `pragma table_info` hides them."""
    columns = '"key" TEXT, "at" REAL, amount INTEGER, note AS ("key" || \'!\'), share AS (amount / 2.0) STORED, loud AS (upper("key"))'
    rows = [
        {"key": "a", "at": MOMENT, "amount": 7},
        {"key": "b", "at": "never" if beside == "bad" else 1.0, "amount": 8},
    ]
    path = make(tmp_path / "s.db", rows, columns)
    first, _ = read_all(path)
    assert first == {
        "source_rowid": 1,
        "key": "a",
        "at": MOMENT,
        "amount": 7,
        "share": 3.5,
        "note": "a!",
        "extra": '{"loud":"A"}',
        "problems": [],
    }
    with SqliteDatabase(path) as database:
        assert database.shape(SPEC).missing == ()
        (original,) = database.originals(SPEC, [1])["row"]
    assert json.loads(original) == {
        "key": "a",
        "at": MOMENT,
        "amount": 7,
        "note": "a!",
        "share": 3.5,
        "loud": "A",
    }


def test_hidden_columns_of_a_virtual_table_are_none(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute('create virtual table things using fts5("key", "at", note)')
        database.execute("insert into things values ('a', '2026', 'n')")
        database.commit()
    with SqliteDatabase(path) as database:
        assert database.shape(SPEC).unknown == ()
        assert json.loads(database.originals(SPEC, [1])["row"][0]) == {"key": "a", "at": "2026", "note": "n"}


@pytest.mark.parametrize("count", [1_500, 1_990])
def test_very_many_unknown_columns_are_kept(count: int, tmp_path: Path) -> None:
    """SQLite limits arguments and depth of an expression to 1,000 and columns to 2,000: `extra` and originals stay whole."""
    names = [f"x{n}" for n in range(count)]
    path = tmp_path / "s.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"create table things ({TYPED}, {', '.join(names)})")
        database.execute(f"insert into things (\"key\", \"at\", {names[-1]}) values ('a', 1.0, 'last')")
        database.execute(f"insert into things (\"key\", \"at\", {names[700]}) values ('b', 'never', 'middle')")
        database.execute(f"insert into things (\"key\", \"at\", {names[0]}) values ('c', 1.0, cast(x'ff' as text))")
        database.execute('insert into things ("key", "at") values (\'d\', 1.0)')
        database.commit()
    found = read_all(path)
    nothing = dict.fromkeys(names)
    extra = [None if row["extra"] is None else json.loads(row["extra"]) for row in found]
    assert extra == [nothing | {names[-1]: "last"}, nothing | {names[700]: "middle"}, None, None]
    assert [row["problems"] for row in found] == [[], ["wrong_type:at"], ["bad_text:extra"], []]
    empty = dict.fromkeys(("key", "at", "amount", "share", "note")) | nothing
    with SqliteDatabase(path) as database:
        originals = [json.loads(row) for row in database.originals(SPEC, [1, 2, 3])["row"]]
    assert originals == [
        empty | {"key": "a", "at": 1.0, names[-1]: "last"},
        empty | {"key": "b", "at": "never", names[700]: "middle"},
        empty | {"key": "c", "at": 1.0, names[0]: {"$hex": "ff"}},
    ]


@pytest.mark.parametrize("taken", [("rowid",), ("RowId", "_rowid_")])
def test_a_column_named_rowid(taken: tuple[str, ...], tmp_path: Path) -> None:
    """G5: a column may take a name of the rowid; it is a column we do not know, and rows keep their own rowid."""
    path = tmp_path / "s.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"create table things ({TYPED}, {', '.join(taken)})")
        nothing, something = (", ".join(value for _ in taken) for value in ("null", "99"))
        database.execute(f"insert into things values ('a', {MOMENT}, 1, null, null, {something})")
        database.execute(f"insert into things values ('b', {MOMENT}, 'up', null, null, {nothing})")
        database.commit()
    found = read_all(path)
    assert [(row["source_rowid"], row["key"], row["problems"]) for row in found] == [
        (1, "a", []),
        (2, "b", ["wrong_type:amount"]),
    ]
    assert json.loads(found[0]["extra"]) == dict.fromkeys(taken, 99)
    assert fingerprints(path)[0][:4] == (int(MOMENT // DAY), 2, 1, 2)
    with SqliteDatabase(path) as database:
        assert database.originals(SPEC, [2])["source_rowid"].to_list() == [2]


def test_without_rowid_is_refused(tmp_path: Path) -> None:
    """G5: a table that has no rowid cannot be read; one line says so."""
    path = tmp_path / "s.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute('create table things ("key" TEXT PRIMARY KEY, "at" REAL) without rowid')
        database.commit()
    with SqliteDatabase(path) as database, pytest.raises(GristmillError) as error:
        database.shape(SPEC)
    assert str(error.value) == f"{path}: table 'things' was made WITHOUT ROWID, which we cannot read"


def test_every_name_of_the_rowid_is_taken(tmp_path: Path) -> None:
    """G5: such a table cannot be read either; a GristmillError says so."""
    path = make(tmp_path / "s.db", [], TYPED + ", rowid, _rowid_, oid")
    with SqliteDatabase(path) as database, pytest.raises(GristmillError):
        database.shape(SPEC)


# --- G11: originals --------------------------------------------------------------------------------------------------


def originals(rows: Sequence[Mapping[str, Any]], columns: str = UNTYPED) -> list[str]:
    with TemporaryDirectory() as folder:
        path = make(Path(folder) / "s.db", rows, columns)
        with SqliteDatabase(path) as database:
            found = database.originals(SPEC, list(range(1, len(rows) + 1)))
    assert found["source_rowid"].to_list() == list(range(1, len(rows) + 1))
    return found["row"].to_list()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "null"),
        (9007199254740993, "9007199254740993"),
        (2**63 - 1, "9223372036854775807"),
        (-(2**63), "-9223372036854775808"),
        (0.5, "0.5"),
        (2.0, "2.0"),
        (0.1, "0.1"),
        (math.inf, '{"$float":"inf"}'),
        (-math.inf, '{"$float":"-inf"}'),
        (b"\x00\xab\xff", '{"$hex":"00abff"}'),
        (b"", '{"$hex":""}'),
        ('say "hi"\n', '"say \\"hi\\"\\n"'),
        ("ünï 🌾", '"ünï 🌾"'),
        (Raw(b"ab\xff"), '{"$hex":"6162ff"}'),
    ],
)
def test_an_original_is_exact(value: Any, expected: str) -> None:
    """G11: integers exact, blobs and invalid text as $hex, what is not finite as $float."""
    assert originals([GOOD | {"note": value}]) == [
        '{"key":"k","at":1768000000.0,"amount":7,"share":0.5,"note":' + expected + "}"
    ]


def test_an_original_with_a_nul(tmp_path: Path) -> None:
    """G11: the text behind a NUL byte is kept as well."""
    (row,) = originals([GOOD | {"note": "a\0b"}])
    assert json.loads(row) in (GOOD | {"note": "a\0b"}, GOOD | {"note": {"$hex": "610062"}})


def test_originals_of_rows_that_are_gone(tmp_path: Path) -> None:
    """G7: a rowid that is no longer there gives no row."""
    with SqliteDatabase(make(tmp_path / "s.db", [GOOD, GOOD | {"key": "two"}])) as database:
        found = database.originals(SPEC, [7, 2, -1])
        assert database.originals(SPEC, []).rows() == []
    assert found["source_rowid"].to_list() == [2]
    assert json.loads(found["row"][0]) == GOOD | {"key": "two"}


def bits(value: float) -> bytes:
    return struct.pack("<d", value)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=60))
@example([0.1 + 0.2, 1 / 3, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 1e22, 1e23, 9007199254740993.0])
def test_reals_are_written_down_to_the_last_bit(values: list[float]) -> None:
    """G11: what json.loads makes of an original is the stored real; integers are not turned into reals, nor back."""
    rows = [json.loads(row) for row in originals([GOOD | {"share": value} for value in values])]
    assert [type(row["share"]) for row in rows] == [float] * len(values)
    assert [bits(row["share"] + 0.0) for row in rows] == [bits(value + 0.0) for value in values]


@settings(max_examples=10, deadline=None)
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=60))
def test_integers_are_written_down_exactly(values: list[int]) -> None:
    """G11: integers exact."""
    rows = [json.loads(row) for row in originals([GOOD | {"amount": value} for value in values])]
    assert [row["amount"] for row in rows] == values


@settings(max_examples=10, deadline=None)
@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0")), min_size=1, max_size=30))
def test_texts_are_read_and_written_down_exactly(values: list[str]) -> None:
    """G5, G11: every valid text survives both ways."""
    rows = [GOOD | {"note": value} for value in values]
    assert [json.loads(row)["note"] for row in originals(rows)] == values
    with TemporaryDirectory() as folder:
        assert [row["note"] for row in read_all(make(Path(folder) / "s.db", rows))] == values


# --- G1, G6: days ----------------------------------------------------------------------------------------------------


def expected_day(value: float) -> int | None:
    """Python's own answer: the UTC day of the instant rounded to microseconds, null outside 2000..2100."""
    seconds = value / 1000 if 1e11 <= value < 1e14 else value
    if not 0 <= seconds <= 5e9:
        return None
    moment = datetime.fromtimestamp(seconds, UTC)
    is_valid = datetime(2000, 1, 1, tzinfo=UTC) <= moment < datetime(2100, 1, 1, tzinfo=UTC)
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(days=1) if is_valid else None


def days_found(values: Sequence[Any]) -> list[int | None]:
    """The day each value is found under, by asking for the rows of each fingerprinted day."""
    with TemporaryDirectory() as folder:
        path = make(Path(folder) / "s.db", [{"key": str(n), "at": value} for n, value in enumerate(values)], UNTYPED)
        found: dict[int, int | None] = {}
        with SqliteDatabase(path) as database:
            for day, rows, lowest, highest, _ in database.fingerprints(SPEC).rows():
                if day is None:
                    rowids = database.undated_rowids(SPEC)
                else:
                    rowids = pl.concat(database.read_days(SPEC, [day], lowest, highest))["source_rowid"].to_list()
                assert (len(rowids), min(rowids), max(rowids)) == (rows, lowest, highest)
                found |= dict.fromkeys(rowids, day)
    return [found[n + 1] for n in range(len(values))]


EDGES = [
    edge + step
    for edge in (FIRST, FIRST + DAY, 20_462 * DAY, 1 << 30, 1 << 31, 33_000 * DAY, END)
    for step in (-1.0, -1e-6, -6e-7, -5e-7, -4e-7, -2e-7, 0, 2e-7, 4e-7, 5e-7, 1e-6, 1.0)
]


def test_days_at_the_boundaries() -> None:
    """G1: seconds and milliseconds around midnight and around 2000 and 2100, as Python rounds them."""
    values = [*EDGES, *(edge * 1000 for edge in EDGES), *(math.nextafter(edge, 0) for edge in EDGES)]
    values += [1e11, math.nextafter(1e11, 0), 1e14, math.nextafter(1e14, 0), 99_999_999_999, 0.0, -1.0]
    assert days_found(values) == [expected_day(value) for value in values]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.floats(FIRST - 10, END + 10),
            st.floats((FIRST - 10) * 1000.0, (END + 10) * 1000.0),
            st.integers(FIRST - 10, END + 10),
            st.integers((FIRST - 10) * 1000, (END + 10) * 1000),
            st.builds(lambda day, offset: day * DAY + offset, st.integers(10_957, 47_482), st.floats(-2e-6, 2e-6)),
            st.builds(lambda day, ms: day * DAY * 1000 + ms, st.integers(10_957, 47_482), st.floats(-2e-3, 2e-3)),
        ),
        min_size=1,
        max_size=40,
    )
)
def test_days_are_those_of_python(values: list[float]) -> None:
    """G1: what the source's SQL, our instants and Python's fromtimestamp call the day of a value is the same."""
    expected = [expected_day(value) for value in values]
    assert days_found(values) == expected
    rows = repair_milliseconds(pl.DataFrame({"at": [float(value) for value in values]}), ["at"])
    ours = rows.select(instant(pl.col("at")).dt.date().cast(pl.Int32)).to_series()
    assert ours.to_list() == expected


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(FIRST, END - 1), min_size=1, max_size=60))
def test_instants_round_as_python_does(values: list[float]) -> None:
    """G1: microseconds, half to even, as datetime.fromtimestamp."""
    found = pl.DataFrame({"at": values}).select(instant(pl.col("at"))).to_series()
    assert found.to_list() == [datetime.fromtimestamp(value, UTC) for value in values]


def test_what_has_no_day(tmp_path: Path) -> None:
    """G6: rows without a valid event time belong to no day and are found by looking for them."""
    values = [None, "2026-01-09", str(MOMENT), b"1768000000", math.inf, -math.inf, 0, END, 1e18, MOMENT]
    for columns in (UNTYPED, UNTYPED.replace('"at"', '"at" TEXT')):
        rows = [{"key": str(n), "at": value} for n, value in enumerate(values)]
        path = make(tmp_path / f"{len(columns)}.db", rows, columns)
        last_is_text = columns is not UNTYPED
        with SqliteDatabase(path) as database:
            assert database.undated_rowids(SPEC) == [*range(1, 10), *([10] if last_is_text else [])]


# --- G7: fingerprints ------------------------------------------------------------------------------------------------

ROW = GOOD | {"key": "other", "amount": None, "share": None, "note": None}


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("amount", 8),
        ("amount", None),
        ("amount", -7),
        ("amount", "7x"),
        ("amount", 7.5),
        ("share", 0.25),
        ("share", None),
        ("share", 1),
        ("share", 0.5000001),
        ("note", "longer"),
        ("note", None),
        ("note", ""),
        ("note", "füne"),
        ("at", MOMENT + DAY),
        ("at", None),
    ],
)
def test_an_edit_changes_the_fingerprint(column: str, value: Any, tmp_path: Path) -> None:
    """G7: an edit of a small column, or of the length of a measured one, changes its day's fingerprint."""
    before = fingerprints(make(tmp_path / "a.db", [GOOD, ROW]))
    after = fingerprints(make(tmp_path / "b.db", [GOOD | {column: value}, ROW]))
    assert before != after


def test_null_is_told_from_empty_and_zero(tmp_path: Path) -> None:
    """G7: the smallest edits: null to zero, null to empty text, a value that moves from one column to the next."""
    variants = [{}, {"amount": 0}, {"share": 0}, {"note": ""}, {"amount": 1}, {"share": 1}, {"note": "1"}]
    found = [fingerprints(make(tmp_path / f"{n}.db", [ROW | variant]))[0][4] for n, variant in enumerate(variants)]
    assert len(set(found)) == len(variants)


@pytest.mark.parametrize("step", [1e-3, 1e-6])
def test_every_microsecond_of_an_edited_time_counts(step: float, tmp_path: Path) -> None:
    """G1, G7: instants have microseconds, so moving one by a microsecond is an edit."""
    before = fingerprints(make(tmp_path / "a.db", [GOOD | {"share": 1_768_000_000.123456}]))
    after = fingerprints(make(tmp_path / "b.db", [GOOD | {"share": 1_768_000_000.123456 + step}]))
    assert before != after


def test_equal_rows_have_equal_fingerprints(tmp_path: Path) -> None:
    """G7: the same rows in another file, batched otherwise, look the same; other columns and texts of equal length do too."""
    rows = [GOOD | {"key": f"k{n}", "at": MOMENT + n * 9_000, "amount": n} for n in range(40)]
    expected = fingerprints(make(tmp_path / "a.db", rows))
    assert [day for day, *_ in expected] == sorted(day for day, *_ in expected)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(extract, "SCAN_BATCH_ROWS", 7)
        assert fingerprints(make(tmp_path / "b.db", rows)) == expected
    other = [row | {"key": "z" + row["key"], "note": "four"} for row in rows]
    assert fingerprints(make(tmp_path / "c.db", other)) == expected
    with_more = [row | {"mood": 1} for row in rows]
    assert fingerprints(make(tmp_path / "d.db", with_more, TYPED + ", mood")) == expected


@pytest.mark.parametrize("column", [*ENTRIES.edited, *ENTRIES.measured])
def test_each_edited_column_of_feedback_counts(column: str, tmp_path: Path) -> None:
    """G7: every column the source edits in place, one by one."""
    found = []
    for name, value in (("a.db", 1_768_000_000), ("b.db", 1_768_000_001)):
        with closing(sqlite3.connect(tmp_path / name)) as database:
            declared = {"text": "TEXT", "integer": "INTEGER", "real": "REAL"}
            names = ", ".join(f"{c} {declared[kind]}" for c, kind in ENTRIES.columns.items())
            database.execute(f"create table feedback ({names})")
            values: dict[str, Any] = {"feedback_id": "f", "timestamp": 1_768_000_000.0} | {column: value}
            if name == "b.db" and column in ENTRIES.measured:
                values[column] = "longer than ten"
            database.execute(
                f"insert into feedback ({', '.join(values)}) values ({', '.join('?' * len(values))})",
                list(values.values()),
            )
            database.commit()
        with SqliteDatabase(tmp_path / name) as source:
            found.append(source.fingerprints(ENTRIES).rows())
    assert found[0] != found[1]
    assert [row[:4] for row in found[0]] == [row[:4] for row in found[1]]
