"""What the feedback pipeline should answer, computed in plain Python from the source files (semantics G, F and T).

One class per thing that leaves the pipeline; `judge` is the way in. Rule numbers are those of the design's semantics.
Where the documents allow two readings, `Readings` names the one taken here.
"""

import hashlib
import json
import math
import sqlite3
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

TEXT, REAL, INTEGER = "text", "real", "integer"
COLUMNS = {
    "feedback_id": TEXT, "response_id": TEXT, "session_id": TEXT, "user_id": TEXT, "timestamp": REAL,
    "response_timestamp": REAL, "feedback_type": TEXT, "rating": INTEGER, "correction": TEXT, "correction_type": TEXT,
    "what_was_wrong": TEXT, "preferred_response": TEXT, "comparison_basis": TEXT, "flag_type": TEXT,
    "flag_details": TEXT, "original_query": TEXT, "original_response": TEXT, "conversation_context": TEXT,
    "domain": TEXT, "response_confidence": REAL, "escalated_to_claude": INTEGER, "processed": INTEGER,
    "training_format": TEXT, "quality_weight": REAL, "processed_at": REAL, "created_at": REAL,
}  # fmt: skip
EPOCHS = ("timestamp", "response_timestamp", "processed_at", "created_at")
REQUIRED = (
    "feedback_id", "response_id", "session_id", "timestamp", "feedback_type", "original_query", "original_response",
)  # fmt: skip
EMPTY_IS_MISSING = ("feedback_id", "response_id", "session_id", "feedback_type")
NEEDED_BY_TYPE = {
    "rating": "rating", "correction": "correction", "preference": "preferred_response", "flag": "flag_type",
}  # fmt: skip
RAW_CONTENT = (
    "rating", "correction", "correction_type", "what_was_wrong", "preferred_response", "comparison_basis", "flag_type",
    "flag_details",
)  # fmt: skip
MAY_DIFFER_IN_COPIES = ("processed", "training_format", "quality_weight", "processed_at")
DOMAINS = {"code", "reasoning", "creative", "factual", "planning", "general"}
CORRECTION_TYPES = {"full_replacement", "partial_fix", "addition", "clarification"}
FLAG_TYPES = {"harmful", "incorrect", "off_topic", "unhelpful", "repetitive", "incomplete", "other"}
ERROR_TYPES = {
    "incomplete", "incorrect", "outdated", "hallucination", "misunderstood", "format", "tone", "code_error", "unclear",
    "verbose", "other",
}  # fmt: skip
TYPE_WEIGHTS = {"correction": 0.3, "preference": 0.2, "rating": 0.1, "flag": 0.0}
TIERS = ((0.9, "premium"), (0.7, "high"), (0.5, "standard"), (0.3, "low"), (0.0, "very_low"))
SCALES = {"thumbs": (-1, 1), "five": (1, 2, 3, 4, 5)}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST, LAST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Readings:
    """The choices where a rule can be read in two ways."""

    # F4: "rating == -1" to the letter, so that nothing on the five-scale earns the overconfidence bonus.
    five_overconfidence: bool = False
    # F6: a thumbs-up on an empty answer can be the partner; the pair then is missing_text.
    empty_partner: bool = True
    # T1: a pair that is out for an earlier reason does not make its reverse conflict.
    only_leaving_pairs_conflict: bool = True
    # T2: two corrections are the same if their written instruction and output are; spaces at the ends of the quoted
    # answer then count. Otherwise the quoted answers are compared as answers (G10).
    written_corrections: bool = False


@dataclass(frozen=True)
class Settings:
    scale: str = "thumbs"
    min_weight: float = 0.3
    split_key: str = "gristmill"
    readings: Readings = field(default_factory=Readings)


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
    """G1: an instant has microseconds; the nearest one."""
    return round(Fraction(seconds) * 1_000_000)


def instant(seconds: float) -> datetime:
    return EPOCH + timedelta(microseconds=micros(seconds))


def six(value: float) -> float:
    return round(value, 6)


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
        return self["feedback_id"] or None


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
        return None, "not_finite" if wanted == REAL else "wrong_type|not_finite"
    if wanted == INTEGER and cell.kind == "real":
        return None, "wrong_type"
    return (float(cell.value) if wanted == REAL else cell.value), None


