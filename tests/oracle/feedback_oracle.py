"""What the feedback pipeline should answer, computed in plain Python from the source files (semantics G, F and T).

`judge` is the way in. `feedback_source` reads and refuses, `feedback_rows` looks at one row and those around it,
`feedback_training` at candidates. Rule numbers are those of the design's semantics.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

from tests.oracle.feedback_rows import Answer, Feedback, Settings, condemned_answers, contest, derive, give_one_voice
from tests.oracle.feedback_source import EPOCH, TYPE_WEIGHTS, Responses, Source, blank, known, six, sort_out
from tests.oracle.feedback_training import Candidate, candidates_of, record_of
from tests.oracle.release_rules import Record, Rules, settle

# --- aggregates (F11, F12) --------------------------------------------------------------------------------------------


def ratio(part: int, whole: int) -> float | None:
    return six(Fraction(part, whole)) if whole else None


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
    delta = Fraction(up, up + down) - sum(sure) / len(sure) if up + down and sure else None
    kinds = Counter(i.effective_type for i in group)
    stars = [i["rating"] for i in ratings] if scale == "five" else []
    return {
        "thumbs_up_count": up,
        "thumbs_down_count": down,
        "rating_count": kinds["rating"],
        "avg_rating": ratio(sum(stars), len(stars)),
        "correction_count": kinds["correction"],
        "preference_count": kinds["preference"],
        "flag_count": kinds["flag"],
        "net_sentiment": ratio(up - down, up + down),
        "confidence_delta": None if delta is None else six(delta),
        "first_feedback_at": epoch(min(i.at for i in group)),
        "last_feedback_at": epoch(max(i.at for i in group)),
        "session_ids": sorted({i.session_id for i in group if i.session_id}),
    }


QUALITY = {"positive": Fraction(1), "negative": Fraction(0), "neutral": Fraction(1, 2)}


def worth(item: Feedback) -> Fraction:
    """F11: what a row says of its session's quality."""
    if item.effective_type == "rating":
        return QUALITY[item.sentiment or "neutral"]
    return Fraction(0) if item.effective_type == "flag" else Fraction(1, 2)


def session_rows(active: list[Feedback], responses: Responses | None, as_of: datetime) -> dict[str, dict[str, Any]]:
    """F11: known sessions that gave active feedback, or whose own responses got some."""
    there = [r for r in responses.kept.values() if not r.at or r.at < as_of] if responses else []
    owners = {row["response_id"]: known(row["session_id"]) for row in there}
    own = defaultdict(set)  # the responses of sessions `responses` knows of, with those only their feedback names
    for response, owner in owners.items():
        if owner:
            own[owner].add(response)
    given = defaultdict(set)
    for item in active:
        owner = owners.get(item["response_id"]) or item.session_id
        if owner:
            given[owner].add(item["response_id"])
    spoken = by((i for i in active if i.session_id), lambda i: i.session_id)
    totals = {session: len(found | given[session]) for session, found in own.items()}
    return {s: session_row(spoken.get(s, []), len(given[s]), totals.get(s)) for s in sorted({*spoken, *given})}


def session_row(group: list[Feedback], given: int, total: int | None) -> dict[str, Any]:
    domains = Counter(i.domain for i in group)
    topics = sorted(domains, key=lambda d: (-domains[d], d))
    return {
        "total_responses": total,
        "feedback_given": given,
        "feedback_rate": ratio(given, total or 0),
        "positive_count": sum(i.sentiment == "positive" for i in group),
        "negative_count": sum(i.sentiment == "negative" for i in group),
        "rated_count": len(group),
        "correction_count": sum(i.effective_type == "correction" for i in group),
        "session_quality": six(sum(map(worth, group), Fraction(0)) / len(group)) if group else 0.5,
        "primary_domain": topics[0] if topics else None,
        "topics": topics,
        "started_at": epoch(min(i.at for i in group)) if group else None,
        "last_activity_at": epoch(max(i.at for i in group)) if group else None,
    }


