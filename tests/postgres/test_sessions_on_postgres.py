"""A whole run of AI sessions from seed 4's own tables in Postgres, against the oracle and against a SQLite copy of the same rows."""

from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import pytest

from tests.oracle.sessions_oracle import answers, generated
from tests.postgres.ddl import SESSIONS_DDL
from tests.postgres.server import Schema, sql
from tests.systems.sessions.session_database import AS_OF, PLAIN, Row, mill, rows, write

MORE_DDL = (
    "create table context_nodes (id uuid primary key, tenant_id uuid, type text, layer text, name text, freshness numeric, "
    "token_count integer, deleted_at timestamptz)",
    "create table session_outputs (session_id uuid primary key references ai_sessions(id), original text, revised text)",
)
IDS = ("id", "tenant_id", "workspace_id", "slice_id", "user_id", "session_id", "submitted_by")
REFERENCES = {"tenants": "tenant_id", "workspaces": "workspace_id", "slices": "slice_id", "users": "user_id"}
COMPARED = (
    "core__sessions",
    "metric__session_daily",
    "metric__session_slice_daily",
    "metric__context_effectiveness",
    "metric__session_baseline",
)


def as_uuid(name: str) -> str:
    return str(uuid5(NAMESPACE_OID, name))


def acceptable(tables: dict[str, list[Row]]) -> dict[str, list[Row]]:
    """The rows that the tables' own constraints let in, with ids that are UUIDs."""
    sessions = [
        row
        for row in tables["ai_sessions"]
        if row["tenant_id"]
        and row["workspace_id"]
        and row["user_id"]
        and isinstance(row["started_at"], datetime)
        and isinstance(row["context_document_ids"], list)
        and isinstance(row["context_token_count"], int)
    ]
    known = {row["id"] for row in sessions}
    tenants = {row["tenant_id"] for row in sessions}
    feedback = [
        row
        for row in tables["session_feedback"]
        if row["session_id"] in known
        and row["tenant_id"] in tenants
        and row["rating"] is not None
        and isinstance(row["submitted_at"], datetime)
        and not isinstance(row["error_categories"], str)
        and not isinstance(row["accuracy_score"], str)
    ]
    feedback[0] |= {"tenant_id": next(tenant for tenant in sorted(tenants) if tenant != feedback[0]["tenant_id"])}
    found = {
        "ai_sessions": sessions,
        "session_feedback": feedback,
        "context_nodes": tables["context_nodes"],
        "session_outputs": [row for row in tables["session_outputs"] if row["session_id"] in known],
    }
    return {name: [_with_uuids(row) for row in some] for name, some in found.items()}


def _with_uuids(row: Row) -> Row:
    named: Row = {name: as_uuid(row[name]) if row[name] else None for name in IDS if name in row}
    if row.get("context_document_ids"):
        named["context_document_ids"] = [as_uuid(name) for name in row["context_document_ids"]]
    return row | named


def load(schema: Schema, tables: dict[str, list[Row]]) -> None:
    schema.execute(*SESSIONS_DDL, *MORE_DDL)
    statements = []
    for table, column in REFERENCES.items():
        used = {row[column] for name in ("ai_sessions", "session_feedback") for row in tables[name] if row.get(column)}
        used |= {row["submitted_by"] for row in tables["session_feedback"]} if table == "users" else set()
        statements += [f"insert into {table} values ('{name}')" for name in sorted(used)]
    for table, some in tables.items():
        for row in some:
            whole = {name: value for name, value in {**PLAIN[table], **row}.items() if value is not None}
            values = ", ".join(literal(name, value) for name, value in whole.items())
            statements.append(f"insert into {table} ({', '.join(whole)}) values ({values})")
    schema.execute(*statements)


def literal(column: str, value: Any) -> str:
    if isinstance(value, list):
        kind = "uuid" if column == "context_document_ids" else "text"
        return f"array[{', '.join(sql(item) for item in value)}]::{kind}[]"
    return f"'{value.isoformat()}'" if isinstance(value, datetime) else sql(value)


@pytest.mark.parametrize("seed", [0, 9])
def test_sessions(schema: Schema, tmp_path: Path, seed: int) -> None:
    tables = acceptable(generated(seed))
    load(schema, tables)
    expected = answers(tables, AS_OF)
    home, copy = tmp_path / "pg" / "home", tmp_path / "lite" / "home"
    home.mkdir(parents=True)
    (home.parent / "gristmill.toml").write_text(
        f'home = "home"\n[[sessions]]\nuri = "{schema.server.uri()}"\nschema = "{schema.name}"\n', encoding="utf-8"
    )
    mill(home)
    write(copy, tables)
    mill(copy)
    refused = {key: set(why) for key, why in rows(home, "select key, reasons from quarantine")}
    assert refused == expected.refused
    assert "mismatch:tenant_id" in {reason for why in refused.values() for reason in why}
    found = dict(rows(home, "select session_id, rating from core__sessions"))
    assert found == {name: row["rating"] for name, row in expected.sessions.items()}
    for table in COMPARED:
        assert rows(home, f"select * from {table} order by all") == rows(copy, f"select * from {table} order by all"), (
            table
        )
