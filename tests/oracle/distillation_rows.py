"""Rows of a distillation database as the law reads them: types, contract and broken JSON (semantics G1, G5, G6, D1).

One row at a time, stored cells beside read values. What a row means for an example is said in `distillation_merge`.
"""

import json
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any

from tests.oracle.feedback_source import (
    FIRST,
    INTEGER,
    LAST,
    REAL,
    TEXT,
    Cell,
    instant,
    read_number,
    read_table,
    read_text,
    repaired,
)

UNIFIED, EXAMPLES, RAW, THOUGHTS, PAIRS = (
    "distillation_examples",
    "examples",
    "raw_interactions",
    "chain_of_thought",
    "preference_pairs",
)
PATTERNS, CORRECTIONS = "reasoning_patterns", "corrections"
LIST, OBJECT = "list", "object"


@dataclass(frozen=True)
class TableRule:
    """What the law says of one table. Legacy tables answer for their own column names."""

    columns: dict[str, str]
    required: tuple[str, ...] = ()
    json: dict[str, str] = field(default_factory=dict)
    epochs: tuple[str, ...] = ("created_at",)


TABLES = {
    UNIFIED: TableRule(
        {
            "id": TEXT,
            "session_id": TEXT,
            "created_at": REAL,
            "query": TEXT,
            "query_context": TEXT,
            "sam_attempt": TEXT,
            "sam_confidence": REAL,
            "sam_reasoning": TEXT,
            "claude_response": TEXT,
            "reasoning_type": TEXT,
            "reasoning_steps": TEXT,
            "tool_usage": TEXT,
            "corrections": TEXT,
            "principles": TEXT,
            "domain": TEXT,
            "subdomain": TEXT,
            "task_type": TEXT,
            "complexity": INTEGER,
            "quality_score": REAL,
            "quality_flags": TEXT,
            "human_reviewed": INTEGER,
            "reviewer_notes": TEXT,
            "training_ready": INTEGER,
            "training_format": TEXT,
            "export_count": INTEGER,
            "last_exported_at": REAL,
        },
        ("id", "created_at", "query", "claude_response", "domain"),
        {"reasoning_steps": LIST, "tool_usage": LIST, "corrections": OBJECT, "principles": LIST, "quality_flags": LIST},
        ("created_at", "last_exported_at"),
    ),
    EXAMPLES: TableRule(
        {
            "id": TEXT,
            "query": TEXT,
            "sam_attempt": TEXT,
            "claude_response": TEXT,
            "reasoning_type": TEXT,
            "domain": TEXT,
            "complexity": INTEGER,
            "quality_score": REAL,
            "human_reviewed": INTEGER,
            "approved": INTEGER,
            "reviewer_notes": TEXT,
            "reasoning_pattern_id": TEXT,
            "created_at": REAL,
            "reviewed_at": REAL,
            "exported_at": REAL,
        },
        ("id", "created_at", "query", "claude_response", "domain"),
        {},
        ("created_at", "reviewed_at", "exported_at"),
    ),
    PATTERNS: TableRule(
        {
            "id": TEXT,
            "example_id": TEXT,
            "reasoning_type": TEXT,
            "reasoning_steps": TEXT,
            "tool_usage": TEXT,
            "complexity": INTEGER,
            "confidence": REAL,
            "created_at": REAL,
        },
        (),
        {"reasoning_steps": LIST, "tool_usage": LIST},
    ),
    CORRECTIONS: TableRule(
        {
            "id": TEXT,
            "example_id": TEXT,
            "error_type": TEXT,
            "what_sam_said": TEXT,
            "what_was_wrong": TEXT,
            "correct_answer": TEXT,
            "improvements": TEXT,
            "lesson_learned": TEXT,
            "created_at": REAL,
        },
        (),
        {"improvements": LIST},
    ),
    RAW: TableRule(
        {
            "id": TEXT,
            "prompt": TEXT,
            "response": TEXT,
            "domain": TEXT,
            "quality_score": REAL,
            "processed": INTEGER,
            "created_at": REAL,
        },
        ("id", "created_at", "prompt", "response", "domain"),
    ),
    THOUGHTS: TableRule(
        {
            "id": TEXT,
            "prompt": TEXT,
            "reasoning_steps": TEXT,
            "final_answer": TEXT,
            "domain": TEXT,
            "complexity": INTEGER,
            "success": INTEGER,
            "created_at": REAL,
        },
        ("id", "created_at", "prompt", "domain"),
        {"reasoning_steps": LIST},
    ),
    PAIRS: TableRule(
        {
            "id": TEXT,
            "prompt": TEXT,
            "good_response": TEXT,
            "bad_response": TEXT,
            "reason": TEXT,
            "domain": TEXT,
            "created_at": REAL,
        },
        ("id", "created_at", "prompt", "good_response", "domain"),
    ),
}
# Of these alone D1 speaks; of the others only G5 does.
UNDER_CONTRACT = (UNIFIED, EXAMPLES, RAW, THOUGHTS, PAIRS)


