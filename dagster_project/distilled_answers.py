"""Distilled examples as their own texts tell (D2-D5): merged over the generations, extracted, flagged, scored.

Text functions are the costly part, so results are kept by the day of an example's winning row, and a day is made again
only if one of the source rows behind its examples, or the code, changed (G12). Nothing here looks at other examples.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from datetime import date

import polars as pl

from dagster_project.contracts import TABLES
from dagster_project.lake import Lake
from dagster_project.mill_run import MillRun, code_hash
from dagster_project.review.items import content_hashes
from dagster_project.signals.answer_flags import answer_flags
from dagster_project.signals.edit_distance import changed_fraction
from dagster_project.signals.feedback_keys import thread_keys
from dagster_project.signals.interaction_keys import rebuilt_response
from dagster_project.signals.json_columns import lengths, string_items
from dagster_project.signals.reasoning import extract_reasoning
from dagster_project.signals.text_keys import SPACES, has_text, normal_answers
from dagster_project.sources import distillation
from dagster_project.sources.feedback import known_or, word
from dagster_project.tables import store_days
from dagster_project.training.distilled import quality_score

TABLE, SOURCES = "core__distilled_answers", "core__distillation_sources"
RAW = "raw_distillation__"
BESIDE = (f"{RAW}reasoning_patterns", f"{RAW}corrections")
CODE = ("distilled_answers.py", "signals", "sources/distillation.py", "training/distilled.py")
GROUP_EXAMPLES = 8_000
EXTRACTED = ("reasoning_type", "reasoning_steps", "tool_usage", "corrections", "principles", "complexity")
# What an example takes from the first of its source rows that has it.
TEXTS = (
    "session_id", "query", "query_context", "sam_attempt", "claude_response", "reasoning_type", "reasoning_steps",
    "tool_usage", "corrections", "principles", "domain", "subdomain", "task_type", "quality_flags", "training_format",
)  # fmt: skip
NUMBERS = ("complexity", "quality_score", "source_review")
MERGED: dict[str, type[pl.DataType]] = {
    **dict.fromkeys(TEXTS, pl.String), "complexity": pl.Int64, "quality_score": pl.Float64, "source_review": pl.Int64,
}  # fmt: skip


def bring_distilled_answers_up_to_date(run: MillRun) -> int:
    """Make the days that are not current; returns how many examples were made again."""
    lake = run.lake
    sources = pl.read_parquet(lake.files(SOURCES), hive_partitioning=False)
    wanted = _made_from(run, sources)
    prefix = f"{TABLE}/"
    for day in [key.removeprefix(prefix) for key in lake.catalog.inputs if key.startswith(prefix)]:
        if day not in wanted:
            lake.drop(TABLE, f"event_date={day}")
            del lake.catalog.inputs[prefix + day]
    stale = [
        day
        for day, inputs in wanted.items()
        if lake.catalog.inputs.get(prefix + day) != inputs or f"event_date={day}" not in lake.partitions(TABLE)
    ]
    made = 0
    for days in _groups(sources, stale):
        mine = sources.filter(pl.col("example_date").is_in(days))
        store_days(lake, TABLE, judged(merged(lake, mine)).sort("event_date", "example_id"))
        made += mine["example_id"].n_unique()
        run.report(TABLE, mine["example_id"].n_unique())
        lake.catalog.inputs |= {f"{prefix}{day}": wanted[str(day)] for day in days}
    return made


def _made_from(run: MillRun, sources: pl.DataFrame) -> dict[str, str]:
    """Per day a hash of the source rows behind its examples, of the files they are in, and of the code."""
    versions = {
        (table, partition.removeprefix("event_date=")): version
        for table in distillation.DATED
        for partition, version in run.lake.versions(table)
    }
    beside = [run.lake.versions(table) for table in BESIDE]
    code = f"{code_hash(*CODE)} {run.config.split_key} {TABLES[TABLE].layout}"
    listed = sources.select("example_date", "table", "event_date", row=pl.struct("example_id", "place", "table", "source_id").hash())
    days = listed.group_by("example_date").agg(
        pl.struct("table", "event_date").unique().sort().alias("files"), pl.col("row").sum().alias("rows")
    )
    found = {}
    for day, files, rows in days.sort("example_date").iter_rows():
        used = [(f["table"], str(f["event_date"]), versions[RAW + f["table"], str(f["event_date"])]) for f in files]
        found[str(day)] = hashlib.sha256(json.dumps([code, beside, used, rows]).encode()).hexdigest()
    return found


def _groups(sources: pl.DataFrame, stale: list[str]) -> Iterator[list[date]]:
    """Stale days, about GROUP_EXAMPLES together."""
    counts = dict(sources.filter(pl.col("place") == 1).group_by("example_date").len().iter_rows())
    group: list[date] = []
    rows = 0
    for day in map(date.fromisoformat, stale):
        group.append(day)
        rows += counts[day]
        if rows >= GROUP_EXAMPLES:
            yield group
            group, rows = [], 0
    if group:
        yield group


def merged(lake: Lake, sources: pl.DataFrame, texts: Sequence[str] = TEXTS) -> pl.DataFrame:
    """One row per example: every value from the first of its source rows that has one (D2). Only these `texts`."""
    frames = []
    for (table,), mine in sources.partition_by("table", as_dict=True).items():
        days = [f"event_date={day}" for day in sorted(set(mine["event_date"]))]
        rows = pl.read_parquet(lake.files(f"{RAW}{table}", days), hive_partitioning=False)
        rows = rows.join(mine.select(pl.col("source_id").unique()), left_on="id", right_on="source_id", how="semi")
        rows = mine.select("example_id", "place", "source_id", "origin").join(
            _with_common_columns(lake, rows, str(table)), left_on="source_id", right_on="id"
        )
        frames.append(rows)
    rows = pl.concat(frames, how="diagonal").sort("example_id", "place")
    has_value = {c: pl.col(c).str.strip_chars(SPACES) != "" for c in texts}
    winner = ("source_id", "origin", "occurred_at", "event_date", "prompt_key", "split", "bad_response", "is_failed")
    return rows.group_by("example_id", maintain_order=True).agg(
        *(pl.col(c).first() for c in winner),
        *(pl.col(c).filter(has_value[c]).first() for c in texts),
        *(pl.col(c).drop_nulls().first() for c in NUMBERS),
        (pl.col("table").first() == "chain_of_thought").alias("is_rebuilt"),
        pl.concat_str("table", pl.lit(":"), "source_id").alias("source_rows"),
    ).with_columns(_attempt())


def _attempt() -> pl.Expr:
    """What the answer is compared with: SAM's attempt, of a synthetic pair the bad answer; null without a word in it."""
    worse = pl.when(pl.col("origin") == "synthetic_pair").then(pl.col("bad_response")).otherwise(pl.col("sam_attempt"))
    return pl.when(worse.str.strip_chars(SPACES) != "").then(worse).alias("attempt")


