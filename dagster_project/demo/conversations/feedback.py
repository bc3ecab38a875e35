"""Turns whose answer was also rated in the feedback demo, so that the detector can be held against explicit ratings."""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random

from dagster_project.demo.conversations.rows import TOPIC_LENGTH, Turn
from dagster_project.demo.conversations.talk import Talk

INTENTS = {"code": "code_help", "creative": "writing", "factual": "information", "planning": "travel_planning"}
MOST_RATED = 260
# One clear rating on a response by a known user, one response a session. The order mixes the days.
SELECT = """
select session_id, user_id, original_query, original_response, domain, timestamp, rating
from feedback
where feedback_type = 'rating' and typeof(rating) = 'integer' and rating in (-1, 1)
    and typeof(timestamp) = 'real' and timestamp >= ? and timestamp < ?
    and session_id not in ('', 'default') and user_id not in ('', 'default')
    and typeof(original_query) = 'text' and typeof(original_response) = 'text'
    and trim(original_query) <> '' and trim(original_response) <> ''
    and (response_confidence is null or response_confidence between 0 and 1) and escalated_to_claude in (0, 1)
    and instr(cast(original_response as blob), x'00') = 0
    and response_id in (select response_id from responses)
    and response_id in (select response_id from feedback group by response_id having count(*) = 1)
group by session_id having rowid = min(rowid)
order by rowid * 2654435761 % 1000003, rowid
limit ?
"""
# How often the next message says what the button said. Who is content hardly ever complains; who is not is at times polite.
AGREES = {True: 0.97, False: 0.82}


def rated_sessions(
    path: Path, first: float, end: float, wanted: int, seed: str, counts: Counter[str]
) -> Iterator[list[Turn]]:
    """Sessions of two turns: the rated one, and what its user said after pressing the button."""
    rng = Random(f"{seed}:rated")
    talk = Talk(rng)
    next_numbers: Counter[str] = Counter()
    for session_id, user_id, query, response, domain, rated_at, rating in _ratings(path, first, end, wanted):
        is_liked = rating == 1
        agrees = rng.random() < AGREES[is_liked]
        counts["rated"] += 1
        counts["next_agrees" if agrees else "next_disagrees"] += 1
        message, sense, answer = _next_message(talk, query, is_liked == agrees)
        moments = (rated_at - 3 - 40 * rng.random(), rated_at + 5 + 90 * rng.random())
        intent = INTENTS.get(domain or "", "")
        outcome = "APPROVE" if is_liked or rng.random() < 0.5 else "REVISE"
        session: list[Turn] = []
        for asked_at, said, told, said_as in (
            (round(moments[0], 6), query, response, "request"),
            (round(moments[1], 6), message, answer, sense),
        ):
            next_numbers[user_id] += 1
            turn = Turn(
                next_numbers[user_id],
                user_id,
                session_id,
                asked_at,
                said[:TOPIC_LENGTH],
                intent,
                "[]",
                outcome,
                "",
                0.7 if is_liked else 0.5,
                "neutral",
                0.5,
                None,
                "",
                said,
                told,
                said_as,
                said,
                told,
                next_numbers[user_id],
                asked_at,
            )
            session.append(turn)
            counts[turn.place] += 1
            counts[f"said_{said_as}"] += 1
        yield session


def _ratings(path: Path, first: float, end: float, wanted: int) -> list[tuple]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        database.text_factory = bytes
        rows: list[tuple] = []
        for raw in database.execute(SELECT, (first + 60, end - 120, wanted)):
            try:
                rows.append(tuple(value.decode() if isinstance(value, bytes) else value for value in raw))
            except UnicodeDecodeError:
                continue
    return sorted(rows, key=lambda row: (row[5], row[0]))


def _next_message(talk: Talk, query: str, is_content: bool) -> tuple[str, str, str]:
    """What somebody says next, in what sense, and the answer."""
    draw = talk.rng.random()
    if is_content:
        return talk.phrase("thanks" if draw < 0.6 else "praise"), "thanks", talk.phrase("welcomes")
    if draw < 0.65:
        return talk.phrase("rejections"), "explicit", f"{talk.phrase('apologies')} {talk.phrase('evasions')}"
    if draw < 0.85:
        return f"I'll ask again: {query}", "rephrased", talk.phrase("evasions")
    return talk.phrase("abandonments"), "abandonment", talk.phrase("restarts")
