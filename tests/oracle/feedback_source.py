"""A feedback source as it stands: texts, times, types, the contract, and what `responses` fills in (semantics G and F1 to F3).

Plain Python over the files' own cells. `sort_out` is the way in.
"""

import hashlib
import json
import math
import sqlite3
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

TEXT, REAL, INTEGER = "text", "real", "integer"
COLUMNS = {
    "feedback_id": TEXT,
    "response_id": TEXT,
    "session_id": TEXT,
    "user_id": TEXT,
    "timestamp": REAL,
    "response_timestamp": REAL,
    "feedback_type": TEXT,
    "rating": INTEGER,
    "correction": TEXT,
    "correction_type": TEXT,
    "what_was_wrong": TEXT,
    "preferred_response": TEXT,
    "comparison_basis": TEXT,
    "flag_type": TEXT,
    "flag_details": TEXT,
    "original_query": TEXT,
    "original_response": TEXT,
    "conversation_context": TEXT,
    "domain": TEXT,
    "response_confidence": REAL,
    "escalated_to_claude": INTEGER,
    "processed": INTEGER,
    "training_format": TEXT,
    "quality_weight": REAL,
    "processed_at": REAL,
    "created_at": REAL,
}
EPOCHS = ("timestamp", "response_timestamp", "processed_at", "created_at")
REQUIRED = (
    "feedback_id",
    "response_id",
    "session_id",
    "timestamp",
    "feedback_type",
    "original_query",
    "original_response",
)
EMPTY_IS_MISSING = ("feedback_id", "response_id", "session_id", "feedback_type")
NEEDED_BY_TYPE = {
    "rating": "rating",
    "correction": "correction",
    "preference": "preferred_response",
    "flag": "flag_type",
}
RAW_CONTENT = (
    "rating",
    "correction",
    "correction_type",
    "what_was_wrong",
    "preferred_response",
    "comparison_basis",
    "flag_type",
    "flag_details",
)
RESPONSE_COLUMNS = {
    "response_id": TEXT,
    "session_id": TEXT,
    "query": TEXT,
    "response": TEXT,
    "timestamp": REAL,
    "confidence": REAL,
    "escalated": INTEGER,
}
MAY_DIFFER_IN_COPIES = ("processed", "training_format", "quality_weight", "processed_at")
DOMAINS = {"code", "reasoning", "creative", "factual", "planning", "general"}
CORRECTION_TYPES = {"full_replacement", "partial_fix", "addition", "clarification"}
FLAG_TYPES = {"harmful", "incorrect", "off_topic", "unhelpful", "repetitive", "incomplete", "other"}
ERROR_TYPES = {
    "incomplete",
    "incorrect",
    "outdated",
    "hallucination",
    "misunderstood",
    "format",
    "tone",
    "code_error",
    "unclear",
    "verbose",
    "other",
}
TYPE_WEIGHTS = {"correction": 0.3, "preference": 0.2, "rating": 0.1, "flag": 0.0}
TIERS = ((0.9, "premium"), (0.7, "high"), (0.5, "standard"), (0.3, "low"), (0.0, "very_low"))
SCALES = {"thumbs": (-1, 1), "five": (1, 2, 3, 4, 5)}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST, LAST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)


# --- text and time ----------------------------------------------------------------------------------------------------


def prompt_form(text: str | None) -> str:
    """G10 for prompts and contexts; str.split() cuts at runs of str.isspace() characters."""
    return " ".join(unicodedata.normalize("NFC", text or "").lower().split())


def prompt_key(text: str) -> str:
    return hashlib.sha256(prompt_form(text).encode()).hexdigest()[:16]


def answer_form(text: str | None) -> str:
    """G10 for answers: case and inner space count."""
    return unicodedata.normalize("NFC", text or "").replace("\r\n", "\n").strip()


def split_of(query: str, split_key: str) -> str:
    """T3."""
    share = int(hashlib.sha256(f"{split_key}:{prompt_key(query)}".encode()).hexdigest()[:8], 16) / 2**32
    return "train" if share < 0.90 else "validation" if share < 0.95 else "test"


