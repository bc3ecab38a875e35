"""Writes a made-up `distillation.db`: three generations of tables side by side, with every trouble they are known for."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from dagster_project.demo.database import NewDatabase
from dagster_project.demo.distillation.interactions import RAW_TEXTS, Demand, Distillery, Tables
from dagster_project.demo.distillation.tables import COLUMNS
from dagster_project.demo.distillation.texts import Teaching
from dagster_project.demo.timeline import DAY, LAST_DAY, epoch


def write_distillation(
    path: Path,
    rows: int,
    seed: int,
    days: int = 90,
    last_day: date = LAST_DAY,
    text_bytes: int | None = None,
    feedback: Path | None = None,
) -> dict[str, int]:
    """Write one database with `rows` different interactions and say how often each hazard was planted.

    Many interactions stand in several tables; preference pairs, principles and templates come on top. `text_bytes` is
    the mean length of the teacher's answers. With `feedback`, a written `feedback.db`, about one interaction in eight
    is one that users judged there, and the counts say how many of those are linked in which way and with which
    verdict (M1).
    """
    distillery = Distillery(Demand(rows, seed, days, last_day, text_bytes, feedback))
    counts: Counter[str] = Counter()
    with closing(NewDatabase(path, "distillation/tables.sql")) as file:
        for tables in distillery.batches():
            for table in COLUMNS:
                counts[f"rows_{table}"] += len(tables.get(table, ()))
            _insert(file, tables)
        reference = _reference_tables(distillery.teaching, epoch(last_day - timedelta(days=days - 1)))
        if distillery.places:
            identity, domain, text, _, *rest = reference["principles"][0]
            reference["principles"][0] = (identity, domain, text, "not json", *rest)
            distillery.planted["principle_json_text"] += 1
        _insert(file, reference)
    counts["rows"] = rows
    return {**distillery.planted, **counts}


def _insert(file: NewDatabase, tables: Tables) -> None:
    texts = tables.pop(RAW_TEXTS, [])
    for table, rows in tables.items():
        if rows:
            file.insert(table, rows, len(rows[0]))
    for table, column, identity in texts:
        file.execute(f"update {table} set {column} = cast({column} as text) where id = ?", (identity,))


def _reference_tables(teaching: Teaching, first: float) -> Tables:
    """What the oldest generation distilled by hand: principles and templates."""
    principles: list[tuple[Any, ...]] = []
    for place, principle in enumerate(teaching.principles):
        created_at = first + place * DAY / len(teaching.principles)
        identity = hashlib.md5(principle.text.encode()).hexdigest()[:12]
        examples = json.dumps(principle.examples, ensure_ascii=False)
        source_count, verified = 1 + place % 7, place % 3 // 2
        about = (principle.domain, principle.text, examples, principle.importance)
        principles.append((identity, *about, source_count, verified, created_at, created_at + DAY))
    return {"principles": principles, "skill_templates": list(_skills(teaching, first))}


def _skills(teaching: Teaching, first: float) -> Iterator[tuple[Any, ...]]:
    for place, skill in enumerate(teaching.phrases["skill"]):
        identity = hashlib.md5(skill["name"].encode()).hexdigest()[:12]
        lists = (json.dumps(skill["examples"]), json.dumps(skill["domains"]))
        yield (identity, skill["name"], skill["description"], skill["pattern"], *lists, first + place * 60)
