"""What goes wrong in real distillation databases, one function a hazard, and which table it is planted in.

A hazard with a share is a habit of the source and occurs in that part of all interactions; the others are accidents.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from dagster_project.demo.dirt import FAR_FUTURE, RawText
from dagster_project.demo.distillation.tables import (
    CORRECTIONS,
    EXAMPLES,
    PAIRS,
    PATTERNS,
    QUEUE,
    RAW,
    THOUGHTS,
    UNIFIED,
)

DAY = 86_400.0
Change = Callable[[Any, Random], None]
WRONG_SHAPES = {
    "reasoning_steps": '{"step_num": 1}',
    "tool_usage": '"bash"',
    "corrections": "[1, 2]",
    "principles": '{"principle": 3}',
    "quality_flags": "7",
}
FLAG_SETS = (
    '["uncertain"]',
    '["outdated", "hallucination_risk"]',
    '["no_reasoning"]',
    '["repetition"]',
    '["incomplete"]',
)


@dataclass(frozen=True, slots=True)
class Hazard:
    """A change to the row that an interaction has in one table."""

    table: str
    change: Change
    share: float = 0.0


def _set(column: str, value: object) -> Change:
    def change(row: Any, rng: Random) -> None:
        setattr(row, column, value)

    return change


def _set_one(column: str, values: tuple[Any, ...]) -> Change:
    def change(row: Any, rng: Random) -> None:
        setattr(row, column, rng.choice(values))

    return change


def _set_json(value: str) -> Change:
    """In any one of the JSON columns."""

    def change(row: Any, rng: Random) -> None:
        setattr(row, rng.choice(list(WRONG_SHAPES)), value)

    return change


def _truncated_json(row: Any, rng: Random) -> None:
    """As a column with a limit leaves it."""
    whole = row.reasoning_steps or ""
    row.reasoning_steps = whole[: len(whole) // 2] if len(whole) > 10 else '[{"step_num": 1, "action": "iden'


def _misshapen_json(row: Any, rng: Random) -> None:
    column, value = rng.choice(list(WRONG_SHAPES.items()))
    setattr(row, column, value)


def _milliseconds(row: Any, rng: Random) -> None:
    row.created_at = float(round(row.created_at * 1000))


def _future(row: Any, rng: Random) -> None:
    row.created_at = round(FAR_FUTURE + row.created_at % DAY, 6)


def _as_utf16(column: str) -> Change:
    def change(row: Any, rng: Random) -> None:
        setattr(row, column, b"\xff\xfe" + getattr(row, column).encode("utf-16-le"))

    return change


def _as_utf8(column: str) -> Change:
    def change(row: Any, rng: Random) -> None:
        setattr(row, column, getattr(row, column).encode())

    return change


def _as_latin1(column: str) -> Change:
    def change(row: Any, rng: Random) -> None:
        setattr(row, column, RawText(f"Voilà: {getattr(row, column)}".encode("latin-1", "replace")))

    return change


def _with_nul(column: str) -> Change:
    def change(row: Any, rng: Random) -> None:
        text = getattr(row, column)
        setattr(row, column, f"{text[: len(text) // 2]}\x00{text[len(text) // 2 :]}")

    return change


def _upper(column: str) -> Change:
    def change(row: Any, rng: Random) -> None:
        setattr(row, column, f" {getattr(row, column).upper()} ")

    return change


def _unfillable_format(row: Any, rng: Random) -> None:
    row.sam_attempt, row.training_format = None, rng.choice(("correction", "preference"))


def _auto_approved(notes: tuple[str, ...]) -> Change:
    def change(row: Any, rng: Random) -> None:
        row.human_reviewed, row.reviewer_notes = 1, rng.choice(notes)
        if hasattr(row, "approved"):
            row.approved, row.reviewed_at = 1, row.created_at

    return change


def _auto_rejected(notes: tuple[str, ...]) -> Change:
    def change(row: Any, rng: Random) -> None:
        row.human_reviewed, row.reviewer_notes = -1, rng.choice(notes)
        if hasattr(row, "approved"):
            row.human_reviewed, row.approved, row.reviewed_at = 1, 0, row.created_at

    return change


def _approved_unreviewed(row: Any, rng: Random) -> None:
    row.human_reviewed, row.approved = 0, 1


def _orphaned(row: Any, rng: Random) -> None:
    row.example_id = f"gone{rng.getrandbits(48):012x}"


def _same_side(row: Any, rng: Random) -> None:
    row.bad_response = row.good_response


def _same_side_respaced(row: Any, rng: Random) -> None:
    row.bad_response = f"{row.good_response}\r\n"


def all_hazards(approved: tuple[str, ...], rejected: tuple[str, ...]) -> dict[str, Hazard]:
    """Every hazard of a row by its name. The notes are those of the source's own filter."""
    return {
        "stored_flags": Hazard(UNIFIED, _set_one("quality_flags", FLAG_SETS), 0.02),
        "unfillable_format": Hazard(UNIFIED, _unfillable_format, 0.02),
        "auto_approved": Hazard(UNIFIED, _auto_approved(approved), 0.012),
        "auto_rejected": Hazard(UNIFIED, _auto_rejected(rejected), 0.006),
        "example_auto_approved": Hazard(EXAMPLES, _auto_approved(approved), 0.012),
        "example_auto_rejected": Hazard(EXAMPLES, _auto_rejected(rejected), 0.006),
        "thought_failed": Hazard(THOUGHTS, _set("success", 0), 0.015),
        **_UNIFIED,
        **_NORMALISED,
        **_LEGACY,
    }


