"""SAM distillation (seed 2): three generations of tables side by side, and how a row of each becomes one of ours.

Only what depends on one row lives here: columns, repairs (G1, D1) and vocabularies; what a row must be is its schema's.
Which rows are one interaction (D2) is decided in SQL over the keys of `systems/distillation/interaction_keys.py`; their texts are
merged in `answers.py`.
"""

from collections.abc import Mapping

import polars as pl

from dagster_project.columns.instants import instant, repair_milliseconds
from dagster_project.columns.json_columns import json_kinds, says_something
from dagster_project.contracts.source_table import TableSpec

DOMAINS = ("code", "reasoning", "creative", "factual", "planning", "analysis", "general")
FORMATS = ("instruction", "cot", "preference", "correction")

EXAMPLES = TableSpec(
    system="distillation",
    name="distillation_examples",
    columns={
        "id": "id",
        "session_id": "text",
        "created_at": "real",
        "query": "text",
        "query_context": "text",
        "sam_attempt": "text",
        "sam_confidence": "real",
        "sam_reasoning": "text",
        "claude_response": "text",
        "reasoning_type": "text",
        "reasoning_steps": "text",
        "tool_usage": "text",
        "corrections": "text",
        "principles": "text",
        "domain": "text",
        "subdomain": "text",
        "task_type": "text",
        "complexity": "integer",
        "quality_score": "real",
        "quality_flags": "text",
        "human_reviewed": "integer",
        "reviewer_notes": "text",
        "training_ready": "integer",
        "training_format": "text",
        "export_count": "integer",
        "last_exported_at": "real",
    },
    required=("id", "created_at", "query", "claude_response", "domain"),
    key="id",
    event_time="created_at",
    edited=tuple(
        """
        created_at human_reviewed quality_score training_ready training_format export_count
        last_exported_at complexity reasoning_type
    """.split()
    ),
    measured=("reviewer_notes", "quality_flags", "sam_attempt", "claude_response", "reasoning_steps", "corrections"),
    is_optional=True,
)
PLAIN_EXAMPLES = TableSpec(
    system="distillation",
    name="examples",
    columns={
        "id": "id",
        "query": "text",
        "sam_attempt": "text",
        "claude_response": "text",
        "reasoning_type": "text",
        "domain": "text",
        "complexity": "integer",
        "quality_score": "real",
        "human_reviewed": "integer",
        "approved": "integer",
        "reviewer_notes": "text",
        "reasoning_pattern_id": "id",
        "created_at": "real",
        "reviewed_at": "real",
        "exported_at": "real",
    },
    required=("id", "created_at", "query", "claude_response", "domain"),
    key="id",
    event_time="created_at",
    edited=("created_at", "human_reviewed", "approved", "quality_score", "reviewed_at", "exported_at", "complexity"),
    measured=("reviewer_notes", "sam_attempt", "claude_response"),
    is_optional=True,
)
INTERACTIONS = TableSpec(
    system="distillation",
    name="raw_interactions",
    columns={
        "id": "id",
        "prompt": "text",
        "response": "text",
        "domain": "text",
        "quality_score": "real",
        "processed": "integer",
        "created_at": "real",
    },
    required=("id", "created_at", "prompt", "response", "domain"),
    key="id",
    event_time="created_at",
    edited=("created_at", "processed", "quality_score"),
    measured=("response",),
    is_optional=True,
)
THOUGHTS = TableSpec(
    system="distillation",
    name="chain_of_thought",
    columns={
        "id": "id",
        "prompt": "text",
        "reasoning_steps": "text",
        "final_answer": "text",
        "domain": "text",
        "complexity": "integer",
        "success": "integer",
        "created_at": "real",
    },
    required=("id", "created_at", "prompt", "domain"),
    key="id",
    event_time="created_at",
    edited=("created_at", "success", "complexity"),
    measured=("reasoning_steps", "final_answer"),
    is_optional=True,
)
PAIRS = TableSpec(
    system="distillation",
    name="preference_pairs",
    columns={
        "id": "id",
        "prompt": "text",
        "good_response": "text",
        "bad_response": "text",
        "reason": "text",
        "domain": "text",
        "created_at": "real",
    },
    required=("id", "created_at", "prompt", "good_response", "domain"),
    key="id",
    event_time="created_at",
    edited=("created_at",),
    measured=("good_response", "bad_response"),
    is_optional=True,
)
DATED = {f"raw_distillation__{spec.name}": spec for spec in (EXAMPLES, PLAIN_EXAMPLES, INTERACTIONS, THOUGHTS, PAIRS)}