def read_cells(row: Row) -> set[str]:
    """Values by G5, epochs repaired by G1. Returns the columns that could not be read."""
    refused = set()
    for column, wanted in COLUMNS.items():
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
            row.repairs.add(column)
    return refused


def check_contract(row: Row, scale: str, responses: set[str] | None) -> None:
    """F1, F2, G5, G8: every reason against one row."""
    refused = read_cells(row)
    for column in REQUIRED:
        value = row[column]
        if column not in refused and (value is None or (value == "" and column in EMPTY_IS_MISSING)):
            row.reasons.add(f"missing:{column}")
    check_type(row, refused)
    if row["timestamp"] is not None:
        seconds = row["timestamp"]
        if -1e11 < seconds < 1e11 and FIRST <= instant(seconds) < LAST:
            row.at = instant(seconds)
        else:
            row.reasons.add("out_of_range:timestamp")
    if row["response_confidence"] is not None and not 0 <= row["response_confidence"] <= 1:
        row.reasons.add("out_of_range:response_confidence")
    if row["escalated_to_claude"] not in (None, 0, 1):
        row.reasons.add("out_of_range:escalated_to_claude")
    if row["rating"] is not None and row["rating"] not in SCALES[scale]:
        row.reasons.add("out_of_range:rating")
    if responses is not None and row["response_id"] and row["response_id"] not in responses:
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


@dataclass
class Source:
    """What the files hold, sorted out: G3's rows read = kept + quarantined + copies."""

    kept: list[Row]
    quarantined: list[Row]
    copies: list[Row]
    responses: dict[str, str | None] | None  # response_id -> known session or None

    @property
    def read_count(self) -> int:
        return len(self.kept) + len(self.quarantined) + len(self.copies)


def known(identifier: str | None) -> str | None:
    """G9."""
    return None if identifier in (None, "", "default") else identifier


def read_responses(files: Iterable[Path]) -> dict[str, str | None] | None:
    found: dict[str, str | None] | None = None
    for path in files:
        rows = read_table(path, "responses")
        if rows is None:
            continue
        found = {} if found is None else found
        for row in rows:
            response, session = (
                read_text(row[c])[0] if row[c].kind != "null" else None for c in ("response_id", "session_id")
            )
            if response:
                found[response] = known(session)
    return found


def agree(one: Row, other: Row) -> bool:
    compared = [c for c in COLUMNS if c not in MAY_DIFFER_IN_COPIES]
    return all(one[c] == other[c] for c in compared)


def sort_out(files: list[Path], settings: Settings) -> Source:
    """Contract, copies and conflicts (F1, F3)."""
    responses = read_responses(files)
    valid: dict[str, list[Row]] = defaultdict(list)
    refused, copies, kept = [], [], []
    for number, path in enumerate(files):
        for cells in read_table(path, "feedback") or []:
            rowid = cells.pop("rowid").value
            row = Row(number, rowid, cells, extra={n: c for n, c in cells.items() if n not in COLUMNS})
            check_contract(row, settings.scale, None if responses is None else set(responses))
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


# --- one feedback row -------------------------------------------------------------------------------------------------


@dataclass
class Feedback:
    """A valid row with everything derived from it (core__feedback)."""

    row: Row
    id: str
    at: datetime
    type: str
    effective_type: str
    sentiment: str | None
    comment: str | None
    user_id: str | None
    session_id: str | None
    voter_id: str
    domain: str
    correction_type: str | None
    flag_type: str | None
    weight: float = 0.0
    base_weight: float = 0.0
    parts: dict[str, float] = field(default_factory=dict)
    status: str = "active"
    status_ref: str | None = None
    is_contested: bool = False

    def __getitem__(self, column: str) -> Any:
        return self.row[column]

    @property
    def active(self) -> bool:
        return self.status == "active"

    @property
    def order(self) -> tuple[datetime, str]:
        return (self.at, self.id)

    @property
    def thread(self) -> tuple[str, str]:
        """Prompt and context (F6, G10; null = empty)."""
        return prompt_form(self["original_query"]), prompt_form(self["conversation_context"])

    @property
    def answer(self) -> tuple[str, str, str]:
        """The same answer to the same prompt and context (F8)."""
        return (*self.thread, answer_form(self["original_response"]))


def sentiment_of(rating: int | None, scale: str) -> str | None:
    """F2."""
    if rating is None:
        return None
    if scale == "thumbs":
        return "positive" if rating == 1 else "negative"
    return "positive" if rating >= 4 else "neutral" if rating == 3 else "negative"