_UNIFIED = {
    "json_empty": Hazard(UNIFIED, _set_json("")),
    "json_text": Hazard(UNIFIED, _set_json("not json")),
    "json_truncated": Hazard(UNIFIED, _truncated_json),
    "json_shape": Hazard(UNIFIED, _misshapen_json),
    "json_null": Hazard(UNIFIED, _set_json("null")),
    "json_nan": Hazard(UNIFIED, _set("principles", '[{"principle": "Check it", "importance": NaN}]')),
    "reviewed_two": Hazard(UNIFIED, _set("human_reviewed", 2)),
    "reviewed_text": Hazard(UNIFIED, _set("human_reviewed", "yes")),
    "confidence_above_one": Hazard(UNIFIED, _set("sam_confidence", 1.7)),
    "confidence_negative": Hazard(UNIFIED, _set("sam_confidence", -0.2)),
    "confidence_infinite": Hazard(UNIFIED, _set("sam_confidence", float("inf"))),
    "complexity_zero": Hazard(UNIFIED, _set("complexity", 0)),
    "complexity_42": Hazard(UNIFIED, _set("complexity", 42)),
    "complexity_text": Hazard(UNIFIED, _set("complexity", "high")),
    "complexity_fraction": Hazard(UNIFIED, _set("complexity", 5.5)),
    "empty_query": Hazard(UNIFIED, _set("query", "")),
    "blank_query": Hazard(UNIFIED, _set("query", " \n ")),
    "empty_response": Hazard(UNIFIED, _set("claude_response", "")),
    "empty_domain": Hazard(UNIFIED, _set("domain", "")),
    "unknown_domain": Hazard(UNIFIED, _set("domain", "gardening")),
    "upper_case_domain": Hazard(UNIFIED, _upper("domain")),
    "unknown_reasoning_type": Hazard(UNIFIED, _set("reasoning_type", "abductive")),
    "upper_case_reasoning_type": Hazard(UNIFIED, _set("reasoning_type", "Chain_Of_Thought ")),
    "unknown_format": Hazard(UNIFIED, _set("training_format", "dpo")),
    "null_id": Hazard(UNIFIED, _set("id", None)),
    "millisecond_timestamp": Hazard(UNIFIED, _milliseconds),
    "zero_timestamp": Hazard(UNIFIED, _set("created_at", 0.0)),
    "negative_timestamp": Hazard(UNIFIED, _set("created_at", -86_400.5)),
    "huge_timestamp": Hazard(UNIFIED, _set("created_at", 1e18)),
    "future_timestamp": Hazard(UNIFIED, _future),
    "text_timestamp": Hazard(UNIFIED, _set("created_at", "yesterday")),
    "blob_response": Hazard(UNIFIED, _as_utf16("claude_response")),
    "blob_utf8_query": Hazard(UNIFIED, _as_utf8("query")),
    "invalid_utf8": Hazard(UNIFIED, _as_latin1("query")),
    "nul_byte": Hazard(UNIFIED, _with_nul("claude_response")),
}
_NORMALISED = {
    "null_response": Hazard(EXAMPLES, _set("claude_response", None)),
    "null_query": Hazard(EXAMPLES, _set("query", None)),
    "null_timestamp": Hazard(EXAMPLES, _set("created_at", None)),
    "example_milliseconds": Hazard(EXAMPLES, _milliseconds),
    "example_invalid_utf8": Hazard(EXAMPLES, _as_latin1("claude_response")),
    "example_reviewed_text": Hazard(EXAMPLES, _set("human_reviewed", "yes")),
    "approved_two": Hazard(EXAMPLES, _set("approved", 2)),
    "approved_unreviewed": Hazard(EXAMPLES, _approved_unreviewed),
    "missing_pattern": Hazard(EXAMPLES, _set("reasoning_pattern_id", "rp_gone")),
    "orphan_pattern": Hazard(PATTERNS, _orphaned),
    "pattern_json_text": Hazard(PATTERNS, _set("reasoning_steps", "not json")),
    "orphan_correction": Hazard(CORRECTIONS, _orphaned),
    "correction_json_empty": Hazard(CORRECTIONS, _set("improvements", "")),
    "orphan_review": Hazard(QUEUE, _orphaned),
}
_LEGACY = {
    "raw_null_response": Hazard(RAW, _set("response", None)),
    "raw_empty_prompt": Hazard(RAW, _set("prompt", "")),
    "raw_null_domain": Hazard(RAW, _set("domain", None)),
    "raw_blob_response": Hazard(RAW, _as_utf16("response")),
    "raw_nul_byte": Hazard(RAW, _with_nul("prompt")),
    "raw_milliseconds": Hazard(RAW, _milliseconds),
    "raw_text_score": Hazard(RAW, _set("quality_score", "good")),
    "thought_json_empty": Hazard(THOUGHTS, _set("reasoning_steps", "")),
    "thought_json_text": Hazard(THOUGHTS, _set("reasoning_steps", "not json")),
    "thought_json_truncated": Hazard(THOUGHTS, _truncated_json),
    "thought_json_shape": Hazard(THOUGHTS, _set("reasoning_steps", WRONG_SHAPES["reasoning_steps"])),
    "thought_text_complexity": Hazard(THOUGHTS, _set("complexity", "high")),
    "thought_null_final": Hazard(THOUGHTS, _set("final_answer", None)),
    "thought_null_success": Hazard(THOUGHTS, _set("success", None)),
    "thought_success_two": Hazard(THOUGHTS, _set("success", 2)),
}
PAIR_HAZARDS = {
    "pair_same_sides": Hazard(PAIRS, _same_side),
    "pair_respaced_sides": Hazard(PAIRS, _same_side_respaced),
    "pair_empty_side": Hazard(PAIRS, _set("bad_response", "")),
    "pair_null_domain": Hazard(PAIRS, _set("domain", None)),
    "pair_milliseconds": Hazard(PAIRS, _milliseconds),
}
