"""The records of a published release without their texts, and the texts of some of them. Reads only."""

import json
from collections.abc import Sequence
from typing import Any

import polars as pl

from dagster_project.columns.masking_kinds import placeholder
from dagster_project.contracts import TABLES
from dagster_project.contracts.formats import FIELDS, FORMATS
from dagster_project.errors import GristmillError
from dagster_project.lake import parquet
from dagster_project.lake.lake import Lake
from dagster_project.lake.releases import EXPORTS, MANIFEST, ReleaseName, excluded_files, record_files

# What a record is apart from its texts; what a release of this lake does not have is null.
NARROW = {
    "format": pl.String,
    "content_id": pl.String,
    "id": pl.String,
    "source": pl.String,
    "origin_ids": pl.List(pl.String),
    "split": pl.String,
    "quality_weight": pl.Float64,
    "base_weight": pl.Float64,
    "tier": pl.String,
    "domain": pl.String,
    "language": pl.String,
}
EXCLUDED = {
    "id": pl.String,
    "reason": pl.String,
    "duplicate_of": pl.String,
    "detail": pl.String,
    "quality_weight": pl.Float64,
}


def manifest(lake: Lake, name: ReleaseName) -> dict[str, Any]:
    return json.loads((lake.home / EXPORTS / str(name) / MANIFEST).read_text(encoding="utf-8"))


def records(lake: Lake, name: ReleaseName, formats: tuple[str, ...] = FORMATS) -> pl.DataFrame:
    """All records of a release, in order of format and id."""
    frames = [pl.DataFrame(schema=NARROW)]
    for format in formats:
        for file in record_files(lake, f"train__{format}", name).values():
            known = [column for column in NARROW if column in (*TABLES[f"train__{format}"].columns,)]
            frames.append(parquet.read(file, columns=known).with_columns(pl.lit(format).alias("format")))
    found = pl.concat(frames, how="diagonal").sort("format", "id")
    promised = sum(rows for form, rows in manifest(lake, name)["exported"]["format"].items() if form in formats)
    if found.height != promised:
        raise GristmillError(
            f"the lake does not hold the records of release {name} (it was made before the lake was, or by an earlier version): "
            "only its files under exports do"
        )
    return found


def excluded(lake: Lake, name: ReleaseName) -> pl.DataFrame:
    """What did not leave in a release, with the reason."""
    files = excluded_files(lake, name)
    return parquet.read(files, columns=list(EXCLUDED)) if files else pl.DataFrame(schema=EXCLUDED)


def masked_items(lake: Lake, name: ReleaseName, kinds: Sequence[str]) -> pl.DataFrame:
    """Of every record of a release how many places show an item of each of these kinds masked (T8)."""
    frames = [pl.DataFrame(schema={"format": pl.String, "id": pl.String, **dict.fromkeys(kinds, pl.UInt32)})]
    for format, fields in FIELDS.items():
        for file in record_files(lake, f"train__{format}", name).values():
            rows = parquet.scan(file)
            types = rows.collect_schema()
            texts = [pl.col(field).fill_null("") for field in (*fields, "context") if types[field] == pl.String]
            counts = [
                pl.sum_horizontal(text.str.count_matches(rf"<{placeholder(kind)}_[0-9]+>") for text in texts).alias(
                    kind
                )
                for kind in kinds
            ]
            told = rows.select(pl.lit(format).alias("format"), "id", *counts)
            frames.append(told.collect(engine="streaming"))
    return pl.concat(frames)


def with_texts(lake: Lake, name: ReleaseName, wanted: pl.DataFrame) -> list[dict[str, Any]]:
    """Some records of a release, by format and id, with all their columns, in the order they are asked for."""
    told: dict[str, dict[str, Any]] = {}
    for (format,), some in wanted.partition_by("format", as_dict=True).items():
        for file in record_files(lake, f"train__{format}", name).values():
            rows = parquet.scan(file).filter(pl.col("id").is_in(some["id"].implode())).collect()
            told |= {row["id"]: {"format": format, **row} for row in rows.iter_rows(named=True)}
    return [told[one] for one in wanted["id"]]
