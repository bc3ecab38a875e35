"""What a user may ask of a home without running anything: stats, quarantine, why. Reads only; how it is doing, `status.py` tells.

What of an answer is one system's, its own `lookups.py` and `figures.py` find.
"""

from collections.abc import Sequence
from datetime import date
from typing import Any

import polars as pl

from dagster_project.config import Config
from dagster_project.engines import queries, reading
from dagster_project.engines.reading import where
from dagster_project.errors import GristmillError
from dagster_project.lake import parquet
from dagster_project.lake.lake import Lake, published
from dagster_project.lake.releases import EXCLUDED, ReleaseName, record_files
from dagster_project.registry import SYSTEMS
from dagster_project.review.settling import place_in_queue
from dagster_project.systems.declaration import Why

CONTENDERS = "core__contenders"  # what knows the split of a candidate that may leave

# --- stats -------------------------------------------------------------------------------------------------------


def stats(config: Config, system: str) -> dict[str, Any]:
    """What the system's document counts, under its names."""
    return SYSTEMS[system].figures(published(config.home))


# --- quarantine --------------------------------------------------------------------------------------------------


def quarantine(config: Config, reason: str | None = None) -> pl.DataFrame:
    rows = reading.read(published(config.home), "quarantine__rows")
    if reason is not None:
        is_meant = pl.element() == reason if ":" in reason else pl.element().str.starts_with(f"{reason}:")
        rows = rows.filter(pl.col("reasons").list.eval(is_meant).list.any())
    return rows.sort("system", "table", "source_file", "source_rowid")


# --- why ---------------------------------------------------------------------------------------------------------


def why(config: Config, wanted: str) -> dict[str, Any]:
    """Everything that touched what a system or a release knows by this id."""
    lake, ways = published(config.home), [system.why for system in SYSTEMS.values() if system.why]
    candidates = _candidates(lake, ways, pl.col("id") == wanted, config.memory_limit_mb)
    if candidates.is_empty():
        ids = {way.key: way.ids(lake, wanted) for way in ways}
        is_origin = pl.col("origin_id").is_in([wanted, *(one for found in ids.values() for one in found)])
        is_meant = is_origin | (pl.col("partner_id") == wanted)
        candidates = _candidates(lake, ways, is_meant, config.memory_limit_mb)
    else:
        ids = {way.key: _origins(candidates, way) if way.candidates else way.ids(lake, wanted) for way in ways}
    facts = {way.key: facts_of(lake, way, ids[way.key]) for way in ways}
    refused = _refused(config, ways, wanted, [one for found in ids.values() for one in found])
    if candidates.is_empty() and not refused and not any(facts.values()):
        dated = next((found for way in ways if (found := way.dated(lake, wanted)) is not None), None)
        if dated is None:
            nouns = ", ".join(way.noun for way in ways)
            raise GristmillError(f"{wanted!r} is no {nouns} or training example we know")
        return {"id": wanted, "waiting": f"dated {dated.isoformat()}, not before as_of {lake.catalog.as_of}"}
    return {
        "id": wanted,
        **facts,
        "quarantined": refused,
        "examples": [_example(lake, row) for row in candidates.rows(named=True)],
    }


def _candidates(lake: Lake, ways: Sequence[Why], condition: pl.Expr, memory_limit_mb: int) -> pl.DataFrame:
    """Candidates of every system, with the one reason why they did not leave, if they did not (T1)."""
    found = pl.concat(
        [
            where(lake, way.candidates, condition).with_columns(pl.lit(way.key).alias("made_of"))
            for way in ways
            if way.candidates
        ]
    )
    is_meant = pl.col("id").is_in(found["id"].implode())
    reasons = _excluded(lake, memory_limit_mb).filter(is_meant).collect()
    splits = where(lake, CONTENDERS, is_meant).select("id", "split")
    return found.join(reasons, on="id", how="left", maintain_order="left").join(
        splits, on="id", how="left", maintain_order="left"
    )


def _excluded(lake: Lake, memory_limit_mb: int) -> pl.LazyFrame:
    """What does not leave: as the newest release has it, or the next one would where candidates have changed since (T5)."""
    day = lake.catalog.release.get("date")
    if day is None or lake.catalog.release.get("is_behind"):
        asked = {"release_date": date.fromisoformat(str(lake.catalog.as_of)[:10])}
        excluded = queries.fetch(lake, EXCLUDED, asked, memory_limit_mb).lazy()
    else:
        excluded = reading.scan(lake, EXCLUDED, [f"release_date={day}"])
    return excluded.select("id", "reason", "duplicate_of", "detail")


def _origins(candidates: pl.DataFrame, way: Why) -> list[str]:
    mine = candidates.filter(pl.col("made_of") == way.key)
    return mine.select("origin_id", "partner_id").unpivot()["value"].drop_nulls().to_list()


def facts_of(lake: Lake, way: Why, ids: Sequence[str]) -> list[dict[str, Any]]:
    """All there is to know of the things of a system by their ids, and where each stands in a queue (F12)."""
    found = way.facts(lake, ids)
    if way.queued_by is not None:
        found = [facts | {"queue": place_in_queue(lake, facts["source_row"][way.queued_by])} for facts in found]
    return found


def _refused(config: Config, ways: Sequence[Why], wanted: str, ids: Sequence[str]) -> list[dict[str, Any]]:
    """Refused rows by what they are looked for, and by the ids of what that belongs to."""
    is_meant = pl.col("key").is_in(ids)
    for table, key in {way.source_row(wanted) for way in ways}:
        is_meant |= (pl.col("key") == key) & (pl.lit(True) if table is None else pl.col("table") == table)
    return quarantine(config).filter(is_meant).rows(named=True)


def _example(lake: Lake, row: dict[str, Any]) -> dict[str, Any]:
    names = ("id", "format", "source", "origin_id", "partner_id", "duplicate_of", "quality_weight", "tier", "split")
    example = {name: row[name] for name in (*names, "reason", "detail")}
    name = lake.catalog.release.get("name", "")
    if row["reason"] is None and name and _is_in_release(lake, name, row):
        split = "" if row["split"] == "train" else f".{row['split']}"
        example["file"] = str(lake.home / "exports" / name / f"{row['format']}_{name.split('.')[0]}{split}.jsonl")
    return example


def _is_in_release(lake: Lake, name: str, row: dict[str, Any]) -> bool:
    """What leaves is in the newest release, unless candidates have changed since: then its records have to be looked at."""
    release = ReleaseName.parsed(name)
    if release is None or not lake.catalog.release.get("is_behind"):
        return release is not None
    file = record_files(lake, f"train__{row['format']}", release).get(row["split"])
    return file is not None and parquet.scan(file).filter(pl.col("id") == row["id"]).select("id").collect().height > 0