PATTERNS = TableSpec(
    system="distillation",
    name="reasoning_patterns",
    columns={
        "id": "id",
        "example_id": "id",
        "reasoning_type": "text",
        "reasoning_steps": "text",
        "tool_usage": "text",
        "complexity": "integer",
        "confidence": "real",
        "created_at": "real",
    },
    required=("id",),
    key="id",
    edited=("id", "example_id", "complexity", "confidence"),
    measured=("reasoning_steps", "tool_usage"),
    is_optional=True,
)
CORRECTIONS = TableSpec(
    system="distillation",
    name="corrections",
    columns={
        "id": "id",
        "example_id": "id",
        "error_type": "text",
        "what_sam_said": "text",
        "what_was_wrong": "text",
        "correct_answer": "text",
        "improvements": "text",
        "lesson_learned": "text",
        "created_at": "real",
    },
    required=("id",),
    key="id",
    edited=("id", "example_id"),
    measured=("what_sam_said", "what_was_wrong", "correct_answer", "improvements", "lesson_learned"),
    is_optional=True,
)
REVIEW_QUEUE = TableSpec(
    system="distillation",
    name="review_queue",
    columns={
        "id": "id",
        "example_id": "id",
        "priority": "integer",
        "reason": "text",
        "status": "text",
        "assigned_to": "text",
        "created_at": "real",
        "updated_at": "real",
    },
    required=("id",),
    key="id",
    edited=("id", "example_id", "priority", "status", "assigned_to", "updated_at"),
    is_optional=True,
)
PRINCIPLES = TableSpec(
    system="distillation",
    name="principles",
    columns={
        "id": "id",
        "domain": "text",
        "principle": "text",
        "examples": "text",
        "importance": "real",
        "source_count": "integer",
        "verified": "integer",
        "created_at": "real",
        "updated_at": "real",
    },
    required=("id", "principle"),
    key="id",
    edited=("id", "importance", "source_count", "verified", "updated_at"),
    measured=("principle", "examples"),
    is_optional=True,
)
SKILLS = TableSpec(
    system="distillation",
    name="skill_templates",
    columns={
        "id": "id",
        "name": "text",
        "description": "text",
        "pattern": "text",
        "examples": "text",
        "domains": "text",
        "created_at": "real",
    },
    required=("id",),
    key="id",
    edited=("id", "name"),
    measured=("description", "pattern", "examples"),
    is_optional=True,
)
UNDATED = {f"raw_distillation__{spec.name}": spec for spec in (PATTERNS, CORRECTIONS, REVIEW_QUEUE, PRINCIPLES, SKILLS)}

# JSON columns and the shape each must have to be of use.
JSON_SHAPES: dict[str, Mapping[str, str]] = {
    "distillation_examples": {
        "reasoning_steps": "ARRAY",
        "tool_usage": "ARRAY",
        "corrections": "OBJECT",
        "principles": "ARRAY",
        "quality_flags": "ARRAY",
    },
    "chain_of_thought": {"reasoning_steps": "ARRAY"},
    "reasoning_patterns": {"reasoning_steps": "ARRAY", "tool_usage": "ARRAY"},
    "corrections": {"improvements": "ARRAY"},
    "principles": {"examples": "ARRAY"},
    "skill_templates": {"examples": "ARRAY", "domains": "ARRAY"},
}


def canonical(rows: pl.DataFrame, spec: TableSpec) -> pl.DataFrame:
    """Times in seconds (G1), the instant and its day; JSON that does not parse is empty, and `repairs` says so (D1)."""
    rows = repair_milliseconds(rows, _times(spec)).with_columns(instant(pl.col("created_at")).alias("occurred_at"))
    return mended_json(rows.with_columns(pl.col("occurred_at").dt.date().alias("event_date")), spec.name)


def _times(spec: TableSpec) -> list[str]:
    times = ("created_at", "updated_at", "last_exported_at", "reviewed_at", "exported_at")
    return [name for name in times if name in spec.columns]


def mended_json(rows: pl.DataFrame, table: str) -> pl.DataFrame:
    """JSON columns that are not JSON of their shape become null; the row is marked `bad_json:<column>`.

    Empty text and JSON's own null say nothing, and nothing is wrong with them. Tables without days have their times mended
    here too (G1).
    """
    if (side := UNDATED.get(f"raw_distillation__{table}")) is not None:
        rows = repair_milliseconds(rows, _times(side))
    shapes = JSON_SHAPES.get(table, {})
    filled = {c: says_something(c) for c in shapes}
    if not shapes or not rows.select(pl.any_horizontal(filled.values()).any()).item():
        return rows.with_columns(pl.when(filled[c]).then(pl.col(c)).alias(c) for c in shapes)
    found = json_kinds(rows.select(*shapes))
    good = {c: pl.Series(found[c] == shape).fill_null(False) for c, shape in shapes.items()}
    notes = [pl.when(filled[c] & ~pl.lit(good[c])).then(pl.lit(f"bad_json:{c}")) for c in shapes]
    marked = rows.with_columns(pl.concat_list("repairs", *notes).list.drop_nulls().alias("repairs"))
    return marked.with_columns(pl.when(pl.lit(good[c])).then(pl.col(c)).alias(c) for c in shapes)