def _with_common_columns(lake: Lake, rows: pl.DataFrame, table: str) -> pl.DataFrame:
    """A raw table's rows under the names all generations share."""
    if table == "chain_of_thought":
        rows = rows.with_columns(rebuilt_response(rows).alias("response"))
    names = {"stored_flags": "quality_flags", "prompt": "query", "response": "claude_response", "good_response": "claude_response"}
    rows = rows.rename({old: new for old, new in names.items() if old in rows.columns})
    if table == "examples":
        rows = _with_patterns_and_corrections(lake, rows)
    is_machine = pl.col("reviewer_notes").str.strip_chars_start(SPACES).str.starts_with("AUTO-").fill_null(False)
    review = {
        "distillation_examples": pl.when(is_machine).then(0).otherwise("human_reviewed"),
        "examples": pl.when(is_machine | (pl.col("human_reviewed") == 0)).then(0)
        .when((pl.col("human_reviewed") == 1) & (pl.col("approved") == 1)).then(1)
        .when(pl.col("human_reviewed") == 1).then(-1),
    }.get(table, pl.lit(None))  # fmt: skip
    rows = rows.with_columns(review.cast(pl.Int64).alias("source_review"), pl.lit(table).alias("table"))
    rows = rows.with_columns(
        (pl.col("success") == 0).fill_null(False).alias("is_failed")
        if "success" in rows.columns
        else pl.lit(False).alias("is_failed")
    )
    absent = {c: kind for c, kind in (MERGED | {"bad_response": pl.String}).items() if c not in rows.columns}
    return rows.with_columns(pl.lit(None, dtype=kind).alias(c) for c, kind in absent.items()).select(
        "id", "table", "occurred_at", "event_date", "prompt_key", "split", "bad_response", "is_failed", *MERGED
    )


def _with_patterns_and_corrections(lake: Lake, rows: pl.DataFrame) -> pl.DataFrame:
    """What the normalised generation keeps in tables of its own; the newest row of an example counts."""
    columns = ["id", "example_id", "reasoning_type", "reasoning_steps", "tool_usage", "complexity", "created_at"]
    patterns = _read(lake, BESIDE[0], columns).sort("created_at", "id", descending=True, nulls_last=True)
    patterns = patterns.unique("example_id", keep="first", maintain_order=True).drop("id", "created_at")
    fixes = _read(lake, BESIDE[1], None).sort("created_at", "id", nulls_last=True)
    errors = pl.struct("error_type", "what_sam_said", "what_was_wrong", "correct_answer")
    lessons = pl.concat_list(
        string_items(fixes["improvements"]).alias("improvements").fill_null([]),
        pl.concat_list("lesson_learned").list.drop_nulls(),
    )
    told = fixes.select("example_id", errors.alias("sam_error"), lessons.alias("lessons"))
    grouped = told.group_by("example_id", maintain_order=True).agg(
        pl.col("sam_error").alias("sam_errors"), pl.col("lessons").explode().drop_nulls().alias("improvements")
    )
    corrections = grouped.select(
        "example_id", pl.struct("sam_errors", "improvements").struct.json_encode().alias("corrections")
    )
    merged = rows.join(patterns, left_on="id", right_on="example_id", how="left", suffix="_pattern", maintain_order="left")
    merged = merged.join(corrections, left_on="id", right_on="example_id", how="left", maintain_order="left")
    return merged.with_columns(
        pl.coalesce(pl.when(pl.col("reasoning_type") != "").then("reasoning_type"), "reasoning_type_pattern")
        .alias("reasoning_type"),
        pl.coalesce("complexity", "complexity_pattern").alias("complexity"),
    )  # fmt: skip


