"""Random small databases of turns by seed: every place of a text, shared numbers, gaps at the limits, dirty rows, two files."""

import json
import random
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.systems.conversations.turn_database import (
    DECLARED,
    NO_MORE,
    OLDER,
    RIGHT,
    TEXTS,
    TURNS,
    WRONG,
    insert,
    turn_folder,
)

Row = dict[str, Any]
FIRST_DAY = datetime(2026, 1, 19, 22, tzinfo=UTC)
MESSAGES = (
    "Which laptops under $1000 are good for video editing?",
    "Which laptops below $1000 are good for editing videos?",
    "Find me a vegetarian lasagne recipe",
    "Book a table for two tonight",
    "What is the capital of Mongolia?",
    WRONG,
    RIGHT,
    NO_MORE,
    "Tell me more about the second one",
    "That's wrong",
    "No, that's all",
    "yes",
    "The list you gave me earlier was great",
    "I'll go with the Lenovo",
    "  ",
    "Übersetze das bitte 🙂",
)
ANSWERS = (
    None,
    "Here are three: the Lenovo Yoga, the Acer Swift and the Dell 14.",
    "Ulaanbaatar. Anything else?",
    "I can't do that.",
    "",
)
GAPS = (0, 1, 60, 299, 1799.5, 1800, 1800.000001, 1801, 7200, 20_000)
OUTCOMES = ("APPROVE", "REVISE", "RETRY", "FAIL", "approve ", "SKIPPED", "", None)
STORED = ("rejected", "neutral", "accepted", "Rejected ", "angry", "", None)
DIRT: tuple[Row, ...] = (
    {"turn_number": None},
    {"turn_number": 1.5},
    {"turn_number": "x"},
    {"turn_number": ""},
    {"timestamp": "soon"},
    {"timestamp": None},
    {"timestamp": ""},
    {"timestamp": -1.0},
    {"timestamp": 5e9},
    {"timestamp": 1e14},
    {"quality_score": "good"},
    {"topic": 3.5},
    {"intent": b"\xff\xfe"},
    {"strategy_summary": "nul\0"},
    {"quality_score": ""},
    {"quality_score": 7},
    {"feedback_confidence": -0.5},
)


