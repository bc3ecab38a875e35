"""What goes wrong in real databases of turns, one function a hazard, and where it is planted."""

from collections.abc import Callable
from random import Random

from dagster_project.demo.conversations.rows import Turn
from dagster_project.demo.dirt import FAR_FUTURE, YEAR_3000, RawText
from dagster_project.demo.timeline import DAY

FEWEST_TURNS = 300
MOST_OF_EACH = 5  # a dirty row costs its whole stretch a careful reading; a real database has few


def _set(column: str, value: object) -> Callable[[Turn], None]:
    def change(turn: Turn) -> None:
        setattr(turn, column, value)

    return change


def _fraction_number(turn: Turn) -> None:
    turn.turn_number += 0.5


def _text_number(turn: Turn) -> None:
    turn.turn_number = f"turn {turn.turn_number}"


def _utf16_topic(turn: Turn) -> None:
    turn.topic = b"\xff\xfe" + turn.topic.encode("utf-16-le")


def _utf8_topic(turn: Turn) -> None:
    turn.topic = turn.topic.encode()


def _latin1_query(turn: Turn) -> None:
    turn.query = RawText(f"Voilà: {turn.query}".encode("latin-1", "replace"))


def _nul_response(turn: Turn) -> None:
    middle = len(turn.response) // 2
    turn.response = f"{turn.response[:middle]}\x00{turn.response[middle:]}"


def _milliseconds(turn: Turn) -> None:
    turn.timestamp = float(round(turn.timestamp * 1000))


def _future(turn: Turn) -> None:
    """A clock that stands at 2090-01-01: after any today, so that the row waits."""
    turn.timestamp = round(FAR_FUTURE + turn.timestamp % DAY, 6)


def _odd_case_outcome(turn: Turn) -> None:
    turn.validation_outcome = " Approve "


DAMAGE: dict[str, Callable[[Turn], None]] = {
    "text_timestamp": _set("timestamp", "yesterday"),
    "null_timestamp": _set("timestamp", None),
    "zero_timestamp": _set("timestamp", 0.0),
    "negative_timestamp": _set("timestamp", -86_400.5),
    "year_3000_timestamp": _set("timestamp", YEAR_3000),
    "infinite_timestamp": _set("timestamp", float("inf")),
    "millisecond_timestamp": _milliseconds,
    "future_timestamp": _future,
    "fraction_turn_number": _fraction_number,
    "text_turn_number": _text_number,
    "null_turn_number": _set("turn_number", None),
    "blob_topic": _utf16_topic,
    "blob_utf8_topic": _utf8_topic,
    "invalid_utf8_query": _latin1_query,
    "nul_byte_response": _nul_response,
    "text_quality": _set("quality_score", "good"),
    "infinite_quality": _set("quality_score", float("inf")),
    "unknown_outcome": _set("validation_outcome", "MAYBE"),
    "odd_case_outcome": _odd_case_outcome,
    "unknown_status": _set("user_feedback_status", "liked"),
    "odd_case_status": _set("user_feedback_status", " Neutral "),
    "keywords_not_json": _set("keywords", "laptop, gaming"),
    "keywords_object": _set("keywords", '{"laptop": 1}'),
    "goals_not_json": _set("goals_json", '[{"goal": "find a'),
}


def place(turns: int, rng: Random) -> dict[int, str]:
    """Which turn (by its place in the order of making) gets which hazard.

    Below some hundred turns nothing is planted: it would be all there is.
    """
    places: dict[int, str] = {}
    if turns < FEWEST_TURNS:
        return places
    for name in DAMAGE:
        for _ in range(max(2, min(MOST_OF_EACH, turns // 100_000))):
            position = int(rng.random() * turns)
            while position in places:
                position = (position + 7) % turns
            places[position] = name
    return places
