"""Writes made-up sources of conversations: `conversations.db`, an older file beside it, transcripts and turn folders."""

import heapq
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from dagster_project.demo.conversations.feedback import MOST_RATED, rated_sessions
from dagster_project.demo.conversations.files import TurnFiles
from dagster_project.demo.conversations.followed import FollowedTurns
from dagster_project.demo.conversations.rows import COLUMNS, Turn, iso_time, values_of
from dagster_project.demo.conversations.turns import NAMES, Demand, Sessions
from dagster_project.demo.database import NewDatabase
from dagster_project.demo.dirt import RawText
from dagster_project.demo.timeline import LAST_DAY, epoch

MAIN, FALLBACK = "conversations.db", "conversations_fallback.db"
OLDER_COLUMN_COUNT = 13
RAW_TEXT = "update turns set query = cast(query as text) where user_id is ? and turn_number = ?"
BATCH_TURNS = 10_000
FOLDERS, FALLBACK_FOLDERS = 100, 40
FALLBACK_SHARE, MOST_FALLBACK = 6, 400
FIRST_FALLBACK_NUMBER = 1_200
# How many requests tell how they came about; among a million turns most texts should still be different ones.
DEMO_OPENERS, BENCH_OPENERS = 0.17, 0.7
# What the old writer did to its column of times, by the number of the row.
OLDER_HAZARDS = {40: "fallback_text_time", 80: "fallback_null_time", 120: "fallback_null_turn_number"}

Row = tuple[Any, ...]


def write_turns(
    folder: Path,
    turns: int,
    seed: int,
    *,
    days: int = 90,
    last_day: date = LAST_DAY,
    feedback: Path | None = None,
    followed: FollowedTurns | None = None,
    is_bench: bool = False,
) -> dict[str, int]:
    """Write `conversations.db` with exactly `turns` rows and say how often each hazard was planted.

    Beside it: `conversations_fallback.db` with an older table and some turns more, `transcripts/` and turn folders. With
    `feedback`, a written `feedback.db`, some sessions continue from an answer that was rated there. `followed` takes up turns
    for others to react to. With `is_bench` all text is in the columns and the one database is all there is.
    """
    counts: Counter[str] = Counter()
    first, end = epoch(last_day - timedelta(days=days - 1)), epoch(last_day + timedelta(days=1))
    rated: list[list[Turn]] = []
    if feedback is not None:
        wanted = min(MOST_RATED, turns // 10)
        rated = list(rated_sessions(feedback, first, end, wanted, str(seed), counts))
    users = max(len(NAMES), turns // 500) if is_bench else min(len(NAMES), max(8, turns // 100))
    demand = Demand(
        turns=turns - sum(map(len, rated)),
        seed=f"{seed}:turns",
        days=days,
        last_day=last_day,
        users=users,
        first_number=1,
        has_files=not is_bench,
        has_columns=True,
        folders=0 if is_bench else min(FOLDERS, turns // 8),
        opener_share=BENCH_OPENERS if is_bench else DEMO_OPENERS,
    )
    sessions = Sessions(demand)
    files = None if is_bench else TurnFiles(folder, counts)
    merged = heapq.merge(sessions.sessions(), rated, key=lambda session: session[0].asked_at)
    with closing(NewDatabase(folder / MAIN, "conversations/tables.sql")) as file:
        for batch in _batches(merged, files, followed):
            raw_texts = _raw_texts(batch)
            file.insert("turns", [values_of(turn) for turn in batch], len(COLUMNS))
            for key in raw_texts:
                file.execute(RAW_TEXT, key)
    counts.update(sessions.planted)
    if files is not None:
        counts["rows_fallback"] = _write_fallback(folder / FALLBACK, demand, files, counts)
        files.close()
    counts["rows"] = turns
    counts["users"] = users
    return dict(counts)


def _batches(
    sessions: Iterable[list[Turn]], files: TurnFiles | None, followed: FollowedTurns | None
) -> Iterator[list[Turn]]:
    batch: list[Turn] = []
    for session in sessions:
        if files is not None:
            files.add(session)
        if followed is not None:
            followed.add(session)
        batch.extend(session)
        if len(batch) >= BATCH_TURNS:
            yield batch
            batch = []
    yield batch


def _raw_texts(batch: list[Turn]) -> list[Row]:
    """The keys of rows whose query must become text although its bytes are none."""
    keys: list[Row] = []
    for turn in batch:
        if type(turn.query) is RawText:
            turn.query = bytes(turn.query)
            keys.append((turn.user_id, turn.turn_number))
    return keys


def _write_fallback(path: Path, main: Demand, files: TurnFiles, counts: Counter[str]) -> int:
    """The file of an assistant that was never updated: it knows no users and keeps no text."""
    demand = Demand(
        turns=min(MOST_FALLBACK, main.turns // FALLBACK_SHARE),
        seed=f"{main.seed}:fallback",
        days=main.days,
        last_day=main.last_day,
        users=0,
        first_number=FIRST_FALLBACK_NUMBER,
        has_files=True,
        has_columns=False,
        folders=min(FALLBACK_FOLDERS, main.folders // 2),
        opener_share=main.opener_share,
    )
    sessions = Sessions(demand)
    rows: list[Row] = []
    for session in sessions.sessions():
        files.add(session, fallback=True)
        for turn in session:
            hazard = OLDER_HAZARDS.get(len(rows), "")
            rows.append(_older_row(turn, len(rows), hazard))
            if hazard:
                counts[hazard] += 1
    with closing(NewDatabase(path, "conversations/tables_older.sql")) as file:
        file.insert("turn_index", rows, OLDER_COLUMN_COUNT)
    for name, count in sessions.planted.items():
        counts[f"fallback_{name}"] += count
    return len(rows)


def _older_row(turn: Turn, number: int, hazard: str) -> Row:
    created_at = (turn.asked_at, iso_time(turn.asked_at, "Z"), iso_time(turn.asked_at, ""))[number % 3]
    if hazard == "fallback_text_time":
        created_at = "last Tuesday"
    return (
        number + 1,
        None if hazard == "fallback_null_turn_number" else turn.number,
        turn.session_id,
        turn.topic,
        turn.intent,
        turn.validation_outcome,
        turn.strategy_summary,
        turn.quality_score,
        turn.user_feedback_status,
        turn.rejection_detected_in,
        None if hazard == "fallback_null_time" else created_at,
        ",".join(json.loads(turn.keywords)),
        turn.folder,
    )