def blank(text: str | None) -> bool:
    return text is None or not text.strip()


def word(text: str | None) -> str | None:
    """G8: vocabularies are compared trimmed and in lower case."""
    return None if text is None else text.strip().lower()


def repaired(value: float) -> float:
    """G1: epoch values in [1e11, 1e14) are milliseconds."""
    return value / 1000 if 1e11 <= value < 1e14 else value


def micros(seconds: float) -> int:
    """G1: an instant has microseconds; the nearest one, of two the later (G2)."""
    return math.floor(Fraction(seconds) * 1_000_000 + Fraction(1, 2))


def instant(seconds: float) -> datetime:
    return EPOCH + timedelta(microseconds=micros(seconds))


def epoch_micros(at: datetime) -> int:
    return (at - EPOCH) // timedelta(microseconds=1)


def six(value: float | Fraction) -> float:
    """G2: half away from zero on the exact decimal; of a double, on the one it stands for. Adding 0.0 leaves no -0.0."""
    if isinstance(value, Fraction):
        exact = Decimal(value.numerator) / Decimal(value.denominator)
    else:
        exact = Decimal(repr(value)).quantize(Decimal("1e-12"), ROUND_HALF_UP)
    return float(exact.quantize(Decimal("1e-6"), ROUND_HALF_UP)) + 0.0


# --- reading and the contract -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """A stored value as SQLite has it: `kind` is its typeof(), text is still bytes."""

    kind: str
    value: Any


@dataclass
class Row:
    """A source row on its way: cells as stored, values as read, reasons against it."""

    file: int
    rowid: int
    cells: dict[str, Cell]
    table: str = "feedback"
    values: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, Cell] = field(default_factory=dict)
    reasons: set[str] = field(default_factory=set)
    repairs: set[str] = field(default_factory=set)
    at: datetime | None = None

    def __getitem__(self, column: str) -> Any:
        return self.values.get(column)

    @property
    def day(self) -> date | None:
        return self.at.date() if self.at else None

    @property
    def key(self) -> str | None:
        return self["feedback_id" if self.table == "feedback" else "response_id"] or None


