"""What a user may ask about distilled examples without running anything: why one is what it is. Reads only."""

import json
from collections.abc import Sequence
from typing import Any

import polars as pl

from dagster_project.engines.reading import read, where
from dagster_project.lake.lake import Lake
from dagster_project.systems.distillation import source as distillation
from dagster_project.systems.distillation.answers import BESIDE, RAW, SOURCES, is_machine_review, merged
from dagster_project.systems.distillation.quality_score import BASE, FACTORS

EXAMPLES, ANSWERS, REVIEWS = "core__distillation", "core__distilled_answers", "core__reviews"
TEXTS = ("query", "query_context", "sam_attempt", "claude_response")
JSON_COLUMNS = ("reasoning_steps", "tool_usage", "corrections", "principles")
HIDDEN = ("thread_key", "answer_hash", "attempt_hash", "content_hash", "interaction_key", "thought_id")
SCORED = {
    "stored_complexity": pl.Int64,
    "reasoning_type": pl.String,
    "quality_flags": pl.List(pl.String),
}  # may be empty
SAID = ("feedback_id", "effective_type", "sentiment", "flag_type", "occurred_at", "is_escalated")


# --- which example -----------------------------------------------------------------------------------------------


def source_row(wanted: str) -> tuple[str | None, str]:
    """The table, if one is named, and the id of a source row: `examples:17` and `17`."""
    table, colon, name = wanted.partition(":")
    return (table, name) if colon and f"{RAW}{table}" in distillation.DATED else (None, wanted)


def example_ids(lake: Lake, wanted: str) -> list[str]:
    """The examples a source row is behind, by its id with or without its table."""
    table, name = source_row(wanted)
    is_row = (pl.col("source_id") == name) & (pl.lit(True) if table is None else pl.col("table") == table)
    found = where(lake, SOURCES, (pl.col("example_id") == wanted) | is_row)
    return found["example_id"].unique().sort().to_list()


def dated(lake: Lake, wanted: str) -> Any:
    """When a row is dated that was read but is in no example yet; null if there is none."""
    table, name = source_row(wanted)
    for raw in distillation.DATED if table is None else [f"{RAW}{table}"]:
        rows = where(lake, raw, pl.col("id") == name)
        if rows.height:
            return rows["occurred_at"][0]
    return None


def fates(lake: Lake, ids: pl.Series) -> pl.DataFrame:
    """What became of examples: there, or their row stands behind another (D2)."""
    wanted = ids.implode()
    there = where(lake, EXAMPLES, pl.col("example_id").is_in(wanted)).select(
        pl.col("example_id").alias("origin_id"),
        pl.lit("active").alias("fate"),
        pl.lit(None, pl.String).alias("fate_ref"),
        pl.col("occurred_at").alias("given_at"),
        pl.lit(None, pl.String).alias("replaces"),
    )
    own = pl.when(pl.col("table") == distillation.EXAMPLES.name).then("source_id")
    own = own.otherwise(pl.format("{}:{}", "table", "source_id"))
    merged_now = where(lake, SOURCES, own.is_in(wanted) & (own != pl.col("example_id"))).select(
        own.alias("origin_id"), pl.lit("merged").alias("fate"), pl.col("example_id").alias("fate_ref")
    )
    merged_now = merged_now.join(there, on="origin_id", how="anti").unique("origin_id")
    return pl.concat([there, merged_now], how="diagonal")


# --- why ---------------------------------------------------------------------------------------------------------


def facts(lake: Lake, ids: Sequence[str]) -> list[dict[str, Any]]:
    return [_facts_of(lake, example_id) for example_id in ids]


