"""What goes wrong in real tables of reactions, one function a hazard: each gets the columns and the reaction's object."""

from collections.abc import Callable
from typing import Any

from dagster_project.demo.dirt import RawText

Row = dict[str, Any]
FUTURE = "2090-01-01T00:00:00Z"


def _column(name: str, value: object) -> Callable[[Row, Row], None]:
    def change(row: Row, said: Row) -> None:
        row[name] = value

    return change


def _field(name: str, value: object) -> Callable[[Row, Row], None]:
    def change(row: Row, said: Row) -> None:
        said[name] = value

    return change


def _not_json(row: Row, said: Row) -> None:
    row["text"] = "[turn.log.reaction] user said: thanks"


def _cut_off(row: Row, said: Row) -> None:
    row["text"] = f"[turn.log.reaction] {said!r}"[:40]


def _call(row: Row, said: Row) -> None:
    row["text"] = "[turn.log.reaction] {'reaction': __import__('os').getcwd()}"


def _no_turn(row: Row, said: Row) -> None:
    row["turn_id"] = None
    row["tags"] = [tag for tag in row["tags"] if not tag.startswith("turn:")]
    said.pop("turn_id", None)


def _back_dated(row: Row, said: Row) -> None:
    row["ts"] = f"2024-0{1 + int(row['ts'][8:10]) % 9}{row['ts'][7:]}"


def _milliseconds(row: Row, said: Row) -> None:
    row["ts"] = 1_767_225_600_000 + int(row["ts"][8:10])


def _latin1(row: Row, said: Row) -> None:
    row["text"] = RawText('{"reaction": "ok", "text": "Voilà", "origin": "user"}'.encode("latin-1"))


HAZARDS: dict[str, Callable[[Row, Row], None]] = {
    "text_not_json": _not_json,
    "text_cut_off": _cut_off,
    "text_that_calls": _call,
    "text_null": _column("text", None),
    "text_invalid_utf8": _latin1,
    "unknown_reaction": _field("reaction", "great"),
    "number_as_reaction": _field("reaction", 1),
    "unknown_origin_word": _field("origin", "robot"),
    "confidence_out_of_range": _field("confidence", 87),
    "text_as_confidence": _field("confidence", "high"),
    "no_conversation": _column("conversation_id", None),
    "no_turn": _no_turn,
    "ts_null": _column("ts", None),
    "ts_no_time": _column("ts", "just now"),
    "ts_year_3000": _column("ts", "3000-01-01T00:00:00Z"),
    "ts_milliseconds": _milliseconds,
    "text_as_ttl": _column("ttl_days", "a year"),
    "back_dated": _back_dated,
    "future_dated": _column("ts", FUTURE),
}
