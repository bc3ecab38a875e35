"""Tables that are made day by day, and kept (G12): which days are stale, which go, and how many are made together."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import TypeVar

import polars as pl

from dagster_project.engines.stored_tables import store_days
from dagster_project.lake.lake import Lake

Thing = TypeVar("Thing")


class KeptDays:
    """The days of one table. `wanted` says of every day it should have what that is made from, as a hash."""

    def __init__(self, lake: Lake, table: str, wanted: Mapping[str, str]) -> None:
        """Days that are no longer wanted go."""
        self.lake, self.table, self._wanted = lake, table, wanted
        prefix = f"{table}/"
        for key in [key for key in lake.catalog.inputs if key.startswith(prefix)]:
            if (day := key.removeprefix(prefix)) not in wanted:
                lake.drop(table, f"event_date={day}")
                del lake.catalog.inputs[key]
        self.stale = [
            date.fromisoformat(day) for day, inputs in wanted.items() if lake.catalog.inputs.get(prefix + day) != inputs
        ]

    def store(self, days: Sequence[date], rows: pl.DataFrame) -> None:
        """These days are made: all their rows. A day without any has no file."""
        if rows.height:
            store_days(self.lake, self.table, rows)
        self.note(days, set(rows["event_date"]))

    def note(self, days: Sequence[date], stored: set[date]) -> None:
        """These days are made; of those that have rows the files are there."""
        for day in set(days) - stored:
            self.lake.drop(self.table, f"event_date={day}")
        self.lake.catalog.inputs |= {f"{self.table}/{day}": self._wanted[str(day)] for day in days}


def grouped(days: Iterable[Thing], size: Callable[[Thing], int], enough: int) -> Iterator[list[Thing]]:
    """Days, or groups of them, in their order, as many together as reach `enough`: so much is in memory at once."""
    group: list[Thing] = []
    total = 0
    for day in days:
        group.append(day)
        total += size(day)
        if total >= enough:
            yield group
            group, total = [], 0
    if group:
        yield group
