"""Small distillation databases, made by rule from a seed, in which everything that can go wrong does.

A handful of interactions lie in several tables and files, dressed differently each time, so that merges, fills, ties of
time and disagreements between copies are common. The feedback beside them hits the examples in all three ways of M1, or
narrowly misses. Left out is what the law does not decide.
"""

import sqlite3
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from tests.oracle import distillation_texts_pool as pool
from tests.oracle import distillation_voices
from tests.oracle.distillation_merge import merged
from tests.oracle.distillation_row_maker import DAYS, FIRST_DAY, Interaction, Maker, Row
from tests.oracle.distillation_rows import (
    CORRECTIONS,
    EXAMPLES,
    PAIRS,
    PATTERNS,
    RAW,
    TABLES,
    THOUGHTS,
    UNIFIED,
    sort_out,
)
from tests.oracle.nasty_database import insert

DROPPABLE = {
    UNIFIED: (
        "session_id",
        "query_context",
        "sam_confidence",
        "sam_reasoning",
        "tool_usage",
        "corrections",
        "principles",
        "subdomain",
        "task_type",
        "quality_flags",
        "reviewer_notes",
        "training_ready",
        "export_count",
        "last_exported_at",
    ),
    EXAMPLES: ("sam_attempt", "complexity", "quality_score", "reasoning_pattern_id", "reviewed_at", "exported_at"),
    RAW: ("quality_score", "processed"),
    THOUGHTS: ("complexity", "success"),
    PAIRS: ("reason",),
}


@dataclass
class CaseFile:
    """One database file: the columns and rows of every table that is there."""

    columns: dict[str, list[str]]
    is_typed: bool
    rows: dict[str, list[Row]] = field(default_factory=dict)

    def write(self, path: Path) -> None:
        connection = sqlite3.connect(path)
        with connection:
            for table, columns in self.columns.items():
                kinds = TABLES[table].columns | {"id": "text primary key"} if self.is_typed else {}
                declared = ", ".join(f'"{name}" {kinds.get(name, "")}' for name in columns)
                connection.execute(f"create table {table} ({declared})")
                for row in self.rows.get(table, []):
                    insert(connection, table, {name: row.get(name) for name in columns})
        connection.close()


@dataclass
class DistillationCase:
    """The databases of one seed with the settings to read them with."""

    seed: int
    files: list[Path]
    feedback_files: list[Path]
    as_of: datetime
    min_weight: float
    split_key: str
    synthetic_pairs: bool


def collect(rows: dict[str, list[Row]], more: dict[str, list[Row]]) -> None:
    for table, found in more.items():
        rows.setdefault(table, []).extend(found)


def make_rows(maker: Maker, interactions: list[Interaction]) -> dict[str, list[Row]]:
    """Every interaction in some tables, at times twice in one."""
    rows: dict[str, list[Row]] = {}
    for asked in interactions:
        for generation in maker.random.sample(range(3), maker.pick((1, 1, 2, 3))):
            for _ in range(maker.pick((1, 1, 1, 2))):
                told = (lambda a: {UNIFIED: [maker.unified(a)]}, maker.normalised, maker.legacy)[generation](asked)
                collect(rows, told)
    for _ in range(6):
        collect(rows, maker.retold_thought())
        collect(rows, {THOUGHTS: [maker.thought(maker.id("t"), maker.pick(pool.PROMPTS))]})
    collect(rows, {PAIRS: [maker.pair(number) for number in range(12)]})
    for table in (UNIFIED, EXAMPLES, RAW, THOUGHTS, PAIRS):
        for row in rows.get(table, []):
            for _ in range(maker.pick((1, 1, 2)) if maker.chance(0.12) else 0):
                maker.spoil(table, row)
        maker.random.shuffle(rows.get(table, []))
    return rows


def make_files(maker: Maker) -> list[CaseFile]:
    """One or two files. Some generations may be absent, but never all."""
    interactions = maker.interactions(maker.random.randrange(20, 45))
    rows = make_rows(maker, interactions)
    absent = maker.pick(
        ((), (), (UNIFIED,), (EXAMPLES, PATTERNS, CORRECTIONS), (RAW, THOUGHTS), (RAW,), (PATTERNS,), (PAIRS,))
    )
    columns = {}
    for table in (table for table in TABLES if table not in absent):
        columns[table] = list(TABLES[table].columns)
        if maker.chance(0.25) and table in DROPPABLE:
            columns[table].remove(maker.pick(DROPPABLE[table]))
    if UNIFIED in columns and maker.chance(0.3):
        columns[UNIFIED].append("mood")
    files = [CaseFile(columns, maker.chance(0.7), rows)]
    if maker.chance(0.4):
        second = make_rows(maker, maker.random.sample(interactions, 6))
        second.pop(PAIRS)
        for table in (UNIFIED, EXAMPLES, RAW):
            collect(second, {table: maker.random.sample(rows.get(table, []), min(4, len(rows.get(table, []))))})
        files.append(CaseFile(columns, files[0].is_typed, second))
    return files


def make(seed: int, folder: Path) -> DistillationCase:
    """The case of a seed, written to `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    maker = Maker(f"{seed}:0")
    paths = []
    for number, file in enumerate(make_files(maker)):
        paths.append(folder / f"distillation_{number}.db")
        paths[-1].unlink(missing_ok=True)
        file.write(paths[-1])
    as_of = FIRST_DAY + timedelta(days=maker.pick((DAYS, DAYS, DAYS - 1, DAYS + 30)), hours=maker.pick((0, 0, 12)))
    examples = merged(sort_out(paths), as_of)
    feedback = folder / "feedback.db"
    feedback_files = [] if maker.chance(0.1) else [feedback]
    if feedback_files:
        distillation_voices.write(feedback, list(examples.values()), maker.random, FIRST_DAY.timestamp())
    return DistillationCase(
        seed,
        paths,
        feedback_files,
        as_of,
        maker.pick((0.3, 0.3, 0.3, 0.75)),
        maker.pick(("gristmill", "k:ü")),
        maker.chance(0.5),
    )
