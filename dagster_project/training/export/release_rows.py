"""The rows of a release's format, out of the published lake, a batch at a time and always in the same order."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq

from dagster_project.columns.templates import SPLITS
from dagster_project.errors import GristmillError, Misused
from dagster_project.lake.lake import Lake

NAME = re.compile(r"(\d{4})-?(\d{2})-?(\d{2})(\.\d+)?")
DAY = re.compile(r"release_date=(\d{4}-\d{2}-\d{2})")


@dataclass(frozen=True)
class ReleaseRows:
    """The files of one format of one release, by split."""

    release: str
    release_date: date
    format: str
    files: dict[str, Path]

    @classmethod
    def of(cls, lake: Lake, format: str, wanted: str | None = None) -> "ReleaseRows":
        """`wanted` is the name of a release or its day; the newest where nothing is wanted."""
        table = f"train__{format}"
        day, name = _day_of(lake, wanted)
        files = {
            split: lake.path(table, partition)
            for split in SPLITS
            if (partition := f"release_date={day}/split={split}") in lake.partitions(table)
        }
        if not files:
            raise GristmillError(f"release {name or _name(day)} has no record of the format {format}")
        held = _held(next(iter(files.values())), day)
        if name and name != held:
            raise GristmillError(f"release {name} is not in the lake any more, {held} took its place: export that one")
        return cls(held, day, format, files)

    def batches(self, split: str, columns: Sequence[str] | None = None) -> Iterator[pl.DataFrame]:
        """The rows of a split by row groups, which bounds memory."""
        with pq.ParquetFile(self.files[split]) as file:
            for number in range(file.num_row_groups):
                rows = pl.from_arrow(file.read_row_group(number, None if columns is None else list(columns)))
                assert isinstance(rows, pl.DataFrame)
                yield rows


def _day_of(lake: Lake, wanted: str | None) -> tuple[date, str | None]:
    """The day of the release, and its name where a certain one of that day is wanted."""
    days = _days(lake)
    if wanted is None:
        newest = lake.catalog.release.get("name")
        if not days and not newest:
            raise GristmillError("no release is published yet: `gristmill run` comes first")
        return (_parsed(newest)[0], None) if newest else (days[-1], None)
    day, is_name = _parsed(wanted)
    if day not in days:
        known = ", ".join(_name(day) for day in days) or "none"
        raise GristmillError(f"there is no release {wanted} in {lake.home}; there are: {known}")
    return day, wanted if is_name else None


def _days(lake: Lake) -> list[date]:
    tables = [name for name in lake.catalog.tables if name.startswith("train__")]
    found = {DAY.match(partition) for table in tables for partition in lake.partitions(table)}
    return sorted({date.fromisoformat(day[1]) for day in found if day})


def _parsed(wanted: str) -> tuple[date, bool]:
    """A day, and whether it was named as a release is (20260131, 20260131.2) and not as a day (2026-01-31)."""
    found = NAME.fullmatch(wanted)
    try:
        if not found:
            raise ValueError(wanted)
        return date(*map(int, found.groups()[:3])), "-" not in wanted
    except ValueError:
        raise Misused(f"--release is a name such as 20260131 or 20260131.2, or a day, not {wanted!r}") from None


def _name(day: date) -> str:
    return day.strftime("%Y%m%d")


def _held(file: Path, day: date) -> str:
    """The name of the release whose rows these are."""
    with pq.ParquetFile(file) as rows:
        if not {"messages", "release"} <= set(rows.schema_arrow.names):
            again = day + timedelta(days=1)
            raise GristmillError(
                f"release {_name(day)} was made by an earlier version, without `messages`:"
                f" make it again with `gristmill run --as-of {again}`"
            )
        return rows.read_row_group(0, ["release"])[0][0].as_py()