def read_table(path: Path, table: str) -> list[dict[str, Cell]] | None:
    """All rows with their rowid, or None where there is no such table."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    connection.text_factory = bytes
    try:
        names = [bytes(r[1]).decode() for r in connection.execute(f"pragma table_info({table})")]
        if not names:
            return None
        asked = ", ".join(f'typeof("{name}"), "{name}"' for name in names)
        rows = []
        for found in connection.execute(f"select rowid, {asked} from {table} order by rowid"):
            kinds, values = found[1::2], found[2::2]
            row = {n: Cell(bytes(k).decode(), v) for n, k, v in zip(names, kinds, values, strict=True)}
            rows.append({"rowid": Cell("integer", found[0]), **row})
        return rows
    finally:
        connection.close()


def read_text(cell: Cell) -> tuple[str | None, str | None]:
    """G5 for a TEXT column: the text, or the reason against it. `a|b` means that either reason is right."""
    if cell.kind in ("integer", "real"):
        return None, "wrong_type"
    bad = "bad_text" if cell.kind == "text" else "wrong_type|bad_text"
    try:
        text = cell.value.decode("utf-8")
    except UnicodeDecodeError:
        return None, bad
    return (None, bad) if "\x00" in text else (text, None)


def read_number(cell: Cell, wanted: str) -> tuple[float | None, str | None]:
    """G5 for a REAL or INTEGER column."""
    if cell.kind in ("text", "blob"):
        return None, "wrong_type"
    if cell.kind == "real" and not math.isfinite(cell.value):
        return None, "not_finite"
    if wanted == INTEGER and cell.kind == "real":
        return None, "wrong_type"
    if wanted == REAL and cell.kind == "integer" and int(float(cell.value)) != cell.value:
        return None, "wrong_type"  # a whole number that no double holds
    return (float(cell.value) if wanted == REAL else cell.value), None


def read_cells(row: Row, columns: Mapping[str, str] = COLUMNS) -> set[str]:
    """Values by G5, epochs repaired by G1. Returns the columns that could not be read."""
    refused = set()
    for column, wanted in columns.items():
        cell = row.cells.get(column, Cell("null", None))
        if cell.kind == "null":
            row.values[column] = None
            continue
        value, reason = read_text(cell) if wanted == TEXT else read_number(cell, wanted)
        row.values[column] = value
        if reason:
            refused.add(column)
            row.reasons.add(f"{reason}:{column}")
        elif column in EPOCHS and isinstance(value, float) and repaired(value) != value:
            row.values[column] = repaired(value)
            row.repairs.add(f"{column}:milliseconds")
    return refused


def valid_instant(seconds: float) -> datetime | None:
    """G1: event times lie in [2000-01-01, 2100-01-01)."""
    return instant(seconds) if -1e11 < seconds < 1e11 and FIRST <= instant(seconds) < LAST else None


def check_contract(row: Row, scale: str, responses: "Responses | None") -> None:
    """F1, F2, G5, G8: every reason against one row."""
    refused = read_cells(row)
    if responses is not None:
        fill(row, refused, responses.kept.get(row["response_id"] or ""))
    for column in REQUIRED:
        value = row[column]
        if column not in refused and (value is None or (value == "" and column in EMPTY_IS_MISSING)):
            row.reasons.add(f"missing:{column}")
    check_type(row, refused)
    if row["timestamp"] is not None:
        row.at = valid_instant(row["timestamp"])
        if row.at is None:
            row.reasons.add("out_of_range:timestamp")
    if row["response_confidence"] is not None and not 0 <= row["response_confidence"] <= 1:
        row.reasons.add("out_of_range:response_confidence")
    if row["escalated_to_claude"] not in (None, 0, 1):
        row.reasons.add("out_of_range:escalated_to_claude")
    if row["rating"] is not None and row["rating"] not in SCALES[scale]:
        row.reasons.add("out_of_range:rating")
    if responses is not None and row["response_id"] and row["response_id"] not in responses.known_ids:
        row.reasons.add("orphan:response_id")


def check_type(row: Row, refused: set[str]) -> None:
    """The vocabulary of feedback_type (G8) and what each type needs (F1)."""
    kind = word(row["feedback_type"])
    if kind in NEEDED_BY_TYPE:
        needed = NEEDED_BY_TYPE[kind]
        value = row[needed]
        if needed not in refused and (value is None or (isinstance(value, str) and blank(value))):
            row.reasons.add(f"missing:{needed}")
    elif kind:
        row.reasons.add("unknown:feedback_type")
    elif row["feedback_type"]:  # nothing but white space
        row.reasons.add("unknown|missing:feedback_type")


# --- responses (F1) ---------------------------------------------------------------------------------------------------


@dataclass
class Responses:
    """The table `responses` of all files together: what it says of each response, and every id it knows."""

    kept: dict[str, Row]
    quarantined: list[Row]
    copies: list[Row]
    known_ids: set[str]


def check_response(row: Row) -> None:
    """A row of `responses` is refused for its own faults."""
    refused = read_cells(row, RESPONSE_COLUMNS)
    if "response_id" not in refused and not row["response_id"]:
        row.reasons.add("missing:response_id")
    if row["timestamp"] is not None:
        row.at = valid_instant(row["timestamp"])
        if row.at is None:
            row.reasons.add("out_of_range:timestamp")
    if row["confidence"] is not None and not 0 <= row["confidence"] <= 1:
        row.reasons.add("out_of_range:confidence")
    if row["escalated"] not in (None, 0, 1):
        row.reasons.add("out_of_range:escalated")


def read_responses(files: Iterable[Path]) -> Responses | None:
    """None where no file has such a table. Among valid rows of one id those that agree are one; else the latest counts."""
    tables = [(number, read_table(path, "responses")) for number, path in enumerate(files)]
    if all(rows is None for _, rows in tables):
        return None
    found = Responses({}, [], [], set())
    valid: dict[str, list[Row]] = defaultdict(list)
    for number, rows in tables:
        for cells in rows or []:
            row = Row(number, cells.pop("rowid").value, cells, "responses")
            check_response(row)
            if row["response_id"]:
                found.known_ids.add(row["response_id"])
            if row.reasons:
                found.quarantined.append(row)
            else:
                valid[row["response_id"]].append(row)
    for key, rows in valid.items():
        winner = max(rows, key=lambda r: (r.at or EPOCH, r.file, r.rowid))
        found.kept[key] = winner
        for row in rows:
            if row is not winner and row.values == winner.values:
                found.copies.append(row)
            elif row is not winner:
                row.reasons.add("conflict:response_id")
                found.quarantined.append(row)
    return found


def fill(row: Row, refused: set[str], response: Row | None) -> None:
    """F1: feedback without texts takes them, and what else it does not say, from the response it names."""
    texts = {"original_query": "query", "original_response": "response"}
    empty = [column for column in texts if column not in refused and blank(row[column])]
    if response is None or not empty:
        return
    filled = {column: response[texts[column]] for column in empty if not blank(response[texts[column]])}
    has_text = bool(filled)
    for column, other in {"response_timestamp": "timestamp", "response_confidence": "confidence"}.items():
        if column not in refused and row[column] is None and response[other] is not None:
            filled[column] = response[other]
    if has_text and response["escalated"] == 1 and row["escalated_to_claude"] in (0, None):
        filled["escalated_to_claude"] = 1
    row.values.update(filled)
    row.repairs |= {f"filled:{column}" for column in filled}


# --- all rows of all files --------------------------------------------------------------------------------------------


@dataclass
class Source:
    """What the files hold, sorted out: G3's rows read = kept + quarantined + copies."""

    kept: list[Row]
    quarantined: list[Row]
    copies: list[Row]
    responses: Responses | None

    @property
    def read_count(self) -> int:
        return len(self.kept) + len(self.quarantined) + len(self.copies)


