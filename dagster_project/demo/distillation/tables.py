"""The tables of `distillation.db` that hold examples, each as a row type with the columns in their order."""

from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any

UNIFIED, EXAMPLES, RAW, THOUGHTS = "distillation_examples", "examples", "raw_interactions", "chain_of_thought"
PATTERNS, CORRECTIONS, QUEUE = "reasoning_patterns", "corrections", "review_queue"
PAIRS = "preference_pairs"


@dataclass(slots=True)
class UnifiedRow:
    """A row of `distillation_examples`. Where a hazard breaks a type on purpose, the type is Any, here and below."""

    id: Any
    session_id: str | None
    created_at: Any
    query: Any
    query_context: str | None
    sam_attempt: str | None
    sam_confidence: Any
    sam_reasoning: str | None
    claude_response: Any
    reasoning_type: Any
    reasoning_steps: Any
    tool_usage: Any
    corrections: Any
    principles: Any
    domain: Any
    subdomain: str | None
    task_type: str | None
    complexity: Any
    quality_score: Any
    quality_flags: Any
    human_reviewed: Any = 0
    reviewer_notes: str | None = None
    training_ready: int = 0
    training_format: str | None = None
    export_count: int = 0
    last_exported_at: float | None = None


@dataclass(slots=True)
class ExampleRow:
    id: str
    query: Any
    sam_attempt: str | None
    claude_response: Any
    reasoning_type: str | None
    domain: Any
    complexity: Any
    quality_score: Any
    human_reviewed: Any
    approved: Any
    reviewer_notes: str | None
    reasoning_pattern_id: str | None
    created_at: Any
    reviewed_at: float | None
    exported_at: float | None


@dataclass(slots=True)
class PatternRow:
    id: str
    example_id: str
    reasoning_type: str
    reasoning_steps: Any
    tool_usage: Any
    complexity: int
    confidence: float
    created_at: float


@dataclass(slots=True)
class CorrectionRow:
    id: str
    example_id: str
    error_type: str
    what_sam_said: str
    what_was_wrong: str
    correct_answer: str
    improvements: Any
    lesson_learned: str | None
    created_at: float


@dataclass(slots=True)
class QueueRow:
    id: str
    example_id: str
    priority: int
    reason: str
    status: str
    assigned_to: str | None
    created_at: float
    updated_at: float


@dataclass(slots=True)
class RawRow:
    id: str
    prompt: Any
    response: Any
    domain: Any
    quality_score: Any
    processed: int
    created_at: Any


@dataclass(slots=True)
class ThoughtRow:
    id: str
    prompt: Any
    reasoning_steps: Any
    final_answer: Any
    domain: str
    complexity: Any
    success: Any
    created_at: Any


@dataclass(slots=True)
class PairRow:
    id: str
    prompt: Any
    good_response: Any
    bad_response: Any
    reason: str | None
    domain: Any
    created_at: Any


ROW_TYPES = {
    UNIFIED: UnifiedRow,
    EXAMPLES: ExampleRow,
    PATTERNS: PatternRow,
    CORRECTIONS: CorrectionRow,
    QUEUE: QueueRow,
    THOUGHTS: ThoughtRow,
    PAIRS: PairRow,
    RAW: RawRow,
}
COLUMNS = {table: tuple(field.name for field in fields(row_type)) for table, row_type in ROW_TYPES.items()}
VALUES = {table: attrgetter(*columns) for table, columns in COLUMNS.items()}
