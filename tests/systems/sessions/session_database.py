"""Small databases of AI sessions for tests. Rows are plain dictionaries with arrays as lists and times as instants, so that the
same rows can go to SQLite (JSON and ISO texts) and to Postgres (arrays and timestamptz)."""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb

from dagster_project.demo.database import HERE
from tests.conftest import run

AS_OF = datetime(2026, 2, 1, tzinfo=UTC)
START = datetime(2026, 1, 20, 12, tzinfo=UTC)
TABLES = ("ai_sessions", "session_feedback", "context_nodes", "session_outputs")
PLAIN: dict[str, dict[str, Any]] = {
    "ai_sessions": {
        "tenant_id": "t1",
        "workspace_id": "w1",
        "user_id": "u1",
        "context_document_ids": [],
        "context_token_count": 100,
        "context_compiled_at": START,
        "started_at": START,
    },
    "session_feedback": {"tenant_id": "t1", "rating": "positive", "submitted_by": "u1"},
    "context_nodes": {"tenant_id": "t1"},
    "session_outputs": {},
}

Row = dict[str, Any]


def at(days: float = 0, **more: float) -> datetime:
    return START + timedelta(days=days, **more)


def session(name: str, days: float = 0, **values: Any) -> Row:
    """A session that began so many days after START."""
    return {"id": name, "started_at": at(days), **values}


def feedback(name: str, session_id: str, days: float = 0, **values: Any) -> Row:
    """Feedback given so many days and an hour after START."""
    return {"id": name, "session_id": session_id, "submitted_at": at(days, hours=1), **values}


def source(home: Path) -> Path:
    return home / "sources" / "sessions.db"


def write(home: Path, tables: Mapping[str, Iterable[Row]], without: Iterable[str] = ()) -> Path:
    """A SQLite copy of the tables, all of them but those `without`."""
    path = source(home)
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as database:
        database.executescript((HERE / "sessions/tables.sql").read_text(encoding="utf-8"))
        for table in without:
            database.execute(f"drop table {table}")
        database.commit()
    for table, rows in tables.items():
        add(path, table, *rows)
    return path


def add(path: Path, table: str, *rows: Row) -> None:
    with closing(sqlite3.connect(path)) as database:
        for row in rows:
            whole = {name: stored(value) for name, value in {**PLAIN[table], **row}.items()}
            marks = ", ".join(f":{name}" for name in whole)
            database.execute(f"insert into {table} ({', '.join(whole)}) values ({marks})", whole)
        database.commit()


def stored(value: Any) -> Any:
    """A value as SQLite has it."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat(sep=" ")
    return json.dumps(value) if isinstance(value, list) else value


def mill(home: Path, as_of: datetime | None = AS_OF, *arguments: str, **env: str) -> str:
    """A whole run through the command; what it printed."""
    when = ("--as-of", as_of.isoformat()) if as_of else ()
    return run(home, *when, *arguments, env={f"GRISTMILL_{key.upper()}": value for key, value in env.items()}).stdout


def rows(home: Path, sql: str) -> list[tuple[Any, ...]]:
    """What the warehouse answers."""
    with duckdb.connect(str(home / "warehouse.duckdb"), read_only=True) as connection:
        connection.execute("set TimeZone = 'UTC'")
        return connection.execute(sql).fetchall()


def reasons(home: Path) -> dict[str, list[str]]:
    return dict(rows(home, "select key, reasons from quarantine order by key"))