def is_comment(row: Row, scale: str) -> bool:
    """F7."""
    if not (blank(row["correction_type"]) and blank(row["what_was_wrong"])):
        return False
    sentiment, text = sentiment_of(row["rating"], scale), row["correction"]
    if sentiment == "positive":
        return len(text) <= 80 and "\n" not in text and "\r" not in text
    return sentiment == "negative"


def tier_of(weight: float) -> str:
    """F5."""
    return next(name for floor, name in TIERS if weight >= floor)


def weigh(item: Feedback, as_of: datetime, settings: Settings) -> None:
    """F4: seed 0's calculate_feedback_weight on the effective type."""
    age_hours = max(0.0, (as_of - item.at) / timedelta(hours=1))
    temporal = 0.5 + 0.5 * 0.5 ** (age_hours / 720)
    corrects, prefers = item.effective_type == "correction", item.effective_type == "preference"
    low = -1 if settings.scale == "thumbs" or not settings.readings.five_overconfidence else 2
    confidence, rating = item["response_confidence"], item["rating"]
    overconfident = confidence is not None and confidence > 0.8 and rating is not None and rating <= low
    bonuses = {
        "explanation_bonus": 0.05 if corrects and len(item["what_was_wrong"] or "") > 50 else 0.0,
        "substance_bonus": 0.05 if corrects and len(item["correction"] or "") > 100 else 0.0,
        "full_replacement_bonus": 0.05 if corrects and item.correction_type == "full_replacement" else 0.0,
        "basis_bonus": 0.05 if prefers and len(item["comparison_basis"] or "") > 30 else 0.0,
        "escalation_bonus": 0.05 if item["escalated_to_claude"] == 1 else 0.0,
        "overconfidence_bonus": 0.1 if overconfident else 0.0,
    }
    kind = TYPE_WEIGHTS[item.effective_type]
    item.parts = {"base": 0.5, "type": kind, "temporal_factor": temporal, **bonuses}
    item.weight = six(min(1.0, (0.5 + kind) * temporal + sum(bonuses.values())))
    item.base_weight = six(min(1.0, 0.5 + kind + sum(bonuses.values())))


def derive(row: Row, as_of: datetime, settings: Settings) -> Feedback:
    kind = word(row["feedback_type"])
    assert kind is not None and row.at is not None
    comment = kind == "correction" and is_comment(row, settings.scale)
    effective = "rating" if comment else kind
    user, session = known(row["user_id"]), known(row["session_id"])
    voter = f"user:{user}" if user else f"session:{session}" if session else f"row:{row['feedback_id']}"
    domain, flag, correction_type = word(row["domain"]), word(row["flag_type"]), word(row["correction_type"])
    item = Feedback(
        row=row, id=row["feedback_id"], at=row.at, type=kind, effective_type=effective,
        sentiment=sentiment_of(row["rating"], settings.scale) if effective == "rating" else None,
        comment=row["correction"] if comment else None, user_id=user, session_id=session, voter_id=voter,
        domain=domain if domain in DOMAINS else "general",
        correction_type=correction_type if correction_type in CORRECTION_TYPES else None,
        flag_type=(flag if flag in FLAG_TYPES else "other") if kind == "flag" else None,
    )  # fmt: skip
    weigh(item, as_of, settings)
    return item


def give_one_voice(items: list[Feedback]) -> None:
    """F3: statuses and status_ref."""
    ratings, others = defaultdict(list), defaultdict(list)
    for item in items:
        if item.effective_type == "rating":
            ratings[item.voter_id, item["response_id"]].append(item)
        else:
            content = tuple(item[c] for c in RAW_CONTENT)
            others[item.voter_id, item["response_id"], item.type, content].append(item)
    for group in ratings.values():
        latest = max(group, key=lambda i: i.order)
        for item in group:
            if item is not latest:
                item.status, item.status_ref = "superseded", latest.id
    for group in others.values():
        earliest = min(group, key=lambda i: i.order)
        for item in group:
            if item is not earliest:
                item.status, item.status_ref = "duplicate", earliest.id