@dataclass
class SourceRow:
    """One stored row: cells as SQLite has them, values as read (JSON parsed), reasons against it, marks on it."""

    table: str
    file: int
    rowid: int
    cells: dict[str, Cell]
    values: dict[str, Any] = field(default_factory=dict)
    reasons: set[str] = field(default_factory=set)
    marks: set[str] = field(default_factory=set)
    at: datetime | None = None

    def __getitem__(self, column: str) -> Any:
        return self.values.get(column)

    @property
    def key(self) -> str | None:
        """G11: null where it is missing or cannot be read."""
        return self["id"] or None

    @property
    def day(self) -> date | None:
        return self.at.date() if self.at else None

    @property
    def name(self) -> str:
        """How source_rows calls it."""
        return f"{self.table}:{self['id']}"


def read_row(row: SourceRow) -> None:
    """Everything one row says about itself."""
    rule = TABLES[row.table]
    refused = set()
    for column, wanted in rule.columns.items():
        cell = row.cells.get(column, Cell("null", None))
        value, reason = None, None
        if cell.kind != "null":
            value, reason = read_text(cell) if wanted == TEXT else read_number(cell, wanted)
        if reason:
            refused.add(column)
            row.reasons.add(f"{reason}:{column}")
        if column in rule.epochs and isinstance(value, float):
            value = repaired(value)
        row.values[column] = value
    for column in rule.required:
        if column not in refused and (row[column] is None or (column == "id" and row[column] == "")):
            row.reasons.add(f"missing:{column}")
    if row["created_at"] is not None:
        date_row(row)
    check_ranges(row)
    for column, shape in rule.json.items():
        row.values[column], is_bad = parsed(row[column], shape)
        if is_bad:
            row.marks.add(f"bad_json:{column}")


def date_row(row: SourceRow) -> None:
    """G1: valid event times lie in 2000 to 2099. D1 says nothing of the days of side tables."""
    seconds = row["created_at"]
    if -1e11 < seconds < 1e11 and FIRST <= instant(seconds) < LAST:
        row.at = instant(seconds)
    elif row.table in UNDER_CONTRACT:
        row.reasons.add("out_of_range:created_at")


def check_ranges(row: SourceRow) -> None:
    """D1; null is in every range."""
    if row.table not in UNDER_CONTRACT:
        return
    if row["human_reviewed"] not in (None, -1, 0, 1):
        row.reasons.add("out_of_range:human_reviewed")
    if row["sam_confidence"] is not None and not 0 <= row["sam_confidence"] <= 1:
        row.reasons.add("out_of_range:sam_confidence")
    if row["complexity"] is not None and not 1 <= row["complexity"] <= 10:
        row.reasons.add("out_of_range:complexity")


def parsed(text: str | None, shape: str) -> tuple[Any, bool]:
    """D1: the value of a JSON column and whether it is bad. Empty text and null are no value, and not bad."""
    if not text:
        return None, False
    try:
        value = json.loads(text)
    except ValueError:
        return None, True
    if value is None:
        return None, False
    fits = isinstance(value, list if shape == LIST else dict)
    return (value, False) if fits else (None, True)


@dataclass
class DistillationSource:
    """What the files hold: G3's rows read = kept + quarantined + copies."""

    kept: dict[str, list[SourceRow]]
    quarantined: list[SourceRow]
    copies: list[SourceRow]


def sort_out(files: list[Path]) -> DistillationSource:
    """Every row of every table that is there. Exact copies in a second file are one row."""
    seen: dict[tuple[str, Any], SourceRow] = {}
    kept: dict[str, list[SourceRow]] = defaultdict(list)
    quarantined, copies = [], []
    for number, path in enumerate(files):
        for table in TABLES:
            for cells in read_table(path, table) or []:
                row = SourceRow(table, number, cells.pop("rowid").value, cells)
                read_row(row)
                first = seen.get((table, row["id"]))
                if row.reasons:
                    quarantined.append(row)
                elif first is None:
                    seen[table, row["id"]] = row
                    kept[table].append(row)
                elif first.values == row.values:
                    copies.append(row)
                else:
                    raise AssertionError(f"the law does not say which {row.name} is right")
    return DistillationSource(dict(kept), quarantined, copies)
