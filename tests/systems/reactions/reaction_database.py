"""Small databases of reactions for tests, as SQLite or as statements for Postgres, and the stages of a run up to them."""

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from dagster_project import config
from dagster_project.contracts import TABLES
from dagster_project.engines.stored_tables import store_query
from dagster_project.intake.account import Account
from dagster_project.intake.stage import Choice
from dagster_project.registry import open_run
from dagster_project.systems.reactions.intake import read_by_day
from dagster_project.systems.reactions.source import DATED
from tests.tables import table_of

Row = dict[str, Any]
START = datetime(2026, 1, 20, 12, tzinfo=UTC)
AS_OF = datetime(2026, 2, 1, tzinfo=UTC)
COLUMNS = (
    "id",
    "user_id",
    "bundle_id",
    "agent_id",
    "conversation_id",
    "message_id",
    "role",
    "text",
    "hosted_uri",
    "ts",
    "ttl_days",
    "user_type",
    "tags",
    "embedding",
    "turn_id",
    "anchors_text",
    "search_tsv",
    "track_id",
)
# As a copy of the Postgres table declares them; types are not enforced, as SQLite does not.
DECLARED = (
    "id INTEGER PRIMARY KEY, user_id TEXT, bundle_id TEXT, agent_id TEXT, conversation_id TEXT, message_id TEXT, role TEXT, "
    "text TEXT, hosted_uri TEXT, ts TEXT, ttl_days INTEGER, user_type TEXT, tags TEXT, embedding BLOB, turn_id TEXT, "
    "anchors_text TEXT, search_tsv TEXT, track_id TEXT"
)
FORMS = ("json", "repr", "bare", "nested", "payload")
ABSENT = object()  # a key that is not in the object


def at(*, minutes: float = 0, days: float = 0) -> str:
    return iso(START + timedelta(minutes=minutes, days=days))


def iso(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def said(form: str, reaction: Row, meta: Row | None = None) -> str:
    """A reaction as one of the historical texts."""
    if form == "repr":
        return f"[turn.log.reaction] {reaction!r}"
    whole: Row = reaction if form in ("json", "bare") else {"reaction": reaction}
    if form == "payload":
        whole = {"payload": {"reaction": reaction, **({"meta": meta} if meta else {})}}
    elif meta:
        whole = {**whole, "meta": meta}
    return ("[turn.log.reaction]\n" if form in ("json", "nested") else "") + json.dumps(whole)


def reaction(
    form: str = "json", meta: Row | None = None, tag: str = "artifact:turn.log.reaction", **values: Any
) -> Row:
    """A row of conv_messages: columns by their names, fields of the object with `_` behind theirs (`text_`, `origin_`)."""
    fields = {"turn_id": "t", "text": "good", "reaction": "ok", "origin": "user"}
    fields |= {name.removesuffix("_"): value for name, value in values.items() if name.endswith("_")}
    columns = {name: value for name, value in values.items() if not name.endswith("_")}
    turn = columns.get("turn_id", "t")
    fields = (
        {"turn_id": turn}
        | {name: value for name, value in fields.items() if name != "turn_id"}
        | ({"turn_id": values["turn_id_"]} if "turn_id_" in values else {})
    )
    fields = {name: value for name, value in fields.items() if value is not ABSENT}
    return {
        "user_id": "ann",
        "conversation_id": "c",
        "message_id": "m",
        "role": "artifact",
        "ttl_days": 365,
        "turn_id": "t",
        "ts": at(),
        "tags": [tag, f"turn:{turn}"],
        "text": said(form, fields, meta),
        **columns,
    }


def turn_log(**values: Any) -> Row:
    turn = values.get("turn_id", "t")
    return {
        "user_id": "ann",
        "conversation_id": "c",
        "message_id": "log",
        "role": "artifact",
        "ttl_days": 365,
        "turn_id": turn,
        "ts": at(minutes=-1),
        "text": "# Turn log",
        "tags": ["kind:turn.log", "artifact:turn.log", f"turn:{turn}"],
        **values,
    }


def message(**values: Any) -> Row:
    """A chat message, which nobody reads."""
    return {
        "user_id": "ann",
        "conversation_id": "c",
        "message_id": "chat",
        "role": "user",
        "ttl_days": 365,
        "turn_id": "t",
        "ts": at(minutes=-2),
        "text": "How do I ...?",
        "tags": ["chat:user", "turn:t"],
        "embedding": b"\x00\xff",
        **values,
    }


def numbered(rows: Sequence[Row]) -> list[Row]:
    """Rows with ids in the order they are given, unless they say otherwise."""
    return [{"id": number, **row} for number, row in enumerate(rows, 1)]


def source(home: Path) -> Path:
    return home / "sources" / "reactions.db"


def write(path: Path, rows: Sequence[Row], declared: str = DECLARED) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"create table conv_messages ({declared})")
        insert(database, numbered(rows))
        database.commit()
    return path