def _facts_of(lake: Lake, example_id: str) -> dict[str, Any]:
    """Everything that made a distilled example what it is."""
    sources = where(lake, SOURCES, pl.col("example_id") == example_id).sort("place")
    (answer,) = where(lake, ANSWERS, pl.col("example_id") == example_id).rows(named=True)
    (derived,) = where(lake, EXAMPLES, pl.col("example_id") == example_id).rows(named=True)
    reviews = where(lake, REVIEWS, pl.col("example_id") == example_id).rows(named=True)
    (texts,) = merged(lake, sources, TEXTS).select(*TEXTS, "attempt").rows(named=True)
    rows = [_source_row(lake, row) for row in sources.rows(named=True)]
    parsed = answer | {name: _parsed(answer[name]) for name in JSON_COLUMNS}
    told = {name: value for name, value in (parsed | derived).items() if name not in HIDDEN and value is not None}
    return {
        "example_id": example_id,
        "source_rows": rows,
        "texts": texts,
        "extracted": {name: parsed[name] for name in derived["extracted"] if name in parsed},
        "derived": told,
        "score": {
            "quality_score": derived["quality_score"],
            "base": BASE / 100,
            "factors": factors(answer, texts["claude_response"] or ""),
            "source_quality_score": derived["source_quality_score"],
        },
        "review": _review(derived, reviews, rows),
        "feedback": {
            "verdict": derived["feedback_verdict"],
            "rows": feedback_about(lake, [example_id]).drop("example_id").rows(named=True),
        },
    }


def _source_row(lake: Lake, source: dict[str, Any]) -> dict[str, Any]:
    table, day = source["table"], f"event_date={source['event_date']}"
    raw = read(lake, f"{RAW}{table}", [day])
    (row,) = raw.filter(pl.col("id") == source["source_id"]).rows(named=True)
    beside = []
    for other in BESIDE if table == "examples" else ():
        is_about = pl.col("example_id") == row["id"]
        if other == BESIDE[0] and row["reasoning_pattern_id"] is not None:
            is_about |= pl.col("id") == row["reasoning_pattern_id"]
        found = where(lake, other, is_about).sort("id").rows(named=True)
        beside += [{"table": other.removeprefix(RAW), "row": _filled(one)} for one in found]
    return {
        "place": source["place"],
        "table": table,
        "source_id": source["source_id"],
        "row": _filled(row),
        "beside": beside,
    }


def _filled(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value not in (None, []) and name not in HIDDEN}


def _parsed(text: str | None) -> Any:
    """JSON as what it says; what is not strict JSON stays text."""
    try:
        return None if text is None else json.loads(text, parse_constant=_refuse)
    except ValueError:
        return text


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON")


def factors(answer: dict[str, Any], response: str) -> list[dict[str, Any]]:
    """Seed 2's factors in its order, each with its worth and whether it applies (D5); with the base they are the score."""
    columns = ("step_count", "principle_count", "stored_complexity", "reasoning_type", "quality_flags")
    judged = {name: answer[name] for name in columns} | {"claude_response": response}
    row = pl.DataFrame([judged | {"has_sam_errors": answer["error_count"] > 0}], schema_overrides=SCORED)
    applies = row.select(factor.applies.fill_null(False).alias(factor.name) for factor in FACTORS).row(0, named=True)
    return [{"factor": factor.name, "worth": factor.worth / 100, "applies": applies[factor.name]} for factor in FACTORS]


def _review(
    derived: dict[str, Any], reviews: Sequence[dict[str, Any]], rows: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """The status and who decided: our own reviewers, else the first source row that has a review (D6, D8)."""
    told: dict[str, Any] = {"status": derived["review_status"], "decided_by": None}
    if reviews:
        (own,) = reviews
        told |= {name: own[name] for name in ("review_verdict", "reviewer", "note", "decided_at")}
        return told | {"decided_by": "our reviewers"}
    for source in rows:
        row = source["row"]
        if "human_reviewed" in row:
            is_machine = pl.select(is_machine_review(pl.lit(row.get("reviewer_notes", "")))).item()
            decided = "a machine" if is_machine else "the source" if row["human_reviewed"] else None
            names = ("human_reviewed", "approved", "reviewer_notes", "reviewed_at")
            said = {name: row[name] for name in names if name in row}
            return told | {"decided_by": decided, "source_row": f"{source['table']}:{source['source_id']}", **said}
    return told


def feedback_about(lake: Lake, ids: Sequence[str], said: Sequence[str] = SAID) -> pl.DataFrame:
    """The active feedback rows about examples, and the way they were found (M1)."""
    found = where(lake, "core__example_feedback", pl.col("example_id").is_in(ids))
    rows = where(lake, "core__feedback", pl.col("feedback_id").is_in(found["feedback_id"].implode())).select(said)
    counted = found.join(rows, on="feedback_id").select("example_id", *said, "found_by")
    return counted.sort("example_id", "occurred_at", "feedback_id")
