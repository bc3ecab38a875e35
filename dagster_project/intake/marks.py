"""What a release says of the source's rows: which of them a write-back marks, and with what.

Each system says it of its own tables in `systems/<name>/writeback.py`.

`wanted` gives a row per source row a release speaks of; `values` are expressions over that row, the values it holds now
(`<column>`), the source's own (`own_<column>`) and `is_counted`: whether this release was written into it before.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path

import polars as pl

from dagster_project.errors import GristmillError
from dagster_project.intake.open_files import OpenFile
from dagster_project.intake.own_writes import MarkedTable
from dagster_project.lake.lake import Lake

RECORD = {"origin_ids": pl.List(pl.String), "source": pl.String, "quality_weight": pl.Float64}


@dataclass(frozen=True)
class Release:
    """A published release."""

    lake: Lake
    name: str

    @property
    def folder(self) -> Path:
        return self.lake.home / "exports" / self.name

    @property
    def is_current(self) -> bool:
        """Whether the core tables are those it was made from."""
        return self.name == self.lake.published.release.get("name")

    @cached_property
    def as_of(self) -> datetime:
        manifest = self.folder / "manifest.json"
        if not manifest.exists():
            raise GristmillError(f"there is no release {self.name!r} under {self.folder.parent}")
        return datetime.fromisoformat(json.loads(manifest.read_text(encoding="utf-8"))["as_of"])


@dataclass(frozen=True)
class Marks:
    """How a write-back marks the rows of one source table."""

    table: MarkedTable
    wanted: Callable[[Release], pl.DataFrame]
    values: Mapping[str, pl.Expr]
    canonical: Callable[[Lake], Callable[[pl.DataFrame, OpenFile], pl.DataFrame]]  # how a run reads a row
    stored_as: Mapping[str, str] = field(default_factory=dict)  # columns with another name in the raw table


def first_formats(release: Release, system: str, order: Sequence[str]) -> pl.DataFrame:
    """Each row of a system the release contains, once: the first format it left in, and that record's weight."""
    columns = {"origin_id": pl.String, "new_training_format": pl.String, "new_quality_weight": pl.Float64}
    frames = []
    for place, format in enumerate(order):
        for path in sorted(release.folder.glob(f"{format}_*.jsonl")):
            with path.open("rb") as lines:  # by its name Polars would take it for a pattern
                records = (
                    pl.scan_ndjson(lines, schema=RECORD)
                    .filter(pl.col("source").str.starts_with(f"{system}_"))
                    .select(
                        pl.col("origin_ids").alias("origin_id"),
                        pl.lit(place).alias("place"),
                        pl.lit(format).alias("new_training_format"),
                        pl.col("quality_weight").alias("new_quality_weight"),
                    )
                )
                frames.append(records.collect())
    if not frames:
        return pl.DataFrame(schema=columns)
    rows = pl.concat(frames).explode("origin_id").sort("origin_id", "place", "new_quality_weight")
    return rows.unique("origin_id", keep="first", maintain_order=True).select(*columns)
