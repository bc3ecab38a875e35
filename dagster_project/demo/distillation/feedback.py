"""Which answers that users judged were distilled too, and how one can tell (rule M1).

Only feedback with one clear meaning is used: a single row about a response whose prompt nobody else asked.
"""

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

# The ways in which feedback belongs to an example. The last is no link: it is SAM's own attempt that was judged.
BY_ID, BY_SESSION, BY_SESSION_AND_ANSWER, BY_ANSWER, ON_ATTEMPT = (
    "linked_by_id",
    "linked_by_session",
    "linked_by_session_and_answer",
    "linked_by_answer",
    "feedback_on_attempt",
)
ESCALATED_WAYS, OTHER_WAYS = (BY_ID, BY_SESSION, BY_ANSWER), (BY_SESSION_AND_ANSWER, ON_ATTEMPT)
VALIDATED, CONTRADICTED = "validated", "contradicted"
LONGEST_COMMENT = 80
# The order mixes the days, so that a few rows of a long history come from all over it.
SELECT = """
select response_id, session_id, original_query, original_response, domain, timestamp, feedback_type, rating,
    correction, correction_type, what_was_wrong, flag_type
from feedback
where escalated_to_claude = ? and typeof(escalated_to_claude) = 'integer'
    and feedback_type in ('rating', 'correction', 'preference', 'flag')
    and typeof(timestamp) = 'real' and timestamp >= ? and timestamp < ?
    and (rating is null or (typeof(rating) = 'integer' and rating in (-1, 1)))
    and (response_confidence is null or response_confidence between 0 and 1)
    and typeof(original_query) = 'text' and typeof(original_response) = 'text' and session_id not in ('', 'default')
    and instr(cast(original_response as blob), x'00') = 0
    and response_id in (select response_id from responses)
    and response_id in (select response_id from feedback group by response_id having count(*) = 1)
    and original_query in (select original_query from feedback group by original_query having count(*) = 1)
order by rowid * 2654435761 % 1000003, rowid
limit ?
"""


@dataclass(frozen=True, slots=True)
class Voice:
    """An answer that one user judged, what the judgement says about it, and how it will be linked to an example."""

    response_id: str
    session_id: str
    query: str
    response: str
    domain: str
    judged_at: float
    verdict: str
    way: str


def read_voices(path: Path, first: float, end: float, wanted: int) -> list[Voice]:
    """Up to `wanted` judged answers of the period in the order of time, the ways of linking them evenly mixed."""
    if not wanted:
        return []
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        database.text_factory = bytes
        escalated = list(_voices(database.execute(SELECT, (1, first, end, 4 * wanted)), ESCALATED_WAYS))
        others = list(_voices(database.execute(SELECT, (0, first, end, 4 * wanted)), OTHER_WAYS))
    chosen = _evenly(escalated, wanted * 2 // 3)
    chosen += _evenly(others, wanted - len(chosen))
    return sorted(chosen, key=lambda voice: voice.judged_at)


def _voices(rows: Iterable[tuple[Any, ...]], ways: tuple[str, ...]) -> Iterator[Voice]:
    turns: dict[str, Iterator[str]] = defaultdict(lambda: cycle(ways))
    for raw in rows:
        try:
            row: list[Any] = [value.decode() if isinstance(value, bytes) else value for value in raw]
        except UnicodeDecodeError:
            continue
        verdict = _verdict(*row[6:])
        response_id, session_id, query, response, domain, judged_at = row[:6]
        if query.strip() and response.strip():
            way = next(turns[verdict])
            yield Voice(response_id, session_id, query, response, domain or "", judged_at, verdict, way)


def _verdict(
    kind: str,
    rating: int | None,
    correction: str | None,
    correction_type: str | None,
    wrong: str | None,
    flag: str | None,
) -> str:
    """What one feedback row says about the answer; a comment on a thumb counts as the thumb (F7)."""
    if kind == "flag":
        return CONTRADICTED if (flag or "").strip().lower() in ("harmful", "incorrect") else ""
    if kind == "preference":
        return ""
    if kind == "correction":
        text = correction or ""
        is_comment = not (correction_type or "").strip() and not (wrong or "").strip()
        if is_comment and rating == 1 and len(text) <= LONGEST_COMMENT and "\n" not in text:
            return VALIDATED
        return CONTRADICTED if text.strip() else ""
    return VALIDATED if rating == 1 else CONTRADICTED if rating == -1 else ""


def _evenly(voices: list[Voice], wanted: int) -> list[Voice]:
    """Take turns between the combinations of way and verdict, so that rare ones are not crowded out."""
    groups: dict[tuple[str, str], list[Voice]] = defaultdict(list)
    for voice in voices:
        groups[voice.way, voice.verdict].append(voice)
    taken: Counter[tuple[str, str]] = Counter()
    chosen: list[Voice] = []
    while len(chosen) < min(wanted, len(voices)):
        for key, members in groups.items():
            if taken[key] < len(members) and len(chosen) < wanted:
                chosen.append(members[taken[key]])
                taken[key] += 1
    return chosen
