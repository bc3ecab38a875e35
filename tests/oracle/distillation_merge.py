"""One example per interaction: how the rows of three generations become one (semantics D2, G2, G9, G10).

Every row of an interaction is a part of its example; the first part is the winner and each value comes from the first
part that has it.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tests.oracle.distillation_rows import (
    CORRECTIONS,
    EXAMPLES,
    PAIRS,
    PATTERNS,
    RAW,
    THOUGHTS,
    UNIFIED,
    DistillationSource,
    SourceRow,
)
from tests.oracle.feedback_source import answer_form, known, prompt_form, prompt_key

# The younger the generation, the better; a chain of thought stands beside its interaction, or alone behind all.
UNIFIED_RANK, EXAMPLES_RANK, RAW_RANK, JOINED_RANK, ALONE_RANK = range(5)
JSON_COLUMNS = ("reasoning_steps", "tool_usage", "corrections", "principles")
EXTRACTABLE = ("reasoning_type", *JSON_COLUMNS, "complexity")


@dataclass
class Part:
    """What one source row gives to an example, under the canonical names."""

    rank: int
    row: SourceRow
    query: str
    response: str
    values: dict[str, Any] = field(default_factory=dict)

    @property
    def interaction(self) -> tuple[str, str]:
        """D2: (prompt_key, normalise(response))."""
        return prompt_key(self.query), prompt_form(self.response)

    @property
    def at(self) -> datetime:
        assert self.row.at is not None
        return self.row.at


@dataclass
class Example:
    """A merged example; `value` looks through its parts in order of precedence."""

    parts: list[Part]

    @property
    def winner(self) -> Part:
        return self.parts[0]

    @property
    def id(self) -> str:
        row = self.winner.row
        return row["id"] if row.table == UNIFIED else row.name

    @property
    def at(self) -> datetime:
        return self.winner.at

    @property
    def query(self) -> str:
        return self.winner.query

    @property
    def response(self) -> str:
        return self.winner.response

    def value(self, column: str) -> Any:
        """The first value that is neither null nor empty text; `[]` and `{}` are values (D2, D3)."""
        found = (part.values.get(column) for part in self.parts)
        return next((value for value in found if value is not None and value != ""), None)

    @property
    def attempt(self) -> str | None:
        return self.value("sam_attempt")

    @property
    def context(self) -> str | None:
        return self.value("query_context")

    @property
    def thread(self) -> tuple[str, str]:
        return prompt_form(self.query), prompt_form(self.context)

    @property
    def is_synthetic(self) -> bool:
        return self.winner.row.table == PAIRS

    @property
    def is_rebuilt(self) -> bool:
        return self.winner.rank == ALONE_RANK

    @property
    def has_failed(self) -> bool:
        """D2 says it of a chain of thought that stands alone."""
        return self.is_rebuilt and self.value("success") == 0

    @property
    def sides_differ(self) -> bool:
        return answer_form(self.response) != answer_form(self.value("bad_response"))

    @property
    def source_rows(self) -> list[str]:
        return [part.row.name for part in self.parts]


def is_machine(notes: str | None) -> bool:
    """D6, sources.md: notes that start with AUTO- are a machine's verdict."""
    return (notes or "").startswith("AUTO-")


def unified_review(row: SourceRow) -> str | None:
    """What this row says of its review, with its own notes; None where it says nothing."""
    if row["human_reviewed"] is None:
        return None
    if is_machine(row["reviewer_notes"]):
        return "pending"
    return {1: "approved", -1: "rejected", 0: "pending"}[row["human_reviewed"]]


def examples_review(row: SourceRow) -> str | None:
    """Here human_reviewed says whether, and approved says what."""
    if row["human_reviewed"] is None:
        return None
    if row["human_reviewed"] != 1 or is_machine(row["reviewer_notes"]) or row["approved"] is None:
        return "pending"
    return "approved" if row["approved"] == 1 else "rejected"


