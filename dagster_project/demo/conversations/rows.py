"""A turn as the source keeps it, and where its text lies."""

from dataclasses import dataclass, fields
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any

# Where the text of a turn is to be found.
COLUMN, TRANSCRIPT, FOLDER, TOPIC_ONLY = "in_column", "in_transcript", "in_folder", "in_topic"
TOPIC_LENGTH = 200


@dataclass(slots=True)
class Turn:
    """A row of `turns`, its columns in order (Any where a hazard may break the type), and what only the demo knows."""

    turn_number: Any
    user_id: str | None
    session_id: str
    timestamp: Any
    topic: Any
    intent: str
    keywords: str
    validation_outcome: str
    strategy_summary: str
    quality_score: Any
    user_feedback_status: str
    feedback_confidence: float | None
    rejection_detected_in: str | None
    goals_json: str
    query: Any
    response: Any
    sense: str
    said: str
    told: str
    number: int
    asked_at: float
    place: str = COLUMN
    folder: str = ""


COLUMNS = tuple(field.name for field in fields(Turn))[:16]
values_of = attrgetter(*COLUMNS)


def turn_name(number: int) -> str:
    return f"turn_{number:06d}"


def iso_time(instant: float, zone: str) -> str:
    """An instant as text, with microseconds where it has any."""
    return datetime.fromtimestamp(instant, UTC).replace(tzinfo=None).isoformat() + zone
