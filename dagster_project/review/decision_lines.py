"""One decision of one person as a line of the log: written in one way, read with care.

Reading is optimistic: a log is parsed whole, and looked at line by line only if something in it is not as we write it.
"""

import io
import json
from collections.abc import Collection
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

import polars as pl

from dagster_project.errors import GristmillError

VERDICTS = ("approved", "rejected")
LABEL_VERDICTS = ("rejected", "accepted", "neutral")  # of what the next message says of a turn (C2, C7)
SETTLING = ("settled", "reopened")  # of a safety flag or a correction request (F12)
TAKEN_BACK, REMARK = "undone", "noted"


class Log(NamedTuple):
    """What is decided in a log: its file in the state, the verdicts a person may give, and those of them that are about the texts
    that were seen and lapse with them."""

    file: str
    verdicts: tuple[str, ...]
    lapsing: tuple[str, ...]
    others: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        return (*self.verdicts, TAKEN_BACK, REMARK, *self.others)


REVIEWS = Log("reviews.jsonl", VERDICTS, ("approved",), SETTLING)
LABELS = Log("labels.jsonl", LABEL_VERDICTS, LABEL_VERDICTS)
WORDS = REVIEWS.words
LINE_SCHEMA = pl.Schema(
    {
        "example_id": pl.String,
        "verdict": pl.String,
        "reviewer": pl.String,
        "note": pl.String,
        "decided_at": pl.String,
        "content_hash": pl.String,
        "is_blind": pl.Boolean,
    }
)
INSTANT = pl.Datetime("us", "UTC")
LOG_SCHEMA = pl.Schema({"line": pl.UInt32, **LINE_SCHEMA, "decided_at": INSTANT})
REQUIRED = ("example_id", "verdict", "reviewer", "decided_at")


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class Decision:
    """One line of the log. `is_blind`: decided without having been shown anybody else's verdict."""

    example_id: str
    verdict: str
    reviewer: str
    note: str = ""
    content_hash: str | None = None  # of the texts the person saw
    is_blind: bool = True
    decided_at: datetime = field(default_factory=_now)

    def __post_init__(self) -> None:
        if self.verdict not in (*REVIEWS.words, *LABELS.words):
            raise GristmillError(f"a verdict is one of {', '.join(WORDS)}, not {self.verdict!r}")
        if not all(name and _is_text(name) for name in (self.example_id, self.reviewer)):
            raise GristmillError("a decision needs the id of an example and a reviewer's name")

    def to_line(self) -> bytes:
        # A note may be pasted from anywhere: what is not text would make its line unreadable.
        note = self.note.encode(errors="replace").decode()
        moment = self.decided_at.astimezone(UTC).isoformat(timespec="microseconds")
        values = asdict(self) | {"note": note, "decided_at": moment}
        # ASCII only, so that no text can hold anything a reader of lines would break at.
        return json.dumps({name: values[name] for name in LINE_SCHEMA}).encode() + b"\n"


def parse_log(data: bytes, name: str, words: Collection[str] = WORDS) -> tuple[pl.DataFrame, list[str]]:
    """The lines of a log, and a sentence about each that is broken. A last line without its end counts only if it is whole."""
    start = data.rfind(b"\n") + 1
    if data[start:] and not is_whole(data[start:], words):
        data = data[:start]
    if not data:
        return pl.DataFrame(schema=LOG_SCHEMA), []
    if (fast := _parse_whole(data, words)) is not None:
        return fast, []
    good, problems = [], []
    for number, line in enumerate(data.split(b"\n"), start=1):
        try:
            good += [{"line": number, **_parse_line(line, words)}] if line.strip() else []
        except ValueError as problem:
            problems.append(f"{name} line {number} is left out: {problem}")
    return pl.DataFrame(good, schema=LOG_SCHEMA), problems


def is_whole(line: bytes, words: Collection[str] = WORDS) -> bool:
    try:
        _parse_line(line, words)
    except ValueError:
        return False
    return True


def _parse_whole(data: bytes, words: Collection[str]) -> pl.DataFrame | None:
    try:
        rows = pl.read_ndjson(io.BytesIO(data), schema=LINE_SCHEMA)
    except pl.exceptions.PolarsError:
        return None
    rows = rows.with_columns(
        pl.col("decided_at").str.to_datetime("%Y-%m-%dT%H:%M:%S%.6f%:z", time_unit="us", time_zone="UTC", strict=False),
        pl.col("note").fill_null(""),
        pl.col("is_blind").fill_null(True),
    )
    named = pl.all_horizontal(pl.col("example_id", "reviewer").str.len_bytes() > 0)
    is_good = pl.col(REQUIRED).is_not_null() & pl.col("verdict").is_in([*words]) & named
    if rows.height != data.count(b"\n") + (not data.endswith(b"\n")):
        return None
    if not rows.select(pl.all_horizontal(is_good).all()).item():
        return None
    return rows.with_row_index("line", offset=1).select(list(LOG_SCHEMA))


def _parse_line(line: bytes, words: Collection[str]) -> dict[str, Any]:
    """A line's values; a ValueError says what is wrong with it."""
    try:
        found = json.loads(line.decode())
    except (ValueError, RecursionError) as error:
        raise ValueError("it is not JSON") from error
    if not isinstance(found, dict):
        raise ValueError("it is not a JSON object")
    for name in REQUIRED:
        if not isinstance(found.get(name), str) or not found[name]:
            raise ValueError(f"{name} is missing or not a text")
    if found["verdict"] not in words:
        raise ValueError(f"the verdict is one of {', '.join(words)}, not {found['verdict']!r}")
    try:
        moment = datetime.fromisoformat(found["decided_at"])
        moment = moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"decided_at is not an ISO time: {found['decided_at']!r}") from error
    if not all(_is_text(value) for value in found.values() if isinstance(value, str)):
        raise ValueError("it holds half a character")
    optional = {"note": (str, ""), "content_hash": (str, None), "is_blind": (bool, True)}
    values = {name: found[name] for name in REQUIRED} | {"decided_at": moment}
    return values | {
        name: found[name] if isinstance(found.get(name), kind) else default
        for name, (kind, default) in optional.items()
    }


def _is_text(value: str) -> bool:
    """JSON can spell the halves of characters; UTF-8 cannot hold them."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