def unified_part(row: SourceRow) -> Part:
    values = {**row.values, "session_id": known(row["session_id"]), "review": unified_review(row)}
    return Part(UNIFIED_RANK, row, row["query"], row["claude_response"], values)


def examples_part(row: SourceRow, patterns: list[SourceRow], corrections: list[SourceRow]) -> Part:
    """The normalised set: the pattern's values stand behind the row's own; correction rows become one object."""
    values = {**row.values, "review": examples_review(row)}
    mine = [p for p in patterns if p["example_id"] == row["id"] or p["id"] == row["reasoning_pattern_id"]]
    for pattern in mine:
        for column in ("reasoning_type", "reasoning_steps", "tool_usage", "complexity"):
            if values.get(column) in (None, ""):
                values[column] = pattern[column]
    errors = [c for c in corrections if c["example_id"] == row["id"]]
    if errors:
        named = ("error_type", "what_sam_said", "what_was_wrong", "correct_answer")
        values["corrections"] = {
            "sam_errors": [{name: error[name] for name in named} for error in errors],
            "improvements": [text for error in errors for text in error["improvements"] or []],
        }
    return Part(EXAMPLES_RANK, row, row["query"], row["claude_response"], values)


def thought_id(interaction: SourceRow) -> str:
    """sources.md: how a chain of thought is called by the interaction it came from."""
    return hashlib.md5((interaction["prompt"] + interaction["response"][:100]).encode()).hexdigest()[:12]


def rebuilt_response(thought: SourceRow) -> str:
    """Steps one per line, a blank line, the final answer; only what there is of them."""
    steps = "\n".join(thought["reasoning_steps"] or [])
    return "\n\n".join(text for text in (steps, thought["final_answer"]) if text)


def legacy_parts(interactions: list[SourceRow], thoughts: list[SourceRow]) -> list[Part]:
    """A thought goes with every interaction it may have come from, else it is alone."""
    parts = []
    joined: set[str] = set()
    by_id = {thought["id"]: thought for thought in thoughts}
    for row in interactions:
        parts.append(Part(RAW_RANK, row, row["prompt"], row["response"], dict(row.values)))
        thought = by_id.get(thought_id(row))
        if thought is not None:
            joined.add(thought["id"])
            parts.append(Part(JOINED_RANK, thought, row["prompt"], row["response"], dict(thought.values)))
    for thought in thoughts:
        if thought["id"] not in joined:
            parts.append(Part(ALONE_RANK, thought, thought["prompt"], rebuilt_response(thought), dict(thought.values)))
    return parts


def pair_part(row: SourceRow) -> Part:
    return Part(UNIFIED_RANK, row, row["prompt"], row["good_response"], dict(row.values))


def precedence(part: Part) -> tuple[int, float, str]:
    """The better generation, then the newest, then the smallest id."""
    return part.rank, -part.at.timestamp(), part.row["id"]


def merged(source: DistillationSource, as_of: datetime) -> dict[str, Example]:
    """G2, D2: the examples of all valid rows before as_of, by example_id."""

    def rows(table: str) -> list[SourceRow]:
        return [row for row in source.kept.get(table, []) if row.at and row.at < as_of]

    patterns, corrections = rows(PATTERNS), rows(CORRECTIONS)
    parts: Iterable[Part] = (
        *(unified_part(row) for row in rows(UNIFIED)),
        *(examples_part(row, patterns, corrections) for row in rows(EXAMPLES)),
        *legacy_parts(rows(RAW), rows(THOUGHTS)),
    )
    groups: dict[tuple[str, str], dict[str, Part]] = defaultdict(dict)
    for part in sorted(parts, key=precedence):
        groups[part.interaction].setdefault(part.row.name, part)
    found = [Example(list(group.values())) for group in groups.values()]
    found += [Example([pair_part(row)]) for row in rows(PAIRS)]
    return {example.id: example for example in found}
