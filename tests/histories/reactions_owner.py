"""kdcube's reactions: cleared, changed, expired, with turn logs that come late or go."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from random import Random

from tests.histories.owners import Act, Owner
from tests.oracle import reactions_cases
from tests.systems.reactions.reaction_database import DECLARED, Row, insert, iso, reaction, turn_log

TABLE = "conv_messages"
IS_REACTION, IS_LOG = "tags like '%turn.log.reaction%'", "tags like '%artifact:turn.log\"%'"


class ReactionsOwner(Owner):
    system = "reactions"

    def __init__(self, folder: Path, random: Random) -> None:
        super().__init__(folder, random)
        self.file.do(f"create table {TABLE} ({DECLARED})")

    def _insert(self, row: Row) -> None:
        self.number += self.random.randint(1, 3)
        with closing(sqlite3.connect(self.file.path)) as database:
            insert(database, [row | {"id": self.number}])
            database.commit()

    def add(self, first: int, last: int, count: int) -> None:
        for row in reactions_cases.rows(self.random.randrange(10**6), count):
            when = row
            if isinstance(row["ts"], str) and row["ts"].startswith(("2025-12", "2026-01")):
                when = row | {"ts": iso(self.instant(self.random.randrange(first, max(last, first + 1))))}
            self._insert(when)

    @property
    def acts(self) -> Sequence[Act]:
        return [self.clear, self.change_minds, self.delete, self.move, self.edit, self.log_late, self.machine_says]

    def _of_some(self) -> list[Row]:
        names = ("user_id", "conversation_id", "turn_id")
        return [
            dict(
                zip(names, *self.file.ask(f"select {', '.join(names)} from {TABLE} where rowid = ?", row), strict=True)
            )
            for row in self.some(TABLE, IS_REACTION)
        ]

    def clear(self) -> None:
        for about in self._of_some():
            self._insert(reaction(**about, reaction_=None, text_=None, ts=iso(self.instant())))

    def change_minds(self) -> None:
        for about in self._of_some():
            said = self.pick(("ok", "not_ok", "neutral"))
            self._insert(
                reaction(**about, reaction_=said, ts=iso(self.instant()), ttl_days=self.pick((365, 30, 0, None)))
            )

    def machine_says(self) -> None:
        for about in self._of_some():
            self._insert(
                reaction(
                    **about,
                    origin_="machine",
                    confidence_=self.pick((0.69, 0.7, 0.9)),
                    reaction_=self.pick(("ok", None)),
                    ts=iso(self.instant()),
                )
            )

    def delete(self) -> None:
        for row in self.some(TABLE):
            self.file.delete(TABLE, row)

    def move(self) -> None:
        for row in self.some(TABLE):
            self.file.edit(TABLE, row, ts=iso(self.instant()))

    def edit(self) -> None:
        for row in self.some(TABLE):
            column = self.pick(("ttl_days", "user_id", "turn_id", "text", "tags"))
            (value,) = self.pick(self.file.ask(f"select {column} from {TABLE} order by rowid"))
            self.file.edit(TABLE, row, **{column: value})

    def log_late(self) -> None:
        """A turn log that comes after the reactions on it: no orphans any more; or one that goes (R4)."""
        for about in self._of_some():
            self._insert(turn_log(**about, ts=iso(self.instant() - timedelta(minutes=1))))
        for row in self.some(TABLE, IS_LOG, most=1):
            self.file.delete(TABLE, row)