def _read(lake: Lake, table: str, columns: list[str] | None) -> pl.DataFrame:
    files = lake.files(table)
    if not files:
        return TABLES[table].empty().select(columns or pl.all())
    return pl.read_parquet(files, columns=columns, hive_partitioning=False)


def judged(rows: pl.DataFrame) -> pl.DataFrame:
    """Merged examples with what their texts tell: extraction (D3), flags (D4), score (D5), hashes, how much changed (S4)."""
    rows = rows.with_columns(
        pl.col("complexity").alias("stored_complexity"),
        pl.col("quality_score").alias("source_quality_score"),
        pl.col("claude_response").fill_null(""),
        pl.col("query").fill_null(""),
    )
    found = extract_reasoning(rows.select("query", "sam_attempt", "claude_response"))
    lacking = {c: pl.col(c).is_null() for c in EXTRACTED}
    stored_type = distillation.known_reasoning_type("reasoning_type")
    rows = rows.hstack(found.select(pl.col(c).alias(f"{c}_found") for c in EXTRACTED)).with_columns(
        pl.concat_list(
            *(pl.when(lacking[c]).then(pl.lit(c)) for c in EXTRACTED),
            pl.when("is_rebuilt").then(pl.lit("reconstructed_response")),
        ).list.drop_nulls().alias("extracted"),
        *(pl.coalesce(c, f"{c}_found").alias(c) for c in EXTRACTED if c != "reasoning_type"),
        pl.when(lacking["reasoning_type"]).then("reasoning_type_found").otherwise(stored_type).alias("reasoning_type"),
    )  # fmt: skip
    rows = rows.with_columns(
        lengths(rows["reasoning_steps"]).alias("step_count"),
        lengths(rows["corrections"], "$.sam_errors").alias("error_count"),
        lengths(rows["principles"]).alias("principle_count"),
    ).with_columns((pl.col("error_count") > 0).alias("has_sam_errors"))
    stored = string_items(rows["quality_flags"]).fill_null([]).alias("stored_flags")
    detected = answer_flags(rows.select("query", "claude_response", "reasoning_type", "step_count")).alias("detected")
    flags = pl.concat_list("stored_flags", "detected").list.eval(pl.element().str.strip_chars().str.to_lowercase())
    rows = rows.with_columns(stored, detected).with_columns(
        flags.list.eval(pl.element().filter(pl.element() != "")).list.unique(maintain_order=True).alias("quality_flags")
    )
    return _finished(rows.with_columns(quality_score()))


def _finished(rows: pl.DataFrame) -> pl.DataFrame:
    contents = content_hashes(
        rows.select(
            pl.col("example_id").alias("id"), "query", pl.col("claude_response").alias("answer"), "attempt",
        )
    )  # fmt: skip
    keys = thread_keys(rows.select("prompt_key", pl.col("query_context").alias("conversation_context")))
    return rows.select(
        "example_id", "source_id", "origin",
        pl.when(~pl.col("session_id").is_in(["", "default"])).then("session_id").alias("session_id"),
        "occurred_at", "event_date", "prompt_key", "split", keys.alias("thread_key"),
        normal_answers(rows["claude_response"]).hash().alias("answer_hash"),
        pl.when(pl.col("attempt").is_not_null()).then(normal_answers(rows["attempt"]).hash()).alias("attempt_hash"),
        known_or("domain", distillation.DOMAINS, "general").alias("domain"), "subdomain", "task_type", "reasoning_type",
        "reasoning_steps", "tool_usage", "corrections", "principles", "complexity", "stored_complexity", "step_count",
        "error_count", "principle_count", "quality_flags", "source_quality_score", "quality_score",
        pl.col("source_review").fill_null(0), word("training_format").alias("source_training_format"),
        has_text("query").alias("has_query"), has_text("claude_response").alias("has_answer"),
        pl.col("attempt").is_not_null().alias("has_attempt"),
        changed_fraction(rows["attempt"], rows["claude_response"]).alias("changed_fraction"),
        (pl.col("is_failed") & pl.col("is_rebuilt")).alias("is_failed"), "extracted", "source_rows",
        contents["content_hash"],
    )  # fmt: skip