def contest(items: list[Feedback]) -> None:
    """F8, from active rows."""
    groups: dict[Any, list[Feedback]] = defaultdict(list)
    for item in items:
        if item.active:
            groups[item.answer].append(item)
    for group in groups.values():
        votes = Counter(item.sentiment for item in group)
        up, down = votes["positive"], votes["negative"]
        spoiled = any(
            item.effective_type == "correction" or item.flag_type in ("harmful", "incorrect") for item in group
        )
        for item in group:
            if item.sentiment == "positive":
                item.is_contested = not (up > down and not spoiled)
            elif item.sentiment == "negative":
                item.is_contested = not down > up


# --- aggregates (F11, F12) --------------------------------------------------------------------------------------------


def ratio(part: int, whole: int) -> float | None:
    return six(part / whole) if whole else None


def epoch(at: datetime) -> float:
    return (at - EPOCH) / timedelta(seconds=1)


def by(items: Iterable[Feedback], name: Any) -> dict[Any, list[Feedback]]:
    groups = defaultdict(list)
    for item in items:
        groups[name(item)].append(item)
    return dict(groups)


def response_row(group: list[Feedback], scale: str) -> dict[str, Any]:
    ratings = [i for i in group if i.effective_type == "rating"]
    up = sum(i.sentiment == "positive" for i in ratings)
    down = sum(i.sentiment == "negative" for i in ratings)
    sure = [Fraction(str(i["response_confidence"])) for i in ratings if i["response_confidence"] is not None]
    delta = float(Fraction(up, up + down) - sum(sure) / len(sure)) if up + down and sure else None
    kinds = Counter(i.effective_type for i in group)
    stars = [i["rating"] for i in ratings] if scale == "five" else []
    return {
        "thumbs_up_count": up, "thumbs_down_count": down, "rating_count": kinds["rating"],
        "avg_rating": ratio(sum(stars), len(stars)), "correction_count": kinds["correction"],
        "preference_count": kinds["preference"], "flag_count": kinds["flag"], "net_sentiment": ratio(up - down, up + down),
        "confidence_delta": None if delta is None else six(delta),
        "first_feedback_at": epoch(min(i.at for i in group)), "last_feedback_at": epoch(max(i.at for i in group)),
        "session_ids": sorted({i.session_id for i in group if i.session_id}),
    }  # fmt: skip


def session_row(group: list[Feedback], total: int | None) -> dict[str, Any]:
    up = sum(i.sentiment == "positive" for i in group)
    down = sum(i.sentiment == "negative" for i in group)
    given = len({i["response_id"] for i in group})
    domains = Counter(i.domain for i in group)
    return {
        "total_responses": total, "feedback_given": given, "feedback_rate": ratio(given, total) if total else None,
        "positive_count": up, "negative_count": down, "rated_count": up + down,
        "correction_count": sum(i.effective_type == "correction" for i in group),
        "session_quality": six(up / (up + down)) if up + down else 0.5,
        "primary_domain": min(domains, key=lambda d: (-domains[d], d)),
        "started_at": epoch(min(i.at for i in group)), "last_activity_at": epoch(max(i.at for i in group)),
    }  # fmt: skip


def daily_row(group: list[Feedback]) -> dict[str, Any]:
    kinds, sentiments = Counter(i.effective_type for i in group), Counter(i.sentiment for i in group)
    up, down = sentiments["positive"], sentiments["negative"]
    return {
        "feedback_count": len(group), "positive_count": up, "negative_count": down,
        "neutral_count": sentiments["neutral"], "mean_weight": mean_weight(group), "net_sentiment": ratio(up - down, up + down),
        **{f"{kind}_count": kinds[kind] for kind in TYPE_WEIGHTS},
    }  # fmt: skip


def mean_weight(group: list[Feedback]) -> float | None:
    return six(float(sum(Fraction(str(i.weight)) for i in group) / len(group))) if group else None


def stats_of(active: list[Feedback], as_of: datetime) -> dict[str, Any]:
    up = sum(i.sentiment == "positive" for i in active)
    down = sum(i.sentiment == "negative" for i in active)
    done = sum(bool(i["processed"]) for i in active)
    return {
        "total_feedback": len(active),
        "by_type": {kind: sum(i.effective_type == kind for i in active) for kind in ("rating", "correction", "preference", "flag")},
        "sentiment": {"positive": up, "negative": down, "net_sentiment": ratio(up - down, up + down)},
        "processed": {"total": done, "pending": len(active) - done},
        "quality": {"avg_weight": mean_weight(active), "high_quality_count": sum(i.weight >= 0.7 for i in active)},
        "recent_24h": sum(i.at >= as_of - timedelta(hours=24) for i in active),
    }  # fmt: skip


