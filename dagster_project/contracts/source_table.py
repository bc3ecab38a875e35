"""What is expected of one table of a source database. `systems/<name>/source.py` has one for each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

# An `id` is a text or a whole number, whatever the table declares, and is read as text. A `time` is an epoch number or an
# ISO text and becomes epoch seconds. A `list` is the JSON text of an array (an array where the database has those).
POLARS_TYPES = {
    "text": pl.String,
    "id": pl.String,
    "integer": pl.Int64,
    "real": pl.Float64,
    "time": pl.Float64,
    "list": pl.String,
}


@dataclass(frozen=True)
class TableSpec:
    """What we expect of one source table."""

    system: str
    name: str
    columns: Mapping[str, str]  # column -> text | id | integer | real | time | list
    required: tuple[str, ...]
    key: str
    event_time: str | None = None
    edited: tuple[str, ...] = ()  # small columns the source edits in place: part of a day's fingerprint (G7)
    measured: tuple[str, ...] = ()  # long texts of which the fingerprint takes the length only
    left_behind: tuple[str, ...] = ()  # known columns we do not read
    is_optional: bool = False  # a file may lack it
    part: str | None = None  # the name of the part we read, where only some rows of the table are ours
    where: str | None = None  # SQL of that part, for SQLite
    where_postgres: str | None = None  # and for Postgres
    # (database, spec, rowids without a valid event time) -> rowid -> day number, where something beside the table tells it
    dated_beside: Callable[[Any, "TableSpec", Sequence[int]], dict[int, int]] | None = None
    blamed_key: str | None = None  # the source's column a conflict of keys is blamed on, where `key` is one we derive

    @property
    def reading(self) -> str:
        """Names what is read: the table, or the part of it."""
        return f"{self.name} {self.part}" if self.part else self.name

    @property
    def conflict(self) -> str:
        """The reason a row is refused for when another one with its key counts instead (F3)."""
        return f"conflict:{self.blamed_key or self.key}"

    @property
    def has_time_texts(self) -> bool:
        """Whether the event time may be a text, which SQLite alone cannot place on a day as we do."""
        return self.event_time is not None and self.columns[self.event_time] == "time"