def known(identifier: str | None) -> str | None:
    """G9."""
    return None if identifier in (None, "", "default") else identifier


def agree(one: Row, other: Row) -> bool:
    compared = [c for c in COLUMNS if c not in MAY_DIFFER_IN_COPIES]
    return all(one[c] == other[c] for c in compared)


def sort_out(files: list[Path], scale: str) -> Source:
    """Contract, fills, copies and conflicts (F1, F3)."""
    responses = read_responses(files)
    valid: dict[str, list[Row]] = defaultdict(list)
    refused, copies, kept = [], [], []
    for number, path in enumerate(files):
        for cells in read_table(path, "feedback") or []:
            rowid = cells.pop("rowid").value
            row = Row(number, rowid, cells, extra={n: c for n, c in cells.items() if n not in COLUMNS})
            check_contract(row, scale, responses)
            if row.reasons:
                refused.append(row)
            else:
                valid[row["feedback_id"]].append(row)
    for rows in valid.values():
        winner = max(rows, key=lambda r: (r.at, r.file, r.rowid))
        kept.append(winner)
        for row in rows:
            if row is winner:
                continue
            if agree(row, winner):
                copies.append(row)
            else:
                row.reasons.add("conflict:feedback_id")
                refused.append(row)
    return Source(kept, refused, copies, responses)


# --- refused rows as they are kept (G11) ------------------------------------------------------------------------------


def original_value(cell: Cell) -> list[Any]:
    """G11: how a refused row's value may stand in its JSON; the first is the plain reading."""
    if cell.kind == "text":
        try:
            text = cell.value.decode("utf-8")
        except UnicodeDecodeError:
            return [{"$hex": cell.value.hex()}]
        return [text, {"$hex": cell.value.hex()}] if "\x00" in text else [text]
    if cell.kind == "blob":
        return [{"$hex": cell.value.hex()}]
    if cell.kind == "real" and not math.isfinite(cell.value):
        return [{"$float": name} for name in ("inf" if cell.value > 0 else "-inf",)]
    return [cell.value]


def as_loaded(text: str) -> Mapping[str, Any]:
    return json.loads(text, parse_constant=lambda name: f"not JSON: {name}")
