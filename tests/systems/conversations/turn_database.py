"""Small databases of turns for tests with what lies beside them, and the stages of a run up to the tables about turns."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
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
from dagster_project.systems.conversations.intake import read_by_day
from dagster_project.systems.conversations.source import DATED
from dagster_project.systems.conversations.turn_pairs import make_turn_pairs
from dagster_project.systems.conversations.turn_references import make_turn_references
from tests.tables import table_of

START = datetime(2026, 1, 20, 12, tzinfo=UTC)
AS_OF = datetime(2026, 2, 1, tzinfo=UTC)
TURNS, OLDER = "turns", "turn_index"
# As PandaAI declares them (sources.md); query and response are columns only some files have.
DECLARED = {
    TURNS: "turn_number INTEGER, user_id TEXT, session_id TEXT, timestamp REAL, topic TEXT, intent TEXT, keywords TEXT, "
    "validation_outcome TEXT, strategy_summary TEXT, quality_score REAL, user_feedback_status TEXT, feedback_confidence REAL, "
    "rejection_detected_in TEXT, goals_json TEXT",
    OLDER: "id INTEGER PRIMARY KEY, turn_number INTEGER, session_id TEXT, topic TEXT, intent TEXT, validation_outcome TEXT, "
    "strategy_summary TEXT, quality_score REAL, user_feedback_status TEXT, rejection_detected_in TEXT, created_at TEXT, "
    "keywords TEXT, doc_path TEXT",
}
TEXTS = ", query TEXT, response TEXT"
# What a row has unless a test says otherwise.
PLAIN = {TURNS: {"user_id": "ann", "session_id": "s"}, OLDER: {"session_id": "s"}}
TIMES = {TURNS: "timestamp", OLDER: "created_at"}
# Messages whose verdict is beyond doubt.
WRONG, RIGHT, NO_MORE = "No, I meant gaming laptops", "Thanks, that's perfect!", "Never mind, forget it"

Row = dict[str, Any]


def at(*, minutes: float = 0, days: float = 0, hours: float = 0) -> float:
    return (START + timedelta(minutes=minutes, days=days, hours=hours)).timestamp()


def iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def source(home: Path) -> Path:
    return home / "sources" / "conversations.db"


def write(path: Path, turns: Sequence[Row] = (), older: Sequence[Row] | None = None, texts: bool = True) -> Path:
    """A database with these turns; `older` makes a table `turn_index` too. `texts` adds the columns query and response."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as database:
        for table, rows in ((TURNS, turns), (OLDER, older)):
            if rows is None:
                continue
            database.execute(f"create table {table} ({DECLARED[table]}{TEXTS if texts else ''})")
            for number, row in enumerate(rows, 1):
                insert(
                    database, table, {"turn_number": number, TIMES[table]: at(minutes=number), **PLAIN[table], **row}
                )
        database.commit()
    return path


def insert(database: sqlite3.Connection, table: str, row: Row) -> None:
    marks = ", ".join(f":{name}" for name in row)
    database.execute(f"insert into {table} ({', '.join(row)}) values ({marks})", row)


def add(path: Path, *rows: Row, table: str = TURNS) -> None:
    """More rows of a database that is there already."""
    with closing(sqlite3.connect(path)) as database:
        for row in rows:
            insert(database, table, {**PLAIN[table], **row})
        database.commit()


def transcript(folder: Path, day: str, *lines: Mapping[str, Any] | str | bytes) -> Path:
    """transcripts/YYYYMMDD.jsonl; a line that is no object is written as it is."""
    path = folder / "transcripts" / f"{day}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    stored = [line if isinstance(line, str | bytes) else json.dumps(line) for line in lines]
    path.write_bytes(b"\n".join(line.encode() if isinstance(line, str) else line for line in stored) + b"\n")
    return path


def turn_folder(
    folder: Path, name: str, query: str | None = None, response: str | bytes | None = None, metadata: Any = None
) -> Path:
    """A turn's folder; metadata that is a text is written as it is."""
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    if query is not None:
        (place / "context.md").write_text(f"# Turn\n\n## 0. User Query\n\n{query}\n\n## 1. Plan\n\nnothing\n")
    if response is not None:
        (place / "response.md").write_bytes(response if isinstance(response, bytes) else response.encode())
    if metadata is not None:
        (place / "metadata.json").write_text(metadata if isinstance(metadata, str) else json.dumps(metadata))
    return place


@dataclass
class Derived:
    """What a run made of the turns: every table about them by key, and how many pairs were judged again."""

    tables: dict[str, list[Row]]
    accounts: dict[str, Account]
    judged: int
    as_of: datetime

    def rows(self, table: str, key: str = "turn_key") -> dict[str, Row]:
        return {row[key]: row for row in self.tables[table]}

    @property
    def raw(self) -> dict[str, Row]:
        return {row["turn_key"]: row for table in reversed(DATED) for row in self.tables[table]}

    @property
    def pairs(self) -> dict[str, Row]:
        return self.rows("core__turn_pairs")

    @property
    def turns(self) -> dict[str, Row]:
        return self.rows("core__turns")

    @property
    def statuses(self) -> dict[str, str]:
        return {key: row["feedback_status"] for key, row in self.turns.items()}

    @property
    def queries(self) -> dict[str, tuple[str | None, str | None]]:
        """Every kept turn's query and where it came from."""
        return {key: (row["query"], row["query_source"]) for key, row in self.raw.items()}

    @property
    def reasons(self) -> list[tuple[str | None, list[str]]]:
        return sorted(((row["key"], row["reasons"]) for row in self.tables["quarantine__rows"]), key=str)


QUERIES = (
    "core__answer_refs",
    "core__turns",
    "core__strategies",
    "core__machine_signals",
    "core__signals",
    "metric__turn_daily",
)
STORED = (*DATED, "quarantine__rows", "core__turn_pairs", "core__turn_references", *QUERIES)


def derive(
    home: Path, as_of: datetime | None = AS_OF, environ: Mapping[str, str] | None = None, **choice: Any
) -> Derived:
    """Everything of a run up to the tables about turns, published."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("BATCH_ROWS", "SCAN_BATCH_ROWS"):  # a batch of typed rows comes before every read
            patch.setattr(f"dagster_project.databases.sqlite.{name}", 64)
        return _derive(config.load(home=home, environ=dict(environ or {})), Choice(as_of=as_of, **choice))


def _derive(settings: config.Config, choice: Choice) -> Derived:
    with open_run(settings, choice) as run:
        accounts = {made.table: made.account for asset in DATED for made in read_by_day(run, asset) if made.account}
        for account in accounts.values():
            assert account.adds_up, account
        judged = make_turn_pairs(run)[0].told["made_again"]
        make_turn_references(run)
        for query in QUERIES:
            store_query(run.lake, query, run.params, memory_limit_mb=300)

        def rows(table: str) -> list[Row]:
            return sorted(
                table_of(run.lake, table).to_dicts(), key=lambda row: [str(row[name]) for name in TABLES[table].grain]
            )

        derived = Derived({table: rows(table) for table in STORED}, accounts, judged, run.as_of)
        run.lake.catalog.as_of = run.as_of.isoformat()
        run.lake.commit()
    return derived
