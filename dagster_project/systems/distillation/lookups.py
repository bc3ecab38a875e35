"""What a user may ask about distilled examples without running anything: why one is what it is, and figures. Reads only."""

import json
from collections.abc import Sequence
from typing import Any

import polars as pl

from dagster_project.columns.rounding import share
from dagster_project.columns.words import counts
from dagster_project.engines.reading import where
from dagster_project.lake import parquet
from dagster_project.lake.lake import Lake
from dagster_project.systems.distillation import source as distillation
from dagster_project.systems.distillation.answers import BESIDE, RAW, SOURCES, merged
from dagster_project.systems.distillation.flags import QUALITY_FLAGS
from dagster_project.systems.distillation.record_texts import BASE, MIN_COMPLEXITY, MIN_STEPS, SHORT_ANSWER

EXAMPLES, ANSWERS, REVIEWS = "core__distillation", "core__distilled_answers", "core__reviews"
TEXTS = ("query", "query_context", "sam_attempt", "claude_response")
JSON_COLUMNS = ("reasoning_steps", "tool_usage", "corrections", "principles")
HIDDEN = ("thread_key", "answer_hash", "attempt_hash", "content_hash", "interaction_key", "thought_id")
# The ways of M1, of which the first that finds any feedback counts.
WAYS = {1: "response", 2: "session and question", 3: "question and answer"}
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


# --- why ---------------------------------------------------------------------------------------------------------


def story(lake: Lake, example_id: str) -> dict[str, Any]:
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
    raw = parquet.read(lake.path(f"{RAW}{table}", day))
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
    flags = answer["quality_flags"]
    judged = (
        (f"{MIN_STEPS} or more reasoning steps", 0.1, answer["step_count"] >= MIN_STEPS),
        ("names SAM's errors", 0.15, answer["error_count"] > 0),
        ("has principles", 0.1, answer["principle_count"] >= 1),
        (f"stored complexity {MIN_COMPLEXITY} or more", 0.05, (answer["stored_complexity"] or 0) >= MIN_COMPLEXITY),
        (f"answer under {SHORT_ANSWER} characters", -0.2, len(response) < SHORT_ANSWER),
        ("direct answer", -0.1, answer["reasoning_type"] == "direct"),
        ("repetition", -0.3, "repetition" in flags),
        ("incomplete", -0.2, "incomplete" in flags),
    )
    return [{"factor": name, "worth": worth, "applies": bool(applies)} for name, worth, applies in judged]


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
            is_machine = row.get("reviewer_notes", "").lstrip().startswith("AUTO-")
            decided = "a machine" if is_machine else "the source" if row["human_reviewed"] else None
            names = ("human_reviewed", "approved", "reviewer_notes", "reviewed_at")
            said = {name: row[name] for name in names if name in row}
            return told | {"decided_by": decided, "source_row": f"{source['table']}:{source['source_id']}", **said}
    return told


def feedback_about(lake: Lake, ids: Sequence[str], said: Sequence[str] = SAID) -> pl.DataFrame:
    """The active feedback rows M1 finds for examples, and the way it found them; as `core__distillation` counts them."""
    keys = ("source_id", "session_id", "prompt_key", "answer_hash", "attempt_hash")
    answers = where(lake, ANSWERS, pl.col("example_id").is_in(ids)).select("example_id", *keys)
    named = pl.concat([answers, answers.with_columns(source_id="example_id")]).unique(["example_id", "source_id"])
    known = (pl.col("response_id").is_in(named["source_id"].implode())) | pl.col("prompt_key").is_in(
        answers["prompt_key"].implode()
    )
    active = where(lake, "core__feedback", (pl.col("status") == "active") & known)
    active = active.select(*said, "response_id", "session_id", "prompt_key", "has_query", rated_hash="answer_hash")
    asked = active.filter("has_query")
    is_answer = pl.col("rated_hash") == pl.col("answer_hash")
    is_not_attempt = (pl.col("rated_hash") != pl.col("attempt_hash")).fill_null(True)
    found = (
        named.join(active, left_on="source_id", right_on="response_id").filter(is_answer | is_not_attempt),
        answers.join(asked, on=["session_id", "prompt_key"]).filter(
            is_answer | (pl.col("is_escalated") & is_not_attempt)
        ),
        answers.join(asked, on="prompt_key").filter(is_answer & pl.col("is_escalated")),
    )
    ways = [rows.select("example_id", pl.lit(way).alias("way"), *said) for way, rows in enumerate(found, start=1)]
    counted = pl.concat(ways).filter(pl.col("way") == pl.col("way").min().over("example_id"))
    return counted.with_columns(pl.col("way").replace_strict(WAYS, return_dtype=pl.String).alias("found_by")).sort(
        "example_id", "occurred_at", "feedback_id"
    )


# --- stats (seed 2) ----------------------------------------------------------------------------------------------


def stats(lake: Lake) -> dict[str, Any]:
    """Seed 2's figures over all examples but the teacher's own pairs, as `metric__distillation_daily` counts them."""
    everything = where(lake, EXAMPLES, pl.lit(True))
    examples = everything.filter(pl.col("origin") != "synthetic_pair")
    # scores are added as whole numbers, because floating addition is not repeatable (G2)
    total = int((examples["quality_score"] * 1e6).round().cast(pl.Int64).sum())
    mean = share(total, 1_000_000 * examples.height) if examples.height else None
    flags = examples.select(pl.col("quality_flags").explode().drop_nulls())["quality_flags"]
    verdicts = counts(examples["feedback_verdict"], ("validated", "contradicted"))
    return {
        "total_examples": examples.height,
        "by_domain": counts(examples["domain"], distillation.DOMAINS),
        "by_reasoning_type": counts(examples["reasoning_type"].fill_null("unknown"), distillation.REASONING_TYPES),
        "by_format": counts(examples["training_format"], distillation.FORMATS),
        "review": counts(examples["review_status"], ("pending", "approved", "rejected")),
        "training_ready": int(examples["is_ready"].sum()),
        "exported": _exported(lake),
        "quality": {"avg_score": mean, "high_quality_count": int((examples["quality_score"] >= 0.7).sum())},
        "flags": counts(flags, QUALITY_FLAGS),
        "feedback": verdicts,
        "synthetic_pairs": everything.height - examples.height,
    }


def _exported(lake: Lake) -> dict[str, Any]:
    """Records of the newest release by format, as its manifest counts them."""
    name = lake.catalog.release.get("name")
    manifest = lake.home / "exports" / str(name) / "manifest.json"
    sources = json.loads(manifest.read_text(encoding="utf-8"))["exported"]["source"] if manifest.exists() else {}
    formats = {form: sources.get(f"distillation_{form}", 0) for form in distillation.FORMATS}
    return {"release": name, **formats, "synthetic_pair": sources.get("synthetic_pair", 0)}
