"""What goes wrong in real feedback databases, one function a hazard, and where it is planted.

Wrong types come from a bad client release: they sit close together, in one burst on each of two days. Wrong values
come from people and old code: they are scattered.
"""

from collections.abc import Callable, Sequence
from random import Random

from dagster_project.demo.dirt import FAR_FUTURE, YEAR_3000, RawText
from dagster_project.demo.feedback.votes import FeedbackRow
from dagster_project.demo.timeline import DAY

# A hazard that needs feedback of a certain type to make sense.
REQUIRED_TYPE = {
    "text_rating": "rating",
    "fraction_rating": "rating",
    "rating_zero": "rating",
    "rating_five": "rating",
    "missing_rating": "rating",
    "missing_correction": "correction",
    "blank_correction": "correction",
    "missing_preferred": "preference",
    "missing_flag_type": "flag",
    "unknown_flag": "flag",
    "padded_flag": "flag",
}


def _set(column: str, value: object) -> Callable[[FeedbackRow], None]:
    def change(row: FeedbackRow) -> None:
        setattr(row, column, value)

    return change


def _set_time(value: object) -> Callable[[FeedbackRow], None]:
    def change(row: FeedbackRow) -> None:
        row.timestamp = row.created_at = value

    return change


def _iso_timestamp(row: FeedbackRow) -> None:
    row.timestamp = row.created_at = f"2026-01-01T00:00:{int(row.timestamp) % 60:02d}Z"


def _utf16_response(row: FeedbackRow) -> None:
    row.original_response = b"\xff\xfe" + row.original_response.encode("utf-16-le")


def _utf8_query(row: FeedbackRow) -> None:
    row.original_query = row.original_query.encode()


def _latin1_query(row: FeedbackRow) -> None:
    row.original_query = RawText(f"Voilà: {row.original_query}".encode("latin-1", "replace"))


def _nul_response(row: FeedbackRow) -> None:
    middle = len(row.original_response) // 2
    row.original_response = f"{row.original_response[:middle]}\x00{row.original_response[middle:]}"


def _milliseconds(row: FeedbackRow) -> None:
    row.timestamp = row.created_at = float(round(row.timestamp * 1000))


def _future(row: FeedbackRow) -> None:
    """A clock that stands at 2090-01-01: after any today, so that the row waits."""
    row.timestamp = row.created_at = round(FAR_FUTURE + row.timestamp % DAY, 6)


def _restyled_query(row: FeedbackRow) -> None:
    row.original_query = f"  {row.original_query.upper().replace(' ', '  ')}\n"


def _odd_case_type(row: FeedbackRow) -> None:
    row.feedback_type = row.feedback_type.upper()


def _padded_type(row: FeedbackRow) -> None:
    row.feedback_type = f" {row.feedback_type.title()} "


TYPE_LEVEL: dict[str, Callable[[FeedbackRow], None]] = {
    "text_rating": _set("rating", "five"),
    "invalid_utf8": _latin1_query,
    "fraction_rating": _set("rating", 1.5),
    "nul_byte": _nul_response,
    "blob_text": _utf16_response,
    "blob_utf8_text": _utf8_query,
    "text_timestamp": _set_time("yesterday"),
    "iso_timestamp": _iso_timestamp,
    "text_escalated": _set("escalated_to_claude", "yes"),
    "infinite_confidence": _set("response_confidence", float("inf")),
}
VALUE_LEVEL: dict[str, Callable[[FeedbackRow], None]] = {
    "millisecond_timestamp": _milliseconds,
    "zero_timestamp": _set_time(0.0),
    "negative_timestamp": _set_time(-86_400.5),
    "huge_timestamp": _set_time(1e18),
    "year_3000_timestamp": _set_time(YEAR_3000),
    "future_timestamp": _future,
    "empty_query": _set("original_query", ""),
    "empty_response": _set("original_response", ""),
    "restyled_query": _restyled_query,
    "unknown_type": _set("feedback_type", "emoji"),
    "upper_case_type": _odd_case_type,
    "padded_type": _padded_type,
    "unknown_domain": _set("domain", "gardening"),
    "upper_case_domain": _set("domain", "CODE "),
    "null_domain": _set("domain", None),
    "unknown_flag": _set("flag_type", "spam"),
    "padded_flag": _set("flag_type", " Harmful "),
    "rating_zero": _set("rating", 0),
    "rating_five": _set("rating", 5),
    "missing_rating": _set("rating", None),
    "missing_correction": _set("correction", None),
    "blank_correction": _set("correction", "  "),
    "missing_preferred": _set("preferred_response", None),
    "missing_flag_type": _set("flag_type", None),
    "confidence_above_one": _set("response_confidence", 1.7),
    "escalated_two": _set("escalated_to_claude", 2),
    "empty_user": _set("user_id", ""),
}
# These concern the response, not the row: it is missing from `responses`.
ORPHAN = "orphan"
DAMAGE = TYPE_LEVEL | VALUE_LEVEL
FEWEST_ROWS = 300


def place(starts: Sequence[float], rows: int, first: float, days: int, rng: Random) -> dict[int, str]:
    """Which interaction (by number) gets which hazard. `starts` says when each of them takes place.

    Below some hundred rows nothing is planted: it would be all there is.
    """
    count = len(starts)
    if rows < FEWEST_ROWS:
        return {}
    places: dict[int, str] = {}
    bursts: list[list[str]] = [[], []]
    for number in range(max(1, rows // 20_000)):
        for position, name in enumerate(TYPE_LEVEL):
            bursts[(number + position) % 2].append(name)
    for names, share in zip(bursts, (0.4, 0.75), strict=True):
        morning = first + DAY * int(days * share) + DAY / 3
        position = next((index for index, start in enumerate(starts) if start >= morning), 0)
        position = min(position, max(0, count - 2 * len(names)))
        for name in names:
            while position in places:
                position += 1
            if position < count:
                places[position] = name
            position += 2
    for name in (*VALUE_LEVEL, ORPHAN):
        for _ in range(max(1, rows // 4_000)):
            position = int(rng.random() * count)
            if position not in places:
                places[position] = name
    _plant_missing(places, count)
    return places


def _plant_missing(places: dict[int, str], count: int) -> None:
    """Two scattered hazards may have drawn the same place; nobody should miss one of them for that."""
    free = (position for position in range(count) if position not in places)
    for name in sorted({*DAMAGE, ORPHAN} - set(places.values())):
        position = next(free, None)
        if position is None:
            return
        places[position] = name
