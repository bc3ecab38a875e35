"""What a user may ask of a home without running anything: status, stats, quarantine, why. Reads only."""

from typing import Any

import polars as pl

from dagster_project.config import Config
from dagster_project.contracts import TABLES
from dagster_project.databases.plain_files import size_of
from dagster_project.engines import reading
from dagster_project.engines.reading import where
from dagster_project.errors import GristmillError
from dagster_project.lake import parquet
from dagster_project.lake.lake import Catalog, Lake, published
from dagster_project.lookups import system_stats
from dagster_project.registry import DATED_SPECS
from dagster_project.review.settling import standing_of
from dagster_project.run.missing_files import missing_files, told, with_missing_defaults
from dagster_project.run.record import GOOD, runs
from dagster_project.run.waiting import changed_days
from dagster_project.systems.conversations import lookups as turn_lookups
from dagster_project.systems.distillation import lookups as distillation_lookups
from dagster_project.systems.reactions import lookups as reaction_lookups
from dagster_project.training.examples import CANDIDATES

# --- status ------------------------------------------------------------------------------------------------------


def status(config: Config) -> dict[str, Any]:
    """What is published, what came of the last run whoever started it, and `wrong`: what somebody should look at."""
    catalog = Catalog.read(config.home / "lake" / "catalog.json")
    history = runs(config.home)
    ended = [run for run in history if run["outcome"] != "running"]
    last_good = next((run for run in reversed(ended) if "drift" in run and run["outcome"] in GOOD), {})
    is_torn = catalog.publication and not history and size_of(config.home / "runs" / "runs.jsonl") > 0
    wrong = [f"the record of runs, {config.home / 'runs' / 'runs.jsonl'}, cannot be read"] if is_torn else []
    wrong += [f"the last run {ended[-1]['outcome']}: {ended[-1]['reason']}"] if _is_bad(ended) else []
    missing = missing_files(with_missing_defaults(config, catalog), catalog)
    wrong += sorted({f"{found.system}: none of its files is there" for found in missing if found.is_alone})
    try:
        waiting = [str(day) for day in changed_days(config, DATED_SPECS)]
    except GristmillError as error:
        waiting = None
        wrong.append(f"the sources cannot be looked at: {error}")
    return {
        "home": str(config.home),
        "publication": catalog.publication,
        "as_of": catalog.as_of,
        "release": catalog.release.get("name"),
        "wrong": wrong,
        "last_run": history[-1] if history else None,
        "drift": last_good.get("drift", []),
        "failed_checks": (ended[-1] if _is_bad(ended) else last_good).get("checks", []),
        "tables": [_table_status(catalog, table) for table in TABLES if catalog.tables.get(table)],
        "sources": [_source_status(asset, entry) for asset, entry in sorted(catalog.sources.items())],
        "missing": told(missing, catalog),
        "waiting_days": waiting,
    }


def _is_bad(ended: list[dict[str, Any]]) -> bool:
    return bool(ended) and ended[-1]["outcome"] not in GOOD


def _table_status(catalog: Catalog, table: str) -> dict[str, Any]:
    files = catalog.tables[table]
    days = sorted(p.removeprefix("event_date=") for p in files if p.startswith("event_date="))
    return {
        "table": table,
        "days": len(days) or None,
        "first_day": days[0] if days else None,
        "last_day": days[-1] if days else None,
        "rows": sum(file.rows for file in files.values()),
        "bytes": sum(file.bytes for file in files.values()),
    }


def _source_status(asset: str, entry: dict[str, Any]) -> dict[str, Any]:
    days = entry.get("days", {"all": entry}).values()
    return {
        "table": asset,
        "read": sum(day.get("read", 0) for day in days),
        "quarantined": sum(day.get("quarantined", 0) for day in days),
        "copies": sum(day.get("copies", 0) for day in days),
    }


# --- stats -------------------------------------------------------------------------------------------------------


def stats(config: Config, system: str = "feedback") -> dict[str, Any]:
    """Of feedback exactly the `stats` object of GET /api/feedback/stats (F11); of the others what their documents count."""
    others = {
        "distillation": distillation_lookups.stats,
        "conversations": system_stats.conversations,
        "reactions": system_stats.reactions,
        "sessions": system_stats.sessions,
    }
    if system in others:
        return others[system](published(config.home))
    row = parquet.read(published(config.home).files("metric__feedback_stats")).row(0, named=True)
    return {
        "total_feedback": row["total_feedback"],
        "by_type": {kind: row[f"{kind}_count"] for kind in ("rating", "correction", "preference", "flag")},
        "sentiment": {
            "positive": row["positive_count"],
            "negative": row["negative_count"],
            "net_sentiment": row["net_sentiment"],
        },
        "processed": {"total": row["processed_count"], "pending": row["pending_count"]},
        "quality": {"avg_weight": row["avg_weight"], "high_quality_count": row["high_quality_count"]},
        "recent_24h": row["recent_24h"],
    }


