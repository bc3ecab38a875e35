"""PandaAI's turns: some come late into the middle of a session, some texts lie in folders and transcripts beside the table."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from tests.histories.owners import Act, Owner, moment
from tests.oracle.conversations_database import ANSWERS, DIRT, GAPS, MESSAGES, OUTCOMES, STORED
from tests.systems.conversations.turn_database import DECLARED, OLDER, TEXTS, TURNS, turn_folder

USERS, SESSIONS = ("ann", "bob", "", "default", None), ("s1", "s2", "", None)
VISIBLE: dict[str, tuple[Any, ...]] = {
    "quality_score": (0.1, 0.9, None),
    "validation_outcome": OUTCOMES,
    "user_feedback_status": STORED,
    "intent": ("commerce", "recipe", None),
    "session_id": ("s1", "s2"),
    "user_id": ("ann", "bob"),
}


class ConversationsOwner(Owner):
    system = "conversations"

    def __init__(self, folder: Path, random: Random) -> None:
        super().__init__(folder, random)
        self.file.do(f"create table {TURNS} ({DECLARED[TURNS]}{TEXTS})")
        self.has_older = self.chance(0.4)
        if self.has_older:
            self.file.do(f"create table {OLDER} ({DECLARED[OLDER]})")

    def add(self, first: int, last: int, count: int) -> None:
        """Whole sessions."""
        while count > 0:
            user, session = self.pick(USERS), self.pick(SESSIONS)
            at = self.seconds(self.random.randrange(first, max(last, first + 1)))
            for _ in range(self.random.randint(1, 5)):
                count -= 1
                self._add_turn(user, session, at)
                at += self.pick(GAPS)

    def _add_turn(self, user: str | None, session: str | None, at: float) -> None:
        self.number += 1
        row: dict[str, Any] = {
            "turn_number": self.number,
            "user_id": user,
            "session_id": session,
            "timestamp": at,
            "topic": self.pick(("laptops", None)),
            "intent": self.pick(("commerce", "recipe", None)),
            "validation_outcome": self.pick(OUTCOMES),
            "strategy_summary": self.pick(("search the web", "", None)),
            "quality_score": self.pick((0.85, 0.5, None)),
            "user_feedback_status": self.pick(STORED),
            "query": self.pick(MESSAGES),
            "response": self.pick(ANSWERS),
        }
        if self.chance(0.06):
            row |= self.pick(DIRT)
        if self.chance(0.25):  # the text lies elsewhere, or will
            row |= {"query": None, "response": None}
        self.file.insert(TURNS, row)
        if self.has_older and self.chance(0.2):
            names = ("turn_number", "session_id", "topic", "intent", "quality_score")
            self.file.insert(OLDER, {name: row[name] for name in names} | {"created_at": row["timestamp"]})

    @property
    def acts(self) -> Sequence[Act]:
        return [
            self.add_in_between,
            self.add_in_between,
            self.delete,
            self.edit_flags,
            self.edit_texts,
            self.move,
            self.write_folder,
            self.write_folder,
            self.write_transcript,
            self.remove_folder,
            self.say_again,
        ]

    def add_in_between(self) -> None:
        """A turn that comes late into a session: the pair before it is another one now (C1)."""
        for row in self.some(TURNS, "typeof(timestamp) = 'real' and timestamp between 1e9 and 3e9"):
            ((user, session, at),) = self.file.ask(
                f"select user_id, session_id, timestamp from {TURNS} where rowid = ?", row
            )
            self._add_turn(user, session, at + self.pick((0, 0.5, 30, 1799, -20, -1801)))

    def delete(self) -> None:
        table = self.pick([TURNS, TURNS, *([OLDER] if self.has_older else [])])
        for row in self.some(table):
            self.file.delete(table, row)

    def edit_flags(self) -> None:
        for row in self.some(TURNS):
            column = self.pick(list(VISIBLE))
            self.file.edit(TURNS, row, **{column: self.pick(VISIBLE[column])})

    def edit_texts(self) -> None:
        for row in self.some(TURNS):
            column = self.pick(("query", "response", "strategy_summary"))
            self.file.edit(TURNS, row, **{column: self.pick((*MESSAGES, *ANSWERS))})
        self.has_hidden_edits = True

    def move(self) -> None:
        for row in self.some(TURNS):
            self.file.edit(TURNS, row, timestamp=self.seconds())

    def say_again(self) -> None:
        """The same turn twice, as it was or with another number."""
        for row in self.some(TURNS):
            self.file.clone(TURNS, row, **self.pick(({}, {"quality_score": 0.125}, {"timestamp": self.seconds()})))

    def _without_text(self) -> list[tuple[int, str, str, float]]:
        known = "user_id in ('ann', 'bob') and session_id in ('s1', 's2') and typeof(turn_number) = 'integer'"
        found = self.file.ask(
            f"select turn_number, user_id, session_id, timestamp from {TURNS} "
            f"where {known} and typeof(timestamp) = 'real' and timestamp between 1e9 and 3e9 order by query is null desc, rowid"
        )
        return self.random.sample(found, min(2, len(found)))

    def _folder(self, user: str, number: int) -> str:
        return f"users/{user}/turns/turn_{number:06}"

    def write_folder(self) -> None:
        for number, user, session, _ in self._without_text():
            metadata = {"session_id": session, "quality_score": self.pick((0.25, 0.75))}
            turn_folder(self.folder, self._folder(user, number), self.pick(MESSAGES[:6]), self.pick(ANSWERS), metadata)

    def remove_folder(self) -> None:
        for place in (
            self.random.sample(sorted(self.folder.glob("users/*/turns/*")), 1 if self.chance(0.8) else 0)
            if any(self.folder.glob("users/*/turns/*"))
            else ()
        ):
            shutil.rmtree(place)

    def write_transcript(self) -> None:
        for number, _, session, at in self._without_text():
            said = {"timestamp": at, "turn_number": number, "session_id": session, "query": self.pick(MESSAGES[:6])}
            day = moment(0).fromtimestamp(at, moment(0).tzinfo)
            path = self.folder / "transcripts" / f"{day:%Y%m%d}.jsonl"
            path.parent.mkdir(exist_ok=True)
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(said) + "\n")
