"""Rows are refused by their table's Pandera schema, and by relations to other rows; nothing else decides (G5, G11)."""

import ast
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandera.config import config_context

from dagster_project import contracts
from dagster_project.columns.instants import instant
from dagster_project.contracts.checks import Schema, between, failure_cases, filled, holds, not_null, source_schema
from dagster_project.contracts.source_table import TableSpec
from dagster_project.databases.fingerprint_cache import FingerprintCache
from dagster_project.databases.sqlite import SqliteDatabase
from dagster_project.errors import GristmillError
from dagster_project.intake import day_buffer, quarantine
from dagster_project.intake.day_reading import DatedTable, ReadDays, quarantined, read_days
from dagster_project.intake.day_reading import judged as judged_days
from dagster_project.intake.fingerprints import look
from dagster_project.intake.open_files import OpenFile
from dagster_project.intake.quarantine import split
from dagster_project.intake.relations import Relation
from dagster_project.systems.conversations import schema as conversations
from dagster_project.systems.distillation import schema as distillation
from dagster_project.systems.feedback import schema as feedback
from dagster_project.systems.reactions import schema as reactions
from dagster_project.systems.sessions import schema as sessions
from tests.conftest import GRISTMILL, complaint, environment, finish

SPEC = TableSpec("test", "things", {"id": "id", "kind": "text", "amount": "integer", "share": "real"}, ("id",), "id")
THINGS = source_schema(
    SPEC,
    [
        filled("id"),
        between("share", 0, 1),
        not_null("kind"),
        holds("missing:amount", (pl.col("kind") != "counted") | pl.col("amount").is_not_null()),
        holds("unknown:kind", pl.col("kind").is_in(["counted", "free"])),
        holds("wrong_type:share", ~pl.col("has_odd_share")),
    ],
    derived={"has_odd_share": pl.Boolean},
)
FIRST, DAY = 1_768_000_000.0, 86_400  # 2026-01-09
LOST = Relation("orphan:id", pl.col("id") == "lost")
GOOD = {"id": "a", "kind": "free", "amount": None, "share": None, "has_odd_share": False, "problems": []}
TYPES = {name: column.dtype.type for name, column in THINGS.columns.items()}


def judged(*rows: dict[str, Any]) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """Ids of the kept rows, ids and reasons of the refused ones."""
    kept, refused = split(pl.DataFrame([GOOD | row for row in rows], schema=TYPES), THINGS, [LOST])
    assert kept.columns == [*TYPES][:-1] and refused.columns == [*kept.columns, "reasons"]
    return kept["id"].to_list(), refused.select("id", "reasons").rows()


def test_rows_that_meet_their_schema_are_kept() -> None:
    good = [{"id": "b", "kind": "counted", "amount": 3}, {"id": "c", "share": 1.0}, {"id": "d", "share": 0.0}]
    assert judged(GOOD, *good) == (["a", "b", "c", "d"], [])


@pytest.mark.parametrize(
    ("row", "reasons"),
    [
        ({"id": ""}, ["missing:id"]),
        ({"id": None}, ["missing:id"]),
        ({"kind": None}, ["missing:kind"]),
        ({"kind": "odd"}, ["unknown:kind"]),
        ({"kind": "counted"}, ["missing:amount"]),
        ({"share": 1.5}, ["out_of_range:share"]),
        ({"id": "lost"}, ["orphan:id"]),
    ],
    ids=str,
)
def test_a_check_is_named_by_its_reason(row: dict[str, Any], reasons: list[str]) -> None:
    assert judged(GOOD, row) == (["a"], [({**GOOD, **row}["id"], reasons)])


def test_all_reasons_of_a_row_in_the_order_of_the_checks() -> None:
    """What could not be read comes first, what other rows decide last."""
    everything = {"id": "lost", "share": -1.0, "kind": "odd", "has_odd_share": True, "problems": ["bad_text:extra"]}
    reasons = ["bad_text:extra", "out_of_range:share", "unknown:kind", "wrong_type:share", "orphan:id"]
    assert judged(everything, GOOD) == (["a"], [("lost", reasons)])


def test_what_cannot_be_read_is_not_missing_as_well() -> None:
    """G5: and it is not out of range, unknown or an orphan; but other columns of the row are judged."""
    unread = {"kind": None, "problems": ["wrong_type:kind", "wrong_type:amount"]}
    assert judged(unread) == ([], [("a", ["wrong_type:kind", "wrong_type:amount"])])
    assert judged({"share": 7.0, "problems": ["not_finite:share"]}) == ([], [("a", ["not_finite:share"])])
    assert judged({"id": "lost", "problems": ["bad_text:id"]}) == ([], [("lost", ["bad_text:id"])])
    assert judged({"id": "", "problems": ["wrong_type:kind"]}) == ([], [("", ["wrong_type:kind", "missing:id"])])
    twice = {"has_odd_share": True, "problems": ["bad_text:share", "wrong_type:share"]}
    assert judged(twice) == ([], [("a", ["bad_text:share", "wrong_type:share"])])


ANY_ROW = st.fixed_dictionaries(
    {
        "id": st.sampled_from(["a", "", None, "lost"]),
        "kind": st.sampled_from(["counted", "free", "odd", None]),
        "amount": st.sampled_from([1, None]),
        "share": st.sampled_from([0.5, 2.0, None]),
        "has_odd_share": st.booleans(),
        "problems": st.lists(st.sampled_from(["wrong_type:id", "bad_text:kind", "not_finite:share"]), unique=True),
    }
)


