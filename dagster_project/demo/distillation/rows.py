"""Writes an interaction down the way each generation of the schema does, with what the source stored beside it."""

import hashlib
import json
from typing import Any

from dagster_project.demo.distillation.answers import Interaction, Teacher
from dagster_project.demo.distillation.tables import (
    CORRECTIONS,
    EXAMPLES,
    PATTERNS,
    QUEUE,
    CorrectionRow,
    ExampleRow,
    PatternRow,
    QueueRow,
    RawRow,
    ThoughtRow,
    UnifiedRow,
)
from dagster_project.demo.timeline import to_microseconds

DAY = 86_400.0
STEPPED = ("chain_of_thought", "multi_step")


def thought_id(prompt: str, response: str) -> str:
    """The source's rule, and the only link from a chain of thought to the interaction it came from."""
    return hashlib.md5(f"{prompt}{response[:100]}".encode()).hexdigest()[:12]


def stored_score(row: UnifiedRow, steps: bool, errors: bool, principles: bool) -> float:
    """Seed 2's score as the source computed it when it saved the row."""
    score = 0.5 + 0.1 * steps + 0.15 * errors + 0.1 * principles + 0.05 * ((row.complexity or 0) >= 5)
    score -= 0.2 * (len(row.claude_response) < 100) + 0.1 * (row.reasoning_type == "direct")
    return round(max(0.0, min(1.0, score)), 3)


