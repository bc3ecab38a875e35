"""Small distillation databases for tests, and the stages of a run up to core__distilled_answers, without Dagster."""

import hashlib
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from dagster_project import config
from dagster_project.engines.stored_tables import store_query
from dagster_project.intake.stage import Choice
from dagster_project.registry import open_run
from dagster_project.systems.distillation import source as distillation
from dagster_project.systems.distillation.answers import SOURCES, TABLE, make_distilled_answers, merged
from dagster_project.systems.distillation.intake import read_by_day, read_whole
from tests.tables import table_of

UNIFIED, NORMAL, LEGACY, THOUGHTS, PAIRS = (
    "distillation_examples",
    "examples",
    "raw_interactions",
    "chain_of_thought",
    "preference_pairs",
)
PATTERNS, CORRECTIONS = "reasoning_patterns", "corrections"
SPECS = {spec.name: spec for spec in (*distillation.DATED.values(), *distillation.UNDATED.values())}
KINDS = {"text": "TEXT", "id": "TEXT", "integer": "INTEGER", "real": "REAL"}
START = datetime(2026, 1, 20, 12, tzinfo=UTC)
ANSWER = "It depends on what you measure. A longer look shows that both are right, each in its own way, and neither is always so."
STEPS = '["one", "two"]'

Row = dict[str, Any]
Tables = Mapping[str, Sequence[Row]]


def at(days: float = 0) -> float:
    return (START + timedelta(days=days)).timestamp()


def plain(table: str) -> Row:
    """What a row has unless a test says otherwise; columns that are not named are NULL."""
    prompt, response = ("query", "claude_response") if table in (UNIFIED, NORMAL) else ("prompt", "response")
    texts = {prompt: "Why?", response: ANSWER, "domain": "code", "good_response": ANSWER, "bad_response": "No idea."}
    texts |= {"principle": "Look twice.", "example_id": "nobody"}
    return {name: value for name, value in (texts | {"created_at": at()}).items() if name in SPECS[table].columns}


def write(path: Path, tables: Tables, integer_ids: bool = False) -> Path:
    """A database with just these tables."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as database:
        for table, rows in tables.items():
            kinds = {name: KINDS[kind] for name, kind in SPECS[table].columns.items()}
            if integer_ids:
                kinds |= {name: "INTEGER" for name, kind in SPECS[table].columns.items() if kind == "id"}
            columns = (f"{name} {kind}{' PRIMARY KEY' if name == 'id' else ''}" for name, kind in kinds.items())
            database.execute(f"create table {table} ({', '.join(columns)})")
            for row in rows:
                whole = plain(table) | row
                marks = ", ".join(f":{name}" for name in whole)
                database.execute(f"insert into {table} ({', '.join(whole)}) values ({marks})", whole)
        database.commit()
    return path


def source(home: Path) -> Path:
    return home / "sources" / "distillation.db"


@dataclass
class Derived:
    """What a run made: examples by id, with their merged texts; rows made again; what every kept day was made from."""

    examples: dict[str, Row]
    texts: dict[str, Row]
    raw: dict[str, dict[str, Row]]
    made: int
    inputs: dict[str, str]

    @property
    def days(self) -> dict[str, str]:
        return {
            key.removeprefix(f"{TABLE}/"): value for key, value in self.inputs.items() if key.startswith(f"{TABLE}/")
        }


def derive(home: Path, as_of: datetime | None = None) -> Derived:
    """Everything of a run up to core__distilled_answers, published."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("BATCH_ROWS", "SCAN_BATCH_ROWS"):  # a batch of typed rows comes before every read
            patch.setattr(f"dagster_project.databases.sqlite.{name}", 64)
        return derive_as_it_is(home, as_of)


def derive_as_it_is(home: Path, as_of: datetime | None) -> Derived:
    with open_run(config.load(home=home, environ={}), Choice(as_of=as_of)) as run:
        for asset in distillation.DATED:
            read_by_day(run, asset)
        for asset in distillation.UNDATED:
            read_whole(run, asset)
        store_query(run.lake, SOURCES, run.params, memory_limit_mb=300)
        made = make_distilled_answers(run)[0].told["made_again"]

        def rows(table: str, key: str) -> dict[str, Row]:
            return {row[key]: row for row in table_of(run.lake, table).to_dicts()}

        sources = table_of(run.lake, SOURCES)
        texts = merged(run.lake, sources, as_of=run.as_of).to_dicts() if sources.height else []
        derived = Derived(
            rows(TABLE, "example_id"),
            {row["example_id"]: row for row in texts},
            {table: rows(f"raw_distillation__{table}", "id") for table in SPECS},
            made,
            dict(run.lake.catalog.inputs),
        )
        run.lake.catalog.as_of = run.as_of.isoformat()
        run.lake.commit()
    return derived


def thought_id(prompt: str, response: str) -> str:
    """sources.md, in Python's own words."""
    return hashlib.md5((prompt + response[:100]).encode()).hexdigest()[:12]