@pytest.mark.slow
@given(st.lists(ANY_ROW, max_size=6))
def test_a_row_is_judged_by_itself(rows: list[dict[str, Any]]) -> None:
    """Every row is kept or refused once, in order, with the reasons it has alone; `problems` are always among them."""
    kept, refused = judged(*rows)
    alone = [judged(row) for row in rows]
    assert kept == [name for names, _ in alone for name in names]
    assert refused == [row for _, found in alone for row in found]
    for (_, found), row in zip(alone, rows, strict=True):
        reasons = found[0][1] if found else []
        assert reasons[: len(row["problems"])] == row["problems"] and len(reasons) == len(set(reasons))


def test_the_environment_cannot_switch_checks_off() -> None:
    with config_context(validation_enabled=False):
        assert judged({"id": ""}) == ([], [("", ["missing:id"])])
    with config_context(validation_depth="SCHEMA_ONLY"):
        assert judged({"id": ""}) == ([], [("", ["missing:id"])])


def test_a_frame_of_another_shape_is_our_own_mistake() -> None:
    rows = pl.DataFrame([GOOD], schema=TYPES)
    with pytest.raises(
        GristmillError, match=r"test.things does not have its columns: 'share', check 'column_in_dataframe'"
    ):
        split(rows.drop("share"), THINGS)
    with pytest.raises(GristmillError, match=r"test.things does not have its columns: 'amount', check .* found String"):
        split(rows.with_columns(pl.col("amount").cast(pl.String)), THINGS)
    with pytest.raises(ValueError, match="columns it does not have: \\['weight'\\]"):
        source_schema(SPEC, [not_null("weight")])


def test_small_days_are_checked_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call of Pandera costs the same for a row as for thousands: forty days of three rows are one call."""
    spec = TableSpec("test", "things", {"id": "id", "at": "real"}, ("id", "at"), "id", "at")
    schema = source_schema(spec, [not_null("at"), holds("out_of_range:id", pl.col("id") != "5")])
    with closing(sqlite3.connect(tmp_path / "things.db")) as database:
        database.execute("create table things (id text, at real)")
        database.executemany("insert into things values (?, ?)", [(str(n), FIRST + n // 3 * DAY) for n in range(120)])
        database.commit()

    def canonical(batch: pl.DataFrame, _: OpenFile) -> pl.DataFrame:
        moment = instant(pl.col("at"))
        return batch.with_columns(moment.alias("occurred_at"), moment.dt.date().alias("event_date"), repairs=pl.lit(""))

    asked: list[int] = []
    monkeypatch.setattr(
        quarantine, "failure_cases", lambda schema, rows: asked.append(rows.height) or failure_cases(schema, rows)
    )
    with SqliteDatabase(tmp_path / "things.db") as database:
        files = [OpenFile("things.db", 0, database)]
        seen = look(files, spec, FingerprintCache(tmp_path))
        table = DatedTable(spec, canonical, schema)
        (read,) = read_days(table, files, seen, seen.dates, tmp_path / "days")
        assert isinstance(read, ReadDays)
        group = judged_days(table, read)
        refused = quarantined(table, group, {"things.db": files[0]})
    assert (group.kept.height, refused["reasons"].to_list()) == (119, [["out_of_range:id"]])
    assert asked == [120]
    assert day_buffer.GROUP_ROWS >= 50_000


# --- the schemas of the five systems ---------------------------------------------------------------------------------

SCHEMAS: dict[str, Schema] = {
    str(schema.name): schema
    for module in (feedback, distillation, conversations, reactions, sessions)
    for found in vars(module).values()
    for schema in (found.values() if isinstance(found, dict) else [found])
    if isinstance(schema, Schema)
}
KINDS = {"missing", "unknown", "out_of_range", "wrong_type", "bad_text", "bad_json", "not_finite"}


def test_every_source_table_has_a_schema() -> None:
    assert len(SCHEMAS) == 22


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_check_is_named_by_a_reason(name: str) -> None:
    reasons = (SCHEMAS[name].metadata or {})["reasons"]
    assert len(reasons) == len(set(reasons)) > 0
    assert {reason.split(":")[0] for reason in reasons} <= KINDS
    checks = [check for column in SCHEMAS[name].columns.values() for check in column.checks]
    assert not any(check.element_wise for check in checks)  # a Python call a row
    empty = pl.DataFrame(schema={column: declared.dtype.type for column, declared in SCHEMAS[name].columns.items()})
    assert failure_cases(SCHEMAS[name], empty).is_empty()


# --- without Pandera -------------------------------------------------------------------------------------------------


def test_a_run_without_pandera_does_not_start(tmp_path: Path) -> None:
    """One clear line, and nothing is written."""
    (tmp_path / "pandera.py").write_text('raise ImportError("blocked")', encoding="utf-8")
    home, path = tmp_path / "home", [str(tmp_path), *(entry for entry in sys.path if entry)]
    process = subprocess.Popen(
        [str(GRISTMILL), "--home", str(home), "run"],
        cwd=tmp_path,
        env=environment(PYTHONPATH=":".join(path)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert "rows are checked with Pandera, which cannot be imported (blocked)" in complaint(finish(process))
    assert not home.exists()


def test_only_one_module_knows_pandera() -> None:
    root = Path(contracts.__file__).parents[1]
    users = set()
    for path in [*root.rglob("*.py"), *(root.parent / "assets").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            users |= {f"{path.parent.name}/{path.name}" for name in names if name.split(".")[0] == "pandera"}
    assert users == {"contracts/pandera.py"}
