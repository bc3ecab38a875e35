"""Turns an answer of the assistant into the feedback rows that its readers leave, with the writer's known quirks."""

from collections import Counter
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, fields
from operator import attrgetter
from random import Random
from typing import Any

from dagster_project.demo.feedback.replies import Reply, Writer
from dagster_project.demo.texts import Domain
from dagster_project.demo.timeline import new_id, to_microseconds

DAY = 86_400.0
HARMFUL = "harmful"
TYPE_WEIGHTS = {"correction": 0.3, "preference": 0.2, "rating": 0.1}


@dataclass(slots=True)
class Interaction:
    """One answer of the assistant to one question."""

    number: int
    response_id: str
    session_id: str
    user_id: str | None
    asked_at: float
    domain: Domain
    query: str
    reply: Reply
    context: str | None
    confidence: float | None
    escalated: int


@dataclass(slots=True, kw_only=True)
class FeedbackRow:
    """A row of `feedback`, its columns in order. Where a hazard breaks a type on purpose, the type is Any."""

    feedback_id: str
    response_id: str
    session_id: str
    user_id: str | None
    timestamp: Any
    response_timestamp: float | None
    feedback_type: str
    rating: Any = None
    correction: str | None = None
    correction_type: str | None = None
    what_was_wrong: str | None = None
    preferred_response: str | None = None
    comparison_basis: str | None = None
    flag_type: str | None = None
    flag_details: str | None = None
    original_query: Any
    original_response: Any
    conversation_context: str | None
    domain: str | None
    response_confidence: float | None
    escalated_to_claude: Any
    processed: int = 0
    training_format: str | None = None
    quality_weight: float = 0.5
    processed_at: float | None = None
    created_at: Any


COLUMNS = tuple(field.name for field in fields(FeedbackRow))
values_of = attrgetter(*COLUMNS)


def send_through_api(row: FeedbackRow) -> None:
    """Seed 0's API takes the id of the response and no texts; what else is known of the response stays in `responses`."""
    row.original_query = row.original_response = ""
    row.conversation_context = row.response_timestamp = row.response_confidence = None
    row.domain, row.escalated_to_claude = "general", 0


def text_length(row: FeedbackRow) -> int:
    """Characters of text in a row, nearly all of them one byte."""
    optional = (row.correction, row.what_was_wrong, row.preferred_response, row.flag_details, row.conversation_context)
    return len(row.original_query) + len(row.original_response) + sum(len(text) for text in optional if text)


