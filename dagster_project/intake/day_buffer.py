"""Rows arrive in the order the source stores them and leave as whole days, or in pieces of a day too large for memory.

The source has said how many rows each day has, so a day leaves as soon as it is complete: in a table that grows with
time only a day or two wait at once. In any other order the waiting days are spilled to disk beyond a fixed budget.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import polars as pl

from dagster_project.columns.own_memory import of_its_own

MEMORY_BUDGET_BYTES = 96 * 2**20
# A group is checked at once, which costs 40 ms whatever its rows, and every worker holds one.
GROUP_ROWS, GROUP_BYTES = 50_000, 30 * 2**20
LARGE_DAY_ROWS, LARGE_DAY_BYTES = 100_000, 96 * 2**20  # beyond one of these a day leaves in pieces ...
PIECE_ROWS = 20_000  # ... of so many rows


@dataclass(frozen=True)
class LargeDay:
    """All rows of one day, most of them on disk."""

    day: date
    parts: Sequence[Path | pl.DataFrame]

    def pieces(self) -> Iterator[pl.DataFrame]:
        """Its rows in the order they came, in groups of about PIECE_ROWS."""
        waiting: list[pl.DataFrame] = []
        for part in self.parts:
            rows = part if isinstance(part, pl.DataFrame) else pl.read_ipc(part)
            for some in rows.iter_slices(PIECE_ROWS):
                waiting.append(some)
                if sum(piece.height for piece in waiting) >= PIECE_ROWS:
                    yield pl.concat(waiting, rechunk=True)
                    waiting = []
        if waiting:
            yield pl.concat(waiting, rechunk=True)


class DayBuffer:
    """Give it frames with an `event_date`; take groups of whole days of about GROUP_ROWS rows or GROUP_BYTES, or one large day."""

    def __init__(self, expected_rows: Mapping[date, int], spill_folder: Path) -> None:
        self._missing = dict(expected_rows)
        self._waiting: dict[date, list[pl.DataFrame]] = {}
        self._waiting_bytes: dict[date, int] = {}
        self._spilled: dict[date, list[Path]] = {}
        self._all_rows, self._all_bytes = dict(expected_rows), dict.fromkeys(expected_rows, 0)
        self._complete: list[pl.DataFrame] = []
        self._complete_rows = self._complete_bytes = 0
        self._spill_folder = spill_folder

    def add(self, rows: pl.DataFrame) -> Iterator[pl.DataFrame | LargeDay]:
        """Take rows in; yields a group whenever enough whole days have come together."""
        if rows.is_empty():
            return
        for part in [rows] if rows["event_date"].n_unique() == 1 else rows.partition_by("event_date"):
            # a few rows that wait for a late day would else keep the texts of their whole batch alive
            day_rows = part if part.height >= rows.height // 2 else of_its_own(part)
            day = day_rows["event_date"][0]
            self._waiting.setdefault(day, []).append(day_rows)
            size = int(day_rows.estimated_size())
            self._waiting_bytes[day] = self._waiting_bytes.get(day, 0) + size
            self._all_bytes[day] += size
            self._missing[day] -= day_rows.height
            if self._missing[day]:
                continue
            if self._all_rows[day] > LARGE_DAY_ROWS or self._all_bytes[day] > LARGE_DAY_BYTES:
                yield self._large(day)
                continue
            self._finish(day)
            if self._complete_rows >= GROUP_ROWS or self._complete_bytes >= GROUP_BYTES:
                yield self._take()
        while sum(self._waiting_bytes.values()) > MEMORY_BUDGET_BYTES:
            self._spill(max(self._waiting_bytes, key=lambda day: (self._waiting_bytes[day], day)))

    def rest(self) -> Iterator[pl.DataFrame]:
        """The last group. By now every day must be complete: the source was read in one transaction."""
        short = {day: rows for day, rows in self._missing.items() if rows}
        if short:
            raise RuntimeError(f"rows announced by the source but not read, per day: {short}")
        if self._complete:
            yield self._take()

    def _finish(self, day: date) -> None:
        parts = [pl.read_ipc(path) for path in self._spilled.pop(day, [])]
        parts += self._waiting.pop(day)
        self._waiting_bytes.pop(day)
        self._complete += parts
        self._complete_rows += sum(part.height for part in parts)
        self._complete_bytes += self._all_bytes[day]

    def _large(self, day: date) -> LargeDay:
        self._waiting_bytes.pop(day)
        return LargeDay(day, [*self._spilled.pop(day, []), *self._waiting.pop(day)])

    def _take(self) -> pl.DataFrame:
        group = pl.concat(self._complete, rechunk=True)
        self._complete, self._complete_rows, self._complete_bytes = [], 0, 0
        return group

    def _spill(self, day: date) -> None:
        self._spill_folder.mkdir(parents=True, exist_ok=True)
        parts = self._spilled.setdefault(day, [])
        path = self._spill_folder / f"{day}.{len(parts)}.arrow"
        pl.concat(self._waiting.pop(day)).write_ipc(path)
        self._waiting[day] = []
        self._waiting_bytes[day] = 0
        parts.append(path)
