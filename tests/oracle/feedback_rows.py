"""One feedback row and what the rows around it make of it: type, voice, weight, agreement (semantics F2 to F9)."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from tests.oracle.feedback_source import (
    CORRECTION_TYPES,
    DOMAINS,
    FLAG_TYPES,
    RAW_CONTENT,
    TIERS,
    TYPE_WEIGHTS,
    Row,
    Source,
    answer_form,
    blank,
    known,
    prompt_form,
    six,
    word,
)

Thread = tuple[str, str]  # prompt and context, as they are compared (G10)
Answer = tuple[str, str, str]  # an answer to a prompt in a context


@dataclass(frozen=True)
class Settings:
    scale: str = "thumbs"
    min_weight: float = 0.3
    split_key: str = "gristmill"
    low_tier: str = "augmentation"


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
    def thread(self) -> Thread | None:
        """Prompt and context (F6, G10; no context = an empty one). An empty prompt is the same as no other (F1)."""
        return thread_of(self["original_query"], self["conversation_context"])

    @property
    def answer(self) -> Answer | None:
        """The same answer to the same prompt and context (F8)."""
        return answer_to(self.thread, self["original_response"])


def thread_of(query: str | None, context: str | None) -> Thread | None:
    return None if blank(query) else (prompt_form(query), prompt_form(context))


def answer_to(thread: Thread | None, text: str | None) -> Answer | None:
    """Empty texts are equal to no other text (F1)."""
    return None if thread is None or blank(text) else (*thread, answer_form(text))


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
    confidence = item["response_confidence"]
    # "rating == -1" to the letter: nothing on the five-scale earns it
    overconfident = confidence is not None and confidence > 0.8 and item["rating"] == -1
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
        row=row,
        id=row["feedback_id"],
        at=row.at,
        type=kind,
        effective_type=effective,
        sentiment=sentiment_of(row["rating"], settings.scale) if effective == "rating" else None,
        comment=row["correction"] if comment else None,
        user_id=user,
        session_id=session,
        voter_id=voter,
        domain=domain if domain in DOMAINS else "general",
        correction_type=correction_type if correction_type in CORRECTION_TYPES else None,
        flag_type=(flag if flag in FLAG_TYPES else "other") if kind == "flag" else None,
    )
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


# --- what people agree on (F8) ----------------------------------------------------------------------------------------


def latest_ratings(rows: Iterable[Feedback]) -> list[Feedback]:
    """Of one voter's ratings the latest."""
    latest: dict[str, Feedback] = {}
    for row in sorted((row for row in rows if row.effective_type == "rating"), key=lambda row: row.order):
        latest[row.voter_id] = row
    return list(latest.values())


def is_objection(item: Feedback) -> bool:
    return item.effective_type == "correction" or (item.effective_type == "flag" and item.flag_type == "incorrect")


def condemned_answers(items: list[Feedback], source: Source) -> set[Answer]:
    """Every answer that any row, or `responses`, shows for a response with an active flag `harmful`."""
    flagged = {i["response_id"] for i in items if i.active and i.effective_type == "flag" and i.flag_type == "harmful"}
    shown = {item.answer for item in items if item["response_id"] in flagged}
    for key, row in source.responses.kept.items() if source.responses else ():
        if key in flagged:
            shown.add(answer_to(thread_of(row["query"], None), row["response"]))
    return {answer for answer in shown if answer}


def contest(items: list[Feedback], condemned: set[Answer]) -> None:
    """F8: a rating is judged by the active rows that share its response_id or its answer, each once."""
    by_response, by_answer = defaultdict(list), defaultdict(list)
    for item in items:
        if item.active:
            by_response[item["response_id"]].append(item)
            by_answer[item.answer].append(item)
    for item in items:
        if not item.active or item.sentiment not in ("positive", "negative"):
            continue
        around = {row.id: row for row in by_response[item["response_id"]]}
        if item.answer:
            around |= {row.id: row for row in by_answer[item.answer]}
        votes = Counter(row.sentiment for row in latest_ratings(around.values()))
        up, down = votes["positive"], votes["negative"]
        if item.sentiment == "negative":
            item.is_contested = not down > up
        else:
            is_spoiled = any(map(is_objection, around.values())) or item.answer in condemned
            item.is_contested = not (up > down and not is_spoiled)