# --- quarantine --------------------------------------------------------------------------------------------------


def quarantine(config: Config, reason: str | None = None) -> pl.DataFrame:
    rows = reading.read(published(config.home), "quarantine__rows")
    if reason is not None:
        is_meant = pl.element() == reason if ":" in reason else pl.element().str.starts_with(f"{reason}:")
        rows = rows.filter(pl.col("reasons").list.eval(is_meant).list.any())
    return rows.sort("system", "table", "source_file", "source_rowid")


# --- why ---------------------------------------------------------------------------------------------------------


def why(config: Config, wanted: str) -> dict[str, Any]:
    """Everything that touched a feedback row, a distilled example or one of its source rows, a turn, a reaction, or a training example."""
    lake = published(config.home)
    named = _candidates(lake, pl.col("id") == wanted)
    is_distilled = named["source"].str.starts_with("feedback_").not_()
    feedback_ids = (
        named.filter(~is_distilled).select("origin_id", "partner_id").unpivot()["value"].drop_nulls().to_list()
    )
    example_ids = named.filter(is_distilled)["origin_id"].to_list()
    candidates = named
    if named.is_empty():
        feedback_ids, example_ids = [wanted], distillation_lookups.example_ids(lake, wanted)
        is_origin = pl.col("origin_id").is_in([wanted, *example_ids])
        candidates = _candidates(lake, is_origin | (pl.col("partner_id") == wanted))
    table, key = distillation_lookups.source_row(wanted)
    is_refused = pl.col("key").is_in([*feedback_ids, *example_ids])
    is_refused |= (pl.col("key") == key) & (pl.lit(True) if table is None else pl.col("table") == table)
    refused = quarantine(config).filter(is_refused).rows(named=True)
    rows = where(lake, "core__feedback", pl.col("feedback_id").is_in(feedback_ids))
    turns = turn_lookups.stories(lake, wanted)
    reactions = reaction_lookups.stories(lake, wanted)
    if rows.is_empty() and not refused and candidates.is_empty() and not (example_ids or turns or reactions):
        waiting = where(lake, "core__feedback_keys", pl.col("feedback_id").is_in(feedback_ids))
        dated = waiting["occurred_at"][0] if waiting.height else distillation_lookups.dated(lake, wanted)
        dated = dated or turn_lookups.dated(lake, wanted) or reaction_lookups.dated(lake, wanted)
        if dated is None:
            raise GristmillError(
                f"{wanted!r} is no feedback, distilled example, turn, reaction or training example we know"
            )
        return {"id": wanted, "waiting": f"dated {dated.isoformat()}, not before as_of {lake.catalog.as_of}"}
    return {
        "id": wanted,
        "feedback": [_story(lake, row) for row in rows.rows(named=True)],
        "distilled": [distillation_lookups.story(lake, example_id) for example_id in example_ids],
        "turns": turns,
        "reactions": reactions,
        "quarantined": refused,
        "examples": [_example(lake, row) for row in candidates.rows(named=True)],
    }


def _candidates(lake: Lake, condition: pl.Expr) -> pl.DataFrame:
    """Candidates of every system (T1), with what a rival does to them."""
    found = pl.concat([where(lake, table, condition) for table in CANDIDATES])
    rivals = where(lake, "core__candidate_rivals", pl.col("id").is_in(found["id"].implode()))
    return found.join(rivals, on="id", how="left", maintain_order="left")


def _story(lake: Lake, row: dict[str, Any]) -> dict[str, Any]:
    partition = f"event_date={row['event_date']}"
    entries = parquet.read(lake.path("raw_feedback__entries", partition))
    source = entries.filter(pl.col("feedback_id") == row["feedback_id"]).drop_nulls("feedback_id").row(0, named=True)
    rivals = where(lake, "core__feedback", pl.col("status_ref") == row["feedback_id"])
    hidden = ("thread_key", "answer_key", "answer_hash", "correction_hash", "preferred_hash", "record_hash")
    return {
        "source_row": {name: value for name, value in source.items() if value not in (None, [])},
        "derived": {name: value for name, value in row.items() if name not in hidden and value is not None},
        "silences": rivals["feedback_id"].to_list(),
        "queue": standing_of(lake, row["feedback_id"]),
    }


def _example(lake: Lake, row: dict[str, Any]) -> dict[str, Any]:
    names = ("id", "format", "source", "origin_id", "partner_id", "duplicate_of", "quality_weight", "tier", "split")
    rival = row["reason"]
    reason = row["early_reason"] or (rival if rival == "conflicting" else None) or row["late_reason"] or rival
    example = {name: row[name] for name in names} | {"reason": reason}
    name = lake.catalog.release.get("name", "")
    if reason is None and name:
        split = "" if row["split"] == "train" else f".{row['split']}"
        example["file"] = str(lake.home / "exports" / name / f"{row['format']}_{name.split('.')[0]}{split}.jsonl")
    return example