class Archivist:
    """Turns interactions into rows; what the source left empty, reviewed or exported is drawn here."""

    def __init__(self, teacher: Teacher, end: float) -> None:
        self.teacher = teacher
        self.rng = teacher.rng
        self.end = end
        self.reviews = teacher.teaching.phrases["reviews"]

    def _or_empty(self, value: str | None, share: float, empty: str = "[]") -> str | None:
        """The value, or in the other cases one of the three ways in which the source says nothing."""
        draw = self.rng.random()
        if value is not None and draw < share:
            return value
        return None if draw < 0.5 + share / 2 else empty if draw < 0.97 else ""

    def _complexity(self, asked: Interaction) -> int:
        lowest, highest = asked.lesson.complexity if asked.lesson else (1, 4)
        return lowest + int((highest - lowest + 1) * self.rng.random())

    def _later(self, moment: float, days: float) -> float:
        """Some time after the moment, but never after the data ends."""
        return to_microseconds(min(moment + DAY * days * self.rng.random(), self.end - 1))

    def unified(self, asked: Interaction) -> UnifiedRow:
        rng, lesson, attempt, created_at = self.rng, asked.lesson, asked.attempt, asked.asked_at
        has_steps = asked.kind in STEPPED
        digest = hashlib.sha256(f"{asked.query}{created_at}".encode()).hexdigest()[:16]
        confidence = int(1000 * (0.2 + 0.5 * rng.random())) / 1000 if attempt or rng.random() < 0.3 else None
        thoughts = self.teacher.teaching.phrases["attempts"]["manner"]["thoughts"]
        row = UnifiedRow(
            id=asked.given_id or digest,
            session_id=asked.session_id,
            created_at=created_at,
            query=asked.query,
            query_context=asked.context,
            sam_attempt=attempt.text if attempt else None if rng.random() < 0.8 else "",
            sam_confidence=confidence,
            sam_reasoning=self.teacher.pick(thoughts) if attempt and rng.random() < 0.3 else None,
            claude_response=asked.response,
            reasoning_type=asked.kind if rng.random() < 0.92 else "",
            reasoning_steps=self._or_empty(lesson.steps if lesson and has_steps else None, 0.75),
            tool_usage=self._or_empty(
                lesson.tool.usage if lesson and lesson.tool and asked.kind == "tool_use" else None, 0.75
            ),
            corrections=self._or_empty(self.teacher.corrections(attempt) if attempt else None, 0.6, "{}"),
            principles=self._or_empty(lesson.principles if lesson else None, 0.4),
            domain=asked.domain,
            subdomain=lesson.subdomain if lesson else None,
            task_type=lesson.task_type if lesson else None,
            complexity=self._complexity(asked) if rng.random() < 0.85 else None,
            quality_score=None,
            quality_flags=None if rng.random() < 0.4 else "[]",
        )
        empty = (None, "", "[]", "{}")
        known = [value not in empty for value in (row.reasoning_steps, row.corrections, row.principles)]
        score = stored_score(row, *known)
        row.quality_score = score if rng.random() < 0.92 else None
        self._review_unified(row, score, has_steps, errors=known[1])
        return row

    def _review_unified(self, row: UnifiedRow, score: float, has_steps: bool, errors: bool) -> None:
        rng = self.rng
        draw = rng.random()
        if draw < 0.2:
            row.human_reviewed = 1
            row.reviewer_notes = self.teacher.pick(self.reviews["approved"]) if rng.random() < 0.5 else None
        elif draw < 0.27:
            row.human_reviewed = -1
            row.reviewer_notes = self.teacher.pick(self.reviews["rejected"]) if rng.random() < 0.7 else None
        row.training_ready = int(row.human_reviewed == 1 or (row.human_reviewed == 0 and score >= 0.7))
        if rng.random() < 0.45:
            pair = "correction" if rng.random() < 0.6 else "preference"
            row.training_format = pair if errors else "cot" if has_steps else "instruction"
        if row.training_ready and rng.random() < 0.4:
            row.export_count = 1 + int(2 * rng.random())
            row.last_exported_at = self._later(row.created_at, 20)

    def example(self, asked: Interaction, forced: str = "") -> dict[str, Any]:
        """The example with its reasoning pattern, correction and place in the review queue, as far as there are any."""
        rng, attempt, created_at = self.rng, asked.attempt, asked.asked_at
        example_id = hashlib.md5(f"{asked.query}{asked.response[:100]}{created_at}".encode()).hexdigest()[:16]
        row = ExampleRow(
            id=example_id,
            query=asked.query,
            sam_attempt=attempt.text if attempt else None,
            claude_response=asked.response,
            reasoning_type=asked.kind if rng.random() < 0.9 else None,
            domain=asked.domain,
            complexity=self._complexity(asked),
            quality_score=int(100 * (0.45 + 0.3 * rng.random() + 0.2 * (attempt is not None))) / 100,
            human_reviewed=0,
            approved=0,
            reviewer_notes=None,
            reasoning_pattern_id=None,
            created_at=created_at,
            reviewed_at=None,
            exported_at=None,
        )
        rows: dict[str, Any] = {EXAMPLES: row}
        if forced != QUEUE:
            self._review_example(row)
        if asked.lesson and (forced == PATTERNS or rng.random() < 0.8):
            rows[PATTERNS] = self._pattern(asked, row)
        if attempt and (forced == CORRECTIONS or rng.random() < 0.7):
            rows[CORRECTIONS] = self._correction(asked, row)
        if row.human_reviewed == 0 and (forced == QUEUE or rng.random() < (0.9 if attempt else 0.3)):
            rows[QUEUE] = self._queue_entry(row, attempt is not None)
        return rows

    def _review_example(self, row: ExampleRow) -> None:
        if (draw := self.rng.random()) < 0.3:
            approved = draw < 0.22
            row.human_reviewed, row.approved = 1, int(approved)
            row.reviewer_notes = self.teacher.pick(self.reviews["approved" if approved else "rejected"])
            row.reviewed_at = self._later(row.created_at, 10)
            row.exported_at = self._later(row.reviewed_at, 10) if approved and draw < 0.1 else None

    def _pattern(self, asked: Interaction, row: ExampleRow) -> PatternRow:
        assert asked.lesson is not None
        row.reasoning_pattern_id = f"rp_{row.id}"
        tool = asked.lesson.tool if asked.kind == "tool_use" else None
        return PatternRow(
            id=row.reasoning_pattern_id,
            example_id=row.id,
            reasoning_type=asked.kind,
            reasoning_steps=asked.lesson.steps if asked.kind in STEPPED else "[]",
            tool_usage=tool.usage if tool else "[]",
            complexity=row.complexity,
            confidence=int(100 * (0.5 + 0.45 * self.rng.random())) / 100,
            created_at=row.created_at,
        )

    def _correction(self, asked: Interaction, row: ExampleRow) -> CorrectionRow:
        assert asked.attempt is not None
        content = json.loads(self.teacher.corrections(asked.attempt))
        error = content["sam_errors"][0]
        return CorrectionRow(
            id=hashlib.md5(f"{row.id}{error['error_type']}".encode()).hexdigest()[:12],
            example_id=row.id,
            improvements=json.dumps(content["improvements"]),
            lesson_learned=content["improvements"][0] if self.rng.random() < 0.3 else None,
            created_at=row.created_at,
            **error,
        )

    def _queue_entry(self, row: ExampleRow, has_attempt: bool) -> QueueRow:
        draw = self.rng.random()
        return QueueRow(
            id=hashlib.md5(f"queue_{row.id}".encode()).hexdigest()[:12],
            example_id=row.id,
            priority=8 if has_attempt else 5,
            reason=self.reviews["reasons"][0] if has_attempt else self.teacher.pick(self.reviews["reasons"][1:]),
            status="pending" if draw < 0.85 else "in_review",
            assigned_to=None if draw < 0.7 else self.teacher.pick(self.reviews["people"]),
            created_at=row.created_at,
            updated_at=row.created_at if draw < 0.7 else self._later(row.created_at, 5),
        )

    def raw(self, asked: Interaction) -> RawRow:
        """The score is a constant and `processed` is never set."""
        raw_id = hashlib.md5(f"raw{asked.query}{asked.asked_at}".encode()).hexdigest()[:16]
        return RawRow(raw_id, asked.query, asked.response, asked.domain, 0.5, 0, asked.asked_at)

    def thought(self, asked: Interaction, alone: bool) -> ThoughtRow:
        """The steps and the end of an answer. Where the interaction itself was not kept, the end says more."""
        lesson = asked.lesson
        final = self.teacher.conclusion(lesson) if lesson else asked.response
        if alone and lesson:
            final = self.teacher.lengthen(f"{final}\n\n{self.teacher.pick(lesson.answers)}", lesson)
        return ThoughtRow(
            id=thought_id(asked.query, asked.response),
            prompt=asked.query,
            reasoning_steps=lesson.plain_steps if lesson else "[]",
            final_answer=final,
            domain=asked.domain,
            complexity=self._complexity(asked),
            success=1,
            created_at=to_microseconds(asked.asked_at + 2 * self.rng.random()),
        )