def insert(database: sqlite3.Connection, rows: Sequence[Row]) -> None:
    for row in rows:
        stored = {name: json.dumps(value) if isinstance(value, list) else value for name, value in row.items()}
        marks = ", ".join(f":{name}" for name in stored)
        database.execute(f"insert into conv_messages ({', '.join(stored)}) values ({marks})", stored)


def add(path: Path, *rows: Row) -> None:
    with closing(sqlite3.connect(path)) as database:
        insert(database, rows)
        database.commit()


def statements(rows: Sequence[Row]) -> Iterator[str]:
    """The same rows for Postgres (tests/postgres/ddl.py has its table)."""
    for row in numbered(rows):
        yield f"insert into conv_messages ({', '.join(row)}) values ({', '.join(map(_literal, row.values()))})"


def _literal(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, list):
        return f"array[{', '.join(map(_literal, value))}]::text[]"
    return str(value) if isinstance(value, int | float) else "'" + str(value).replace("'", "''") + "'"


@dataclass
class Derived:
    """What a run made of the reactions: every table about them, and the accounts of what was read."""

    tables: dict[str, list[Row]]
    accounts: dict[str, Account]
    as_of: datetime

    def rows(self, table: str, key: str) -> dict[str, Row]:
        return {row[key]: row for row in self.tables[table]}

    @property
    def raw(self) -> dict[str, Row]:
        return self.rows("raw_reactions__reactions", "reaction_id")

    @property
    def reactions(self) -> dict[str, Row]:
        return self.rows("core__reactions", "reaction_id")

    @property
    def why(self) -> dict[str, str | None]:
        """Per reaction why it does not count; null where it does."""
        return {key: row["inactive_reason"] for key, row in self.reactions.items()}

    @property
    def reasons(self) -> dict[str | None, list[str]]:
        return {row["key"]: sorted(row["reasons"]) for row in self.tables["quarantine__rows"]}


QUERIES = ("core__reactions", "core__answer_refs", "core__signals", "metric__reaction_daily")
CHECK = "metric__reaction_daily__adds_up"
STORED = (*DATED, "quarantine__rows", *QUERIES)


def derive(
    home: Path, as_of: datetime | None = AS_OF, environ: Mapping[str, str] | None = None, **choice: Any
) -> Derived:
    """Everything of a run up to the tables about reactions, published."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("BATCH_ROWS", "SCAN_BATCH_ROWS"):  # a batch of typed rows comes before every read
            patch.setattr(f"dagster_project.databases.sqlite.{name}", 64)
        return _derive(config.load(home=home, environ=dict(environ or {})), Choice(as_of=as_of, **choice))


def _derive(settings: config.Config, choice: Choice) -> Derived:
    with open_run(settings, choice) as run:
        accounts = {made.table: made.account for asset in DATED for made in read_by_day(run, asset) if made.account}
        for account in accounts.values():
            assert account.adds_up, account
        for query in QUERIES:
            store_query(run.lake, query, run.params, memory_limit_mb=300)

        def rows(table: str) -> list[Row]:
            return sorted(
                table_of(run.lake, table).to_dicts(), key=lambda row: [str(row[name]) for name in TABLES[table].grain]
            )

        derived = Derived({table: rows(table) for table in STORED}, accounts, run.as_of)
        run.lake.catalog.as_of = run.as_of.isoformat()
        run.lake.commit()
    return derived