class Conversations:
    """Call `write`, once; the same seed gives the same files."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.has_columns = self.random.random() < 0.7
        self.file_count = self.random.choice((1, 1, 2))
        self.numbers: dict[str, int] = {}
        self.as_of = self.random.choice(
            (None, None, FIRST_DAY + timedelta(days=1), FIRST_DAY + timedelta(hours=self.random.uniform(1, 60)))
        )

    def write(self, folder: Path) -> list[Path]:
        files = [folder / f"part{n}" / f"turns{n}.db" for n in range(self.file_count)]
        rows = [self._rows(path) for path in files]
        if len(files) > 1:  # some turns are in both files: as they are, rewritten since, or in conflict
            for row in self.random.sample(rows[0], min(6, len(rows[0]))):
                if row.get("query"):
                    change = self.random.choice(
                        ({}, {"quality_score": 0.125}, {"topic": "changed"}, {"intent": "changed"})
                    )
                    rows[1].append(row | change)
        for path, mine in zip(files, rows, strict=True):
            self.random.shuffle(mine)
            self._store(path, mine, self._older(mine) if self.random.random() < 0.5 else None)
        return files

    def _rows(self, path: Path) -> list[Row]:
        """The turns of one file, and what lies beside it."""
        pick = self.random.choice
        rows: list[Row] = []
        lines: dict[str, list[str]] = {}
        for _ in range(self.random.randint(1, 9)):  # sessions
            user = pick(("ann", "bob", "cy / d", "", "default", None))
            session = pick(("s1", "s2", "?", "", "default", None))
            moment = (FIRST_DAY + timedelta(seconds=self.random.randint(0, 200_000))).timestamp()
            for _ in range(self.random.randint(1, 9)):
                row = self._turn(path, user, session, moment)
                self._place_text(path, row, lines)
                rows.append(row)
                moment += pick(GAPS)
        for day, said in lines.items():
            transcripts = path.parent / "transcripts"
            transcripts.mkdir(parents=True, exist_ok=True)
            (transcripts / f"{day}.jsonl").write_text("\n".join([*said, "not json", ""]))
        return rows

    def _turn(self, path: Path, user: str | None, session: str | None, moment: float) -> Row:
        pick = self.random.choice
        counter = user if user not in ("", "default", None) else path.name
        self.numbers[counter] = self.numbers.get(counter, 0) + 1
        # a session's name is one user's only: a transcript tells no more than that
        name = f"{counter}-{session}" if session in ("s1", "s2") else session
        row: Row = {
            "turn_number": self.numbers[counter],
            "user_id": user,
            "session_id": name,
            "timestamp": moment,
            "topic": pick(("laptops", "", None)),
            "intent": pick(("commerce", "recipe", "", None)),
            "validation_outcome": pick(OUTCOMES),
            "strategy_summary": pick(("search the web", "", None)),
            "quality_score": pick((0.85, 0.5, 1 / 3, 1, 0, None)),
            "user_feedback_status": pick(STORED),
            "feedback_confidence": pick((0.9, None)),
            "rejection_detected_in": pick(("turn_000002", "", None)),
        }
        if self.random.random() < 0.08:
            row |= pick(DIRT)
        if self.random.random() < 0.05 and isinstance(row["timestamp"], float) and 0 < row["timestamp"] < 3e9:
            row["timestamp"] = round(row["timestamp"]) * 1000
        return row

    def _place_text(self, path: Path, row: Row, lines: dict[str, list[str]]) -> None:
        message, reply = self.random.choice(MESSAGES), self.random.choice(ANSWERS)
        is_whole = (
            isinstance(row["turn_number"], int) and isinstance(row["timestamp"], float) and 0 < row["timestamp"] < 3e9
        )
        is_known = row["user_id"] not in ("", "default", None) and row["session_id"] not in ("", "default", None, "?")
        places = [
            "topic",
            *(["column"] * 4 if self.has_columns else []),
            *(["transcript"] * 3 if is_whole and is_known else []),
        ]
        if isinstance(row["turn_number"], int) and is_known and "/" not in str(row["user_id"]):
            places += ["folder"] * 3
        place = self.random.choice(places)
        if place == "column":
            row |= {"query": message, "response": reply}
        elif place == "transcript" and message.strip():
            said = {
                "timestamp": row["timestamp"],
                "turn_number": row["turn_number"],
                "session_id": row["session_id"],
                "query": message,
            }
            lines.setdefault(f"{datetime.fromtimestamp(row['timestamp'], UTC):%Y%m%d}", []).append(json.dumps(said))
        elif place == "folder" and message.strip():
            name = f"users/{row['user_id']}/turns/turn_{row['turn_number']:06}"
            metadata: Row = {"session_id": row["session_id"], "quality_score": 0.75, "validation_outcome": "REVISE"}
            if isinstance(row["timestamp"], float) and self.random.random() < 0.3 and 0 < row["timestamp"] < 3e9:
                moment = datetime.fromtimestamp(row["timestamp"], UTC)
                metadata["timestamp"] = self.random.choice(
                    (row["timestamp"], moment.isoformat(), moment.replace(tzinfo=None).isoformat())
                )
                row["timestamp"] = None
            if self.random.random() < 0.5:
                metadata["user_feedback"] = {"status": "rejected", "correction_type": "explicit_correction"}
            turn_folder(path.parent, name, message, reply, metadata)

    def _older(self, rows: list[Row]) -> list[Row]:
        """An older table: copies of some turns, and turns of its own."""
        chosen = [row for row in rows if isinstance(row["turn_number"], int) and isinstance(row["timestamp"], float)]
        copies = self.random.sample(chosen, len(chosen) // 4)
        names = (
            "turn_number",
            "session_id",
            "topic",
            "intent",
            "validation_outcome",
            "strategy_summary",
            "quality_score",
        )
        older = [{name: row[name] for name in names} | {"created_at": row["timestamp"]} for row in copies]
        moment = FIRST_DAY.timestamp()
        for number in range(500, 500 + self.random.randint(0, 8)):
            moment += self.random.choice(GAPS)
            created = self.random.choice((moment, datetime.fromtimestamp(moment, UTC).isoformat(), "no time"))
            older.append(
                {
                    "turn_number": number,
                    "session_id": "old",
                    "topic": self.random.choice(MESSAGES),
                    "created_at": created,
                }
            )
        return older

    def _store(self, path: Path, rows: list[Row], older: list[Row] | None) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(path)) as database:
            database.execute(f"create table {TURNS} ({DECLARED[TURNS]}{TEXTS if self.has_columns else ''})")
            for row in rows:
                values = row if self.has_columns else {k: v for k, v in row.items() if k not in ("query", "response")}
                insert(database, TURNS, values)
                if isinstance(values["intent"], bytes):
                    last = database.execute("select last_insert_rowid()").fetchone()[0]
                    database.execute("update turns set intent = cast(intent as text) where rowid = ?", [last])
            if older is not None:
                database.execute(f"create table {OLDER} ({DECLARED[OLDER]})")
                for row in older:
                    insert(database, OLDER, row)
            database.commit()