class Voters:
    """Writes the feedback on one interaction after the other."""

    def __init__(self, writer: Writer, rng: Random, end: float, user_count: int, hazards: bool) -> None:
        self.writer = writer
        self.rng = rng
        self.end = end
        self.user_count = user_count
        self.hazards = hazards
        self.planted: Counter[str] = Counter()

    def rows(self, asked: Interaction, kind: str, satisfied: bool, count: int) -> Iterator[FeedbackRow]:
        """The first feedback on an interaction, then what follows it."""
        first = self._first_row(asked, kind, satisfied)
        yield first
        previous = first
        for _ in range(count - 1):
            previous = self._follow_up(asked, previous)
            yield previous

    def _first_row(self, asked: Interaction, kind: str, satisfied: bool) -> FeedbackRow:
        rng = self.rng
        voted_at = to_microseconds(min(asked.asked_at + 4 + 90 * rng.random(), self.end - 0.5))
        row = FeedbackRow(
            feedback_id=new_id(rng),
            response_id=asked.response_id,
            session_id=asked.session_id,
            user_id=asked.user_id,
            timestamp=voted_at,
            response_timestamp=asked.asked_at if rng.random() < 0.97 else None,
            feedback_type=kind,
            original_query=asked.query,
            original_response=asked.reply.text,
            conversation_context=asked.context,
            domain=asked.domain.name,
            response_confidence=asked.confidence,
            escalated_to_claude=asked.escalated,
            created_at=voted_at,
        )
        if kind == "rating":
            self._rate(row, satisfied)
        else:
            self._criticise(asked, row)
        self._settle(row)
        return row

    def _rate(self, row: FeedbackRow, satisfied: bool) -> None:
        """A thumb. With a comment, the writer stores it as a correction without a type (F7)."""
        row.rating = 1 if satisfied else -1
        if self.hazards and self.rng.random() < 0.04:
            row.feedback_type = "correction"
            row.correction = self.writer.pick(
                self.writer.library.praise if satisfied else self.writer.library.complaint
            )
            self.planted["comment_as_correction"] += 1

    def _criticise(self, asked: Interaction, row: FeedbackRow) -> None:
        rng = self.rng
        criticism = self.writer.criticise(asked.domain, asked.reply)
        if row.feedback_type == "correction":
            row.correction, row.correction_type = criticism.correction, criticism.correction_type
            row.what_was_wrong = criticism.wrong if rng.random() < 0.88 else None
        elif row.feedback_type == "preference":
            row.preferred_response = asked.reply.rival or criticism.better
            row.comparison_basis = criticism.basis if rng.random() < 0.85 else None
        else:
            row.flag_type = criticism.flag
            row.flag_details = criticism.details if rng.random() < 0.8 else None
        if self.hazards and rng.random() < 0.9:
            row.rating = 1
            self.planted["polluted_rating"] += 1

    def _follow_up(self, asked: Interaction, previous: FeedbackRow) -> FeedbackRow:
        """Somebody clicks twice, changes their mind, adds a correction, or another reader votes."""
        rng = self.rng
        row = copy(previous)
        draw = rng.random()
        gap = 20 + 900 * rng.random()
        mistake = asked.reply.mistake
        if previous.rating == 1 and previous.feedback_type == "rating" and mistake and mistake.flag == HARMFUL:
            # liked by one, reported by another, who was shown no more than the answer's id
            row.feedback_type, row.rating = "flag", 1
            row.flag_type, row.flag_details = HARMFUL, mistake.details
            row.user_id, row.session_id = self.user_id(), f"sess_{new_id(rng)}"
            send_through_api(row)
            self.planted["liked_and_reported"] += 1
        elif draw < 0.4 or previous.feedback_type != "rating":
            gap = 0.2 + 4 * rng.random()
            self.planted["double_click"] += 1
        elif draw < 0.65:
            # the first thumb was the slip
            previous.rating = -previous.rating
            previous.quality_weight = saved_weight(previous)
            previous.training_format = self._training_format(previous) if previous.processed else None
            self.planted["changed_mind"] += 1
        elif draw < 0.85:
            row.user_id = self.user_id()
            row.rating = -previous.rating
            self.planted["contested"] += 1
        else:
            row.feedback_type, row.rating = "correction", None
            self._criticise(asked, row)
            self.planted["second_thought"] += 1
        row.timestamp = row.created_at = to_microseconds(min(previous.timestamp + gap, self.end))
        if row.timestamp <= previous.timestamp:
            row.timestamp = row.created_at = round(previous.timestamp + 0.001, 6)
        row.feedback_id = new_id(rng)
        self._settle(row)
        return row

    def user_id(self) -> str:
        """A few people use the assistant a lot, most of them rarely."""
        draw = self.rng.random()
        return f"user_{int(draw * draw * self.user_count):05d}"

    def _settle(self, row: FeedbackRow) -> None:
        """The weight is computed once and never again; older rows have been through the old export."""
        row.quality_weight = saved_weight(row)
        row.processed, row.training_format, row.processed_at = 0, None, None
        if row.timestamp < self.end - 30 * DAY and self.rng.random() < 0.8:
            row.processed = 1
            row.training_format = self._training_format(row)
            row.processed_at = to_microseconds(row.timestamp + DAY * (1 + 20 * self.rng.random()))
            self.planted["stale_weight"] += 1

    def _training_format(self, row: FeedbackRow) -> str:
        if row.feedback_type == "correction":
            return "correction_analysis" if self.rng.random() < 0.3 else "correction"
        if row.feedback_type == "preference":
            return "preference"
        return "instruction" if row.feedback_type == "rating" and row.rating == 1 else "excluded"


def saved_weight(row: FeedbackRow) -> float:
    """Seed 0's weight at the moment of saving, when nothing has decayed yet."""
    weight = 0.5 + TYPE_WEIGHTS.get(row.feedback_type, 0.0)
    if row.feedback_type == "correction":
        weight += 0.05 * (len(row.what_was_wrong or "") > 50)
        weight += 0.05 * (len(row.correction or "") > 100)
        weight += 0.05 * (row.correction_type == "full_replacement")
    if row.feedback_type == "preference":
        weight += 0.05 * (len(row.comparison_basis or "") > 30)
    weight += 0.05 * row.escalated_to_claude
    if row.rating == -1 and (row.response_confidence or 0) > 0.8:
        weight += 0.1
    return int(weight * 100 + 0.5) / 100 if weight < 1 else 1.0
