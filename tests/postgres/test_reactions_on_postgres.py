"""Reactions from a real Postgres: the same rows as a SQLite copy of them, in every table; deletes vanish here too."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.oracle import reactions_cases as cases
from tests.oracle.reactions_oracle import judge, moment
from tests.postgres.ddl import MESSAGES_DDL
from tests.postgres.server import Schema
from tests.systems.reactions.reaction_database import (
    AS_OF,
    Derived,
    Row,
    derive,
    numbered,
    reaction,
    source,
    statements,
    turn_log,
    write,
)

WHERE = {"GRISTMILL_TENANT": "ACME", "GRISTMILL_PROJECT": "Support"}
# The documents' constraints aside: a copy that lost them has everything that is refused for what it says.
DDL = MESSAGES_DDL.replace(" NOT NULL", "").replace("turn_id TEXT,", "turn_id TEXT, track_id TEXT,")


def configured(home: Path, schema: Schema) -> dict[str, str]:
    home.mkdir(parents=True, exist_ok=True)
    file = home.parent / "gristmill.toml"
    place = {"uri": schema.server.uri(), "schema": schema.name, "tenant": "ACME", "project": "Support"}
    file.write_text("[[reactions]]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in place.items()))
    return {"GRISTMILL_CONFIG": str(file)}


def fitting(row: Row) -> bool:
    """Whether Postgres can store the row at all."""
    if any(isinstance(value, bytes) or (isinstance(value, str) and "\0" in value) for value in row.values()):
        return False
    return (
        (row["ts"] is None or (isinstance(row["ts"], str) and moment(row["ts"]) is not None))
        and isinstance(row["ttl_days"], int | None)
        and abs(row["ttl_days"] or 0) < 2**31
        and all(
            isinstance(row.get(name), str | None) for name in ("turn_id", "conversation_id", "message_id", "user_id")
        )
    )


def without_place(derived: Derived) -> dict[str, list[Row]]:
    """The tables but for where a row was read from, and how a row is written down that was refused."""
    left_out = ("source_file", "row", "tags", "extra", "user_type")  # which has a default there
    return {
        table: [{name: value for name, value in row.items() if name not in left_out} for row in found]
        for table, found in derived.tables.items()
    }


@pytest.mark.parametrize("seed", [4, 31])
def test_the_same_as_from_sqlite(schema: Schema, tmp_path: Path, seed: int) -> None:
    rows = [row for row in cases.rows(seed) if fitting({"ts": None, "ttl_days": None, **row})]
    rows = [{name: value for name, value in row.items() if name != "embedding"} for row in rows]
    assert len(rows) > 300
    schema.execute(DDL, *statements(rows))
    from_postgres = derive(tmp_path / "postgres", AS_OF, configured(tmp_path / "postgres", schema))
    write(source(tmp_path / "sqlite"), rows)
    from_sqlite = derive(tmp_path / "sqlite", AS_OF, WHERE)
    assert without_place(from_postgres) == without_place(from_sqlite)
    expected = judge(source(tmp_path / "sqlite"), AS_OF, "ACME", "Support")
    assert len(from_postgres.tables["core__reactions"]) == len(expected.reactions) > 100
    assert from_postgres.accounts["raw_reactions__reactions"].missing_columns == []


def test_deleted_rows_vanish(schema: Schema, tmp_path: Path) -> None:
    env = configured(tmp_path / "home", schema)
    old = "2025-12-01T00:00:00.123456Z"
    schema.execute(MESSAGES_DDL, *statements([turn_log(), reaction(ts=old), reaction(turn_id="u", reaction_="not_ok")]))

    def why() -> dict[str, Any]:
        return derive(tmp_path / "home", AS_OF, env).why

    assert why() == {"ACME/Support/2": None, "ACME/Support/3": None}
    (added,) = statements(numbered([reaction(id=9, ts=old)]))
    schema.execute("delete from conv_messages where id = 3", added)
    assert why() == {"ACME/Support/2": "superseded", "ACME/Support/9": None}
    schema.execute("delete from conv_messages where id in (2, 9)")
    assert why() == {}


def test_times_of_postgres(schema: Schema, tmp_path: Path) -> None:
    env = configured(tmp_path / "home", schema)
    times = (
        "infinity",
        "-infinity",
        "0044-03-15 00:00:00+00 BC",
        "2026-01-31 23:30:00-02",
        "2026-01-31 23:59:59.999999+00",
    )
    schema.execute(MESSAGES_DDL, *statements([reaction(ts=time, turn_id=f"t{n}") for n, time in enumerate(times)]))
    derived = derive(tmp_path / "home", AS_OF, env)
    assert derived.reasons == {f"ACME/Support/{n}": ["out_of_range:ts"] for n in (1, 2, 3)}
    assert [row["occurred_at"] for row in derived.tables["core__reactions"]] == [
        datetime.fromisoformat("2026-01-31T23:59:59.999999+00:00")
    ]
    assert derived.accounts["raw_reactions__reactions"].waiting == 1
