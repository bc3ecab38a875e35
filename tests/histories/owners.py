"""Who works on a source between two runs: adds days, remembers late, deletes, edits in place, moves rows to other days.

An act takes its chances from a generator of its own, so that leaving out one act leaves the others what they are: that is how
a history that went wrong is cut down (`python -m tests.histories`).
"""

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from tests.oracle.nasty_database import insert

BASE = datetime(2024, 1, 1, tzinfo=UTC)
DAY_SECONDS = 86_400
Act = Callable[[], None]


def moment(day: float) -> datetime:
    return BASE + timedelta(days=day)


class OwnedFile:
    """One SQLite database, changed as its owner would."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def ask(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.path)) as database:
            database.text_factory = lambda raw: raw.decode(errors="replace")
            return database.execute(sql, values).fetchall()

    def do(self, sql: str, *values: Any) -> None:
        with closing(sqlite3.connect(self.path)) as database:
            database.execute(sql, values)
            database.commit()

    def insert(self, table: str, *rows: dict[str, Any]) -> None:
        names = [name for (name,) in self.ask(f"select name from pragma_table_info('{table}')")]
        with closing(sqlite3.connect(self.path)) as database:
            for row in rows:
                insert(database, table, {name: row[name] for name in names if name in row})
            database.commit()

    def edit(self, table: str, row: int, **values: Any) -> None:
        said = ", ".join(f'"{name}" = ?' for name in values)
        self.do(f"update or ignore {table} set {said} where rowid = ?", *values.values(), row)

    def clone(self, table: str, row: int, **values: Any) -> None:
        """The same row again, but for these values."""
        names = [name for (name,) in self.ask(f"select name from pragma_table_info('{table}')")]
        values = {name: value for name, value in values.items() if name in names}
        taken = ", ".join("?" if name in values else f'"{name}"' for name in names)
        named = ", ".join(f'"{name}"' for name in names)
        given = [values[name] for name in names if name in values]
        self.do(f"insert or ignore into {table} ({named}) select {taken} from {table} where rowid = ?", *given, row)

    def delete(self, table: str, row: int) -> None:
        self.do(f"delete from {table} where rowid = ?", row)

    def has(self, table: str) -> bool:
        return bool(self.ask("select 1 from sqlite_master where name = ?", table))


class Owner(ABC):
    """The owner of one system's database. `days` is how many there are by now."""

    system: str

    def __init__(self, folder: Path, random: Random) -> None:
        self.folder = folder / self.system
        self.folder.mkdir(parents=True)
        self.file = OwnedFile(self.folder / f"{self.system}.db")
        self.random = random
        self.days = 0
        self.number = 0
        self.has_hidden_edits = False  # of long texts: only `--full` finds them (G7)

    @property
    def files(self) -> list[Path]:
        return [self.file.path]

    def take(self, random: Random) -> None:
        """From now on, chances are these."""
        self.random = random

    @property
    @abstractmethod
    def acts(self) -> Sequence[Act]:
        """What the owner does now and then."""

    @abstractmethod
    def add(self, first: int, last: int, count: int) -> None:
        """New rows on the days from `first` to before `last`."""

    def grow(self, days: int) -> None:
        first, self.days = self.days, self.days + days
        self.add(first, self.days, 6 * days)

    def late_rows(self) -> None:
        self.add(0, self.days, self.random.randint(1, 5))

    def act(self) -> str:
        chosen = self.random.choice([self.late_rows, *self.acts])
        chosen()
        return f"{self.system}: {chosen.__name__}"

    # --- chances -------------------------------------------------------------------------------------------------

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def pick(self, choices: Sequence[Any]) -> Any:
        return self.random.choice(choices)

    def some(self, table: str, where: str = "true", most: int = 3) -> list[int]:
        """A few rows, by rowid."""
        found = [row for (row,) in self.file.ask(f"select rowid from {table} where {where} order by rowid")]
        return self.random.sample(found, min(len(found), self.random.randint(1, most)))

    def new_id(self, letter: str) -> str:
        self.number += 1
        return f"{letter}{self.random.randrange(100)}-{self.system[0]}{self.number}"

    def day(self) -> int:
        return self.random.randrange(max(1, self.days))

    def seconds(self, day: int | None = None) -> float:
        start = moment(self.day() if day is None else day).timestamp()
        return start + self.pick((0, 43_200, 43_200.5, 86_399.999999, self.random.randrange(DAY_SECONDS)))

    def instant(self, day: int | None = None) -> datetime:
        return datetime.fromtimestamp(self.seconds(day), UTC)