POLARITY = {"correction": "negative", "preference": "negative", "flag": "negative"}


def polarity_of(item: Feedback) -> str | None:
    """N."""
    return item.sentiment if item.effective_type == "rating" else POLARITY[item.effective_type]


# --- training sets ----------------------------------------------------------------------------------------------------


@dataclass
class Candidate:
    """T1: one possible training record. `reason` is None where it leaves, or is at most a duplicate."""

    format: str
    source: str | None
    item: Feedback
    partner: Feedback | None
    weight: float
    fields: dict[str, Any]
    identity: tuple[Any, ...]
    sides: tuple[str, str] | None = None
    reason: str | None = None

    @property
    def key(self) -> tuple[str, str]:
        return (self.format, self.item.id)

    @property
    def origins(self) -> frozenset[str]:
        return frozenset({self.item.id} | ({self.partner.id} if self.partner else set()))

    @property
    def group(self) -> tuple[Any, ...]:
        """T2: candidates with the same group are duplicates of each other."""
        return (self.format, *self.item.thread, *self.identity)


def instruction_fields(item: Feedback) -> dict[str, Any]:
    return {"instruction": item["original_query"], "input": "", "output": item["original_response"]}


def correction_fields(item: Feedback) -> dict[str, Any]:
    """F6: seed 0's template; the explanation is trimmed and gets a full stop."""
    wrong = (item["what_was_wrong"] or "").strip()
    issue = f"The issue was: {wrong}{'' if wrong[-1] in '.!?' else '.'}\n\n" if wrong else ""
    return {
        "instruction": f"SAM said: '{item['original_response']}'\n\nWhat was the issue and how should it be corrected?",
        "input": item["original_query"],
        "output": f"{issue}Corrected answer: {item['correction']}",
    }


def pair_candidate(
    source: str, item: Feedback, chosen: str | None, partner: Feedback | None, weight: float
) -> Candidate:
    rejected = item["original_response"]
    sides = (answer_form(chosen), answer_form(rejected))
    fields = {"prompt": item["original_query"], "chosen": chosen, "rejected": rejected}
    found = Candidate("preference", source, item, partner, weight, fields, sides, sides)
    if blank(item["original_query"]) or blank(rejected) or (chosen is not None and blank(chosen)):
        found.reason = "missing_text"
    return found


def rating_candidates(item: Feedback, ups: list[Feedback], readings: Readings) -> list[Candidate]:
    answer = answer_form(item["original_response"])
    positive = item.sentiment == "positive"
    fields = {"prompt": item["original_query"], "completion": item["original_response"], "label": positive}
    taught = Candidate("instruction", "feedback_positive" if positive else None, item, None, item.weight,
                       instruction_fields(item), (answer,))  # fmt: skip
    loose = Candidate("unpaired", "feedback_rating" if item.sentiment != "neutral" else None, item, None, item.weight,
                      fields, (answer, positive))  # fmt: skip
    missing = blank(item["original_query"]) or blank(item["original_response"])
    if item.sentiment == "neutral":
        taught.reason = loose.reason = "neutral_rating"
        return [taught, loose]
    loose.reason = "missing_text" if missing else "contested" if item.is_contested else None
    taught.reason = loose.reason if positive else "negative_rating"
    if positive or not ups:
        return [taught, loose]
    eligible = [u for u in ups if not u.is_contested and (readings.empty_partner or not blank(u["original_response"]))]
    partner = min(eligible, key=lambda u: (-u.weight, -micros(epoch(u.at)), u.id)) if eligible else None
    weight = min(item.weight, partner.weight) if partner else item.weight
    pair = pair_candidate(
        "feedback_rating_pair", item, partner["original_response"] if partner else None, partner, weight
    )
    if pair.reason is None and (item.is_contested or partner is None):
        pair.reason = "contested"
    return [taught, loose, pair]