def daily_row(group: list[Feedback]) -> dict[str, Any]:
    kinds, sentiments = Counter(i.effective_type for i in group), Counter(i.sentiment for i in group)
    up, down = sentiments["positive"], sentiments["negative"]
    return {
        "feedback_count": len(group),
        "positive_count": up,
        "negative_count": down,
        "neutral_count": sentiments["neutral"],
        "mean_weight": mean_weight(group),
        "net_sentiment": ratio(up - down, up + down),
        **{f"{kind}_count": kinds[kind] for kind in TYPE_WEIGHTS},
    }


def mean_weight(group: list[Feedback]) -> float | None:
    return six(sum((Fraction(str(i.weight)) for i in group), Fraction(0)) / len(group)) if group else None


def stats_of(active: list[Feedback], as_of: datetime) -> dict[str, Any]:
    up = sum(i.sentiment == "positive" for i in active)
    down = sum(i.sentiment == "negative" for i in active)
    done = sum(bool(i["processed"]) for i in active)
    return {
        "total_feedback": len(active),
        "by_type": {
            kind: sum(i.effective_type == kind for i in active)
            for kind in ("rating", "correction", "preference", "flag")
        },
        "sentiment": {"positive": up, "negative": down, "net_sentiment": ratio(up - down, up + down)},
        "processed": {"total": done, "pending": len(active) - done},
        "quality": {"avg_weight": mean_weight(active), "high_quality_count": sum(i.weight >= 0.7 for i in active)},
        "recent_24h": sum(i.at >= as_of - timedelta(hours=24) for i in active),
    }


POLARITY = {"correction": "negative", "preference": "negative", "flag": "negative"}


def polarity_of(item: Feedback) -> str | None:
    """N."""
    return item.sentiment if item.effective_type == "rating" else POLARITY[item.effective_type]


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
    condemned: set[Answer]
    settings: Settings

    @property
    def active(self) -> list[Feedback]:
        return [i for i in self.feedback.values() if i.active]

    @property
    def queries(self) -> list[str]:
        """The prompts of all candidates with texts, whatever speaks against them (T3)."""
        return [
            i["original_query"]
            for i in self.active
            if not blank(i["original_query"]) and not blank(i["original_response"])
        ]

    @property
    def settled(self) -> dict[tuple[str, str], Record]:
        """What a release settles about the candidates that nothing earlier speaks against."""
        left = [c for c in self.candidates.values() if c.reason is None]
        records = [record_of(candidate) for candidate in left]
        settings = self.settings
        settle(records, self.queries, Rules(settings.split_key, settings.min_weight, settings.low_tier))
        return {candidate.key: record for candidate, record in zip(left, records, strict=True)}


def newest_as_of(source: Source, today: date) -> datetime:
    """G2: the end of the newest day the source holds that is over: today is not."""
    days = [row.day for row in (*source.kept, *source.quarantined, *source.copies) if row.day and row.day < today]
    last = max(days)
    return datetime(last.year, last.month, last.day, tzinfo=UTC) + timedelta(days=1)


def judge(files: list[Path], as_of: datetime | None, settings: Settings, today: date | None = None) -> Verdict:
    """The right answers for these source files."""
    source = sort_out(files, settings.scale)
    moment = as_of or newest_as_of(source, today or datetime.now(UTC).date())
    items = [derive(row, moment, settings) for row in source.kept if row.at and row.at < moment]
    give_one_voice(items)
    condemned = condemned_answers(items, source)
    contest(items, condemned)
    active = [item for item in items if item.active]
    days = by(active, lambda i: (i.at.date(), i.domain))
    return Verdict(
        as_of=moment,
        source=source,
        feedback={i.id: i for i in items},
        responses={r: response_row(g, settings.scale) for r, g in by(active, lambda i: i["response_id"]).items()},
        sessions=session_rows(active, source.responses, moment),
        daily={d: daily_row(g) for d, g in days.items()},
        stats=stats_of(active, moment),
        candidates={c.key: c for c in candidates_of(active, condemned)},
        condemned=condemned,
        settings=settings,
    )