def candidates_of(active: list[Feedback], settings: Settings) -> list[Candidate]:
    """T1, up to and without `duplicate`."""
    ups = by((i for i in active if i.sentiment == "positive"), lambda i: i.thread)
    found: list[Candidate] = []
    for item in active:
        missing = blank(item["original_query"]) or blank(item["original_response"])
        if item.effective_type == "rating":
            found += rating_candidates(item, ups.get(item.thread, []), settings.readings)
        elif item.effective_type == "flag":
            found.append(Candidate("instruction", None, item, None, item.weight, {}, (), reason="flag"))
        elif item.effective_type == "preference":
            found.append(pair_candidate("feedback_preference", item, item["preferred_response"], None, item.weight))
        else:
            answer, fixed = answer_form(item["original_response"]), answer_form(item["correction"])
            fields = correction_fields(item)
            quoted = answer_form(fields["instruction"]) if settings.readings.written_corrections else answer
            record = Candidate("correction", "feedback_correction", item, None, item.weight, fields,
                               (quoted, answer_form(fields["output"])), sides=(fixed, answer))  # fmt: skip
            record.reason = "missing_text" if missing else None
            found.append(record)
            if item.correction_type in ("full_replacement", "clarification"):
                found.append(pair_candidate("feedback_correction_pair", item, item["correction"], None, item.weight))
    mark_conflicting(found, settings.readings)
    for candidate in found:
        if candidate.reason is None and candidate.sides and candidate.sides[0] == candidate.sides[1]:
            candidate.reason = "no_contrast"
        if candidate.reason is None and candidate.weight < settings.min_weight:
            candidate.reason = "low_weight"
    return found


def mark_conflicting(found: list[Candidate], readings: Readings) -> None:
    """Two pairs that are each other's reverse. A pair of equal sides is left to `no_contrast`."""
    pairs = [c for c in found if c.format == "preference" and c.sides and c.sides[0] != c.sides[1]]
    there = [
        c
        for c in pairs
        if c.fields["chosen"] is not None and (c.reason is None or not readings.only_leaving_pairs_conflict)
    ]
    stated = {(c.item.thread, c.sides) for c in there}
    for pair in pairs:
        if pair.reason is None and pair.sides and (pair.item.thread, pair.sides[::-1]) in stated:
            pair.reason = "conflicting"


# --- the verdict ------------------------------------------------------------------------------------------------------


@dataclass
class Verdict:
    """All right answers for one set of files at one as_of."""

    as_of: datetime
    source: Source
    feedback: dict[str, Feedback]
    responses: dict[str, dict[str, Any]]
    sessions: dict[str, dict[str, Any]]
    daily: dict[tuple[date, str], dict[str, Any]]
    stats: dict[str, Any]
    candidates: dict[tuple[str, str], Candidate]
    split_key: str

    @property
    def active(self) -> list[Feedback]:
        return [i for i in self.feedback.values() if i.active]

    @property
    def duplicates(self) -> dict[tuple[Any, ...], list[Candidate]]:
        """T2: the groups of candidates of which exactly one leaves."""
        groups = defaultdict(list)
        for candidate in self.candidates.values():
            if candidate.reason is None:
                groups[candidate.group].append(candidate)
        return dict(groups)


def newest_as_of(source: Source, today: date) -> datetime:
    """G2: the end of the newest day the source holds that is not after today."""
    days = [row.day for row in (*source.kept, *source.quarantined, *source.copies) if row.day and row.day <= today]
    last = max(days)
    return datetime(last.year, last.month, last.day, tzinfo=UTC) + timedelta(days=1)


def judge(files: list[Path], as_of: datetime | None, settings: Settings, today: date | None = None) -> Verdict:
    """The right answers for these source files."""
    source = sort_out(files, settings)
    moment = as_of or newest_as_of(source, today or datetime.now(UTC).date())
    items = [derive(row, moment, settings) for row in source.kept if row.at and row.at < moment]
    give_one_voice(items)
    contest(items)
    active = [item for item in items if item.active]
    totals = None if source.responses is None else Counter(source.responses.values())
    sessions = by((i for i in active if i.session_id), lambda i: i.session_id)
    days = by(active, lambda i: (i.at.date(), i.domain))
    return Verdict(
        as_of=moment, source=source, feedback={i.id: i for i in items},
        responses={r: response_row(g, settings.scale) for r, g in by(active, lambda i: i["response_id"]).items()},
        sessions={s: session_row(g, None if totals is None else totals[s]) for s, g in sessions.items()},
        daily={d: daily_row(g) for d, g in days.items()}, stats=stats_of(active, moment),
        candidates={c.key: c for c in candidates_of(active, settings)}, split_key=settings.split_key,
    )  # fmt: skip


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
