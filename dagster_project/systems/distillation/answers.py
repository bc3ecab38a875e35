"""Distilled examples as their own texts tell (D2-D5): merged over the generations, extracted, flagged, scored.

Text functions are the costly part, so results are kept by the day of an example's winning row, and a day is made again
only if one of the source rows behind its examples, or the code, changed (G12). Nothing here looks at other examples.
"""

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime

import polars as pl

from dagster_project.code_identity import code_identity
from dagster_project.columns.content_hashes import content_hashes
from dagster_project.columns.edit_distance import edit_changes
from dagster_project.columns.instants import instant
from dagster_project.columns.json_columns import counts_of, lengths, string_items
from dagster_project.columns.right_attempt import is_right_attempt
from dagster_project.columns.rounding import rounded
from dagster_project.columns.spaces import SPACES
from dagster_project.columns.text_keys import has_text, normal_answers, thread_keys
from dagster_project.columns.unseen_attempt import talks_of_unseen_attempt
from dagster_project.columns.words import filled, known_or, word
from dagster_project.engines import reading
from dagster_project.engines.kept_days import KeptDays, grouped
from dagster_project.engines.reading import read
from dagster_project.lake.lake import Lake
from dagster_project.run.made import Made
from dagster_project.run.mill_run import MillRun
from dagster_project.systems.distillation import source as distillation
from dagster_project.systems.distillation.columns import REASONING_TYPES
from dagster_project.systems.distillation.flags import answer_flags
from dagster_project.systems.distillation.interaction_keys import rebuilt_response
from dagster_project.systems.distillation.quality_score import MIN_STEPS, quality_score
from dagster_project.systems.distillation.reasoning import extract_reasoning
from dagster_project.systems.distillation.tables import TABLES

TABLE, SOURCES = "core__distilled_answers", "core__distillation_sources"
RAW = "raw_distillation__"
BESIDE = (f"{RAW}reasoning_patterns", f"{RAW}corrections")
GROUP_EXAMPLES = 16_000
EXTRACTED = ("reasoning_type", "reasoning_steps", "tool_usage", "corrections", "principles", "complexity")
# What an example takes from the first of its source rows that has it.
TEXTS = tuple(
    """
    session_id query query_context sam_attempt claude_response reasoning_type reasoning_steps tool_usage
    corrections principles domain subdomain task_type quality_flags training_format
""".split()
)
NUMBERS = ("complexity", "quality_score", "source_review", "training_ready")
NOTHING = {"session_id": ("", "default")}  # what stands for no value (G9); elsewhere empty text does
MERGED: dict[str, type[pl.DataType]] = {
    **dict.fromkeys(TEXTS, pl.String),
    "complexity": pl.Int64,
    "quality_score": pl.Float64,
    "source_review": pl.Int64,
    "training_ready": pl.Int64,
}


def make_distilled_answers(run: MillRun) -> list[Made]:
    """Merge and judge the examples of the days that are not current."""
    lake = run.lake
    sources = read(lake, SOURCES)
    kept = KeptDays(lake, TABLE, _made_from(run, sources))
    counts = dict(sources.filter(pl.col("place") == 1).group_by("example_date").len().iter_rows())
    made = 0
    for days in grouped(kept.stale, counts.__getitem__, GROUP_EXAMPLES):
        mine = sources.filter(pl.col("example_date").is_in(days))
        kept.store(days, judged(merged(lake, mine, as_of=run.as_of)).sort("event_date", "example_id"))
        examples = mine["example_id"].n_unique()
        made += examples
        run.report(TABLE, examples)
    return [Made(TABLE, is_current=made == 0, told={"made_again": made})]


def _made_from(run: MillRun, sources: pl.DataFrame) -> dict[str, str]:
    """Per day a hash of the source rows behind its examples, of the files they are in, and of the code."""
    versions = {
        (table, partition.removeprefix("event_date=")): version
        for table in distillation.DATED
        for partition, version in run.lake.versions(table)
    }
    code = f"{code_identity(__name__)} {run.config.split_key} {TABLES[TABLE].digest}"
    listed = sources.select(
        "example_date",
        "table",
        "event_date",
        "source_id",
        row=pl.struct("example_id", "place", "table", "source_id").hash(),
    ).join(_beside_digests(run), on=["table", "source_id"], how="left")
    days = listed.group_by("example_date").agg(
        pl.struct("table", "event_date").unique().sort().alias("files"),
        pl.col("row").sum().alias("rows"),
        pl.col("beside").sum().alias("beside"),
    )
    found = {}
    for day, files, rows, beside in days.sort("example_date").iter_rows():
        used = [(f["table"], str(f["event_date"]), versions[RAW + f["table"], str(f["event_date"])]) for f in files]
        found[str(day)] = hashlib.sha256(json.dumps([code, beside, used, rows]).encode()).hexdigest()
    return found


def merged(
    lake: Lake, sources: pl.DataFrame, texts: Sequence[str] = TEXTS, as_of: datetime | None = None
) -> pl.DataFrame:
    """One row per example: every value from the first of its source rows that has one (D2). Only these `texts`."""
    frames = []
    for (table,), mine in sources.partition_by("table", as_dict=True).items():
        days = [f"event_date={day}" for day in sorted(set(mine["event_date"]))]
        rows = read(lake, f"{RAW}{table}", days)
        rows = rows.join(mine.select(pl.col("source_id").unique()), left_on="id", right_on="source_id", how="semi")
        if table == "examples" and "corrections" in texts:
            rows = _with_patterns_and_corrections(lake, rows, as_of)
        rows = mine.select("example_id", "place", "source_id", "origin").join(
            _with_common_columns(rows, str(table)), left_on="source_id", right_on="id"
        )
        if table == "chain_of_thought":  # its rebuilt answer stands only where there is no other
            rows = rows.with_columns(pl.when(pl.col("place") == 1).then("claude_response").alias("claude_response"))
        frames.append(rows)
    rows = pl.concat(frames, how="diagonal").sort("example_id", "place")
    has_value = {c: ~pl.col(c).str.strip_chars(SPACES).is_in(NOTHING.get(c, ("",))) for c in texts}
    winner = ("source_id", "origin", "occurred_at", "event_date", "prompt_key", "split", "bad_response")
    return (
        rows.group_by("example_id", maintain_order=True)
        .agg(
            *(pl.col(c).first() for c in winner),
            *(pl.col(c).filter(has_value[c]).first() for c in texts),
            *(pl.col(c).drop_nulls().first() for c in NUMBERS),
            (pl.col("table").first() == "chain_of_thought").alias("is_rebuilt"),
            (pl.col("success").drop_nulls().first() == 0).fill_null(False).alias("has_no_success"),
            pl.concat_str("table", pl.lit(":"), "source_id").alias("source_rows"),
        )
        .with_columns(_attempt())
    )


def _attempt() -> pl.Expr:
    """What the answer is compared with: SAM's attempt, of a synthetic pair the bad answer; null without a word in it."""
    worse = pl.when(pl.col("origin") == "synthetic_pair").then(pl.col("bad_response")).otherwise(pl.col("sam_attempt"))
    return filled(worse).alias("attempt")


def _with_common_columns(rows: pl.DataFrame, table: str) -> pl.DataFrame:
    """A raw table's rows under the names all generations share."""
    if table == "chain_of_thought":
        rows = rows.with_columns(rebuilt_response(rows).alias("response"))
    names = {"stored_flags": "quality_flags", "prompt": "query"} | dict.fromkeys(
        ("response", "good_response"), "claude_response"
    )
    rows = rows.rename({old: new for old, new in names.items() if old in rows.columns})
    is_machine = is_machine_review(pl.col("reviewer_notes"))
    review = {
        "distillation_examples": pl.when(is_machine).then(0).otherwise("human_reviewed"),
        "examples": pl.when(is_machine | (pl.col("human_reviewed") == 0))
        .then(0)
        .when(pl.col("human_reviewed") == 1)
        .then(pl.col("approved").replace_strict({1: 1, 0: -1}, default=0)),
    }.get(table, pl.lit(None))
    rows = rows.with_columns(review.cast(pl.Int64).alias("source_review"), pl.lit(table).alias("table"))
    known = MERGED | {"bad_response": pl.String, "success": pl.Int64}
    absent = {c: kind for c, kind in known.items() if c not in rows.columns}
    return rows.with_columns(pl.lit(None, dtype=kind).alias(c) for c, kind in absent.items()).select(
        "id", "table", "occurred_at", "event_date", "prompt_key", "split", *known
    )


def is_machine_review(notes: pl.Expr) -> pl.Expr:
    """Whether a review is a machine's, which does not count (D6)."""
    return notes.str.strip_chars_start(SPACES).str.starts_with("AUTO-").fill_null(False)


def _with_patterns_and_corrections(lake: Lake, rows: pl.DataFrame, as_of: datetime | None) -> pl.DataFrame:
    """What the normalised generation keeps in tables of its own: the newest pattern that has a value, all corrections."""
    patterns, fixes = (_beside(lake, table, as_of) for table in BESIDE)
    columns = ("reasoning_type", "reasoning_steps", "tool_usage", "complexity")
    links = _pattern_links(patterns, rows.lazy()).join(rows.lazy().select("id"), on="id", how="semi")
    linked = links.join(patterns, left_on="pattern_id", right_on="id").collect()
    linked = linked.sort("is_named", "created_at", "pattern_id", descending=True, nulls_last=True)
    newest = linked.group_by("id", maintain_order=True).agg(_filled(c).drop_nulls().first() for c in columns)
    mine = fixes.filter(pl.col("example_id").is_in(rows["id"].implode())).collect()
    merged = rows.join(newest, on="id", how="left", suffix="_pattern", maintain_order="left")
    merged = merged.join(_corrections(mine), on="id", how="left", maintain_order="left")
    return merged.with_columns(
        pl.coalesce(_filled("reasoning_type"), "reasoning_type_pattern").alias("reasoning_type"),
        pl.coalesce("complexity", "complexity_pattern").alias("complexity"),
    )


def _filled(column: str) -> pl.Expr:
    """The value, null for a blank text."""
    return pl.col(column) if column == "complexity" else filled(column).alias(column)


def _corrections(fixes: pl.DataFrame) -> pl.DataFrame:
    """Rows of `corrections`, oldest first, as seed 2 writes them: one object per example."""
    fixes = fixes.sort("created_at", "id", nulls_last=True)
    errors = pl.struct("error_type", "what_sam_said", "what_was_wrong", "correct_answer")
    lessons = pl.concat_list(
        string_items(fixes["improvements"]).alias("improvements").fill_null([]),
        pl.concat_list(_filled("lesson_learned")).list.drop_nulls(),
    )
    told = fixes.select(pl.col("example_id").alias("id"), errors.alias("sam_error"), lessons.alias("lessons"))
    grouped = told.group_by("id", maintain_order=True).agg(
        pl.col("sam_error").alias("sam_errors"), pl.col("lessons").explode().drop_nulls().alias("improvements")
    )
    return grouped.select("id", pl.struct("sam_errors", "improvements").struct.json_encode().alias("corrections"))


def _pattern_links(patterns: pl.LazyFrame, examples: pl.LazyFrame) -> pl.LazyFrame:
    """Which pattern is about which row of `examples`: the one the row names, and those that name the row."""
    named = examples.select("id", pattern_id="reasoning_pattern_id", is_named=True).drop_nulls()
    naming = patterns.select(id="example_id", pattern_id="id", is_named=False)
    return pl.concat([named, naming]).group_by("id", "pattern_id").agg(pl.col("is_named").any())


def _beside(lake: Lake, table: str, as_of: datetime | None) -> pl.LazyFrame:
    """A table beside `examples`, without what was written at or after as_of (G2)."""
    rows = reading.scan(lake, table)
    written = instant(pl.col("created_at"))
    return rows.filter((written < as_of).fill_null(True)) if as_of else rows


def _beside_digests(run: MillRun) -> pl.DataFrame:
    """Per row of `examples` a hash of all that is said of it in the tables beside (`table`, `source_id`, `beside`)."""
    columns = ("id", "example_id", pl.struct(pl.exclude("source_rowid")).hash().alias("digest"))
    patterns, fixes = (
        _beside(run.lake, table, run.as_of).select(columns).collect(engine="streaming").lazy() for table in BESIDE
    )
    examples = reading.scan(run.lake, f"{RAW}examples")
    about = _pattern_links(patterns, examples).join(
        patterns.select("id", "digest"), left_on="pattern_id", right_on="id"
    )
    digests = pl.concat([about.select("id", "digest"), fixes.select(pl.col("example_id").alias("id"), "digest")])
    told = digests.group_by("id").agg(pl.col("digest").sum().alias("beside")).collect(engine="streaming")
    return told.select(pl.lit("examples").alias("table"), pl.col("id").alias("source_id"), "beside")


def judged(rows: pl.DataFrame) -> pl.DataFrame:
    """Merged examples with what their texts tell: extraction (D3), flags (D4), score (D5), hashes, how much changed (S4)."""
    rows = rows.with_columns(
        pl.col("complexity").alias("stored_complexity"),
        pl.col("quality_score").alias("source_quality_score"),
        pl.col("claude_response").fill_null(""),
        pl.col("query").fill_null(""),
    )
    found = extract_reasoning(rows.select("query", "sam_attempt", "claude_response"))
    # steps the source has stored are reasoning, even if the answer alone does not show it
    is_told = (lengths(rows["reasoning_steps"]) >= MIN_STEPS) & (found["reasoning_type"] == "direct")
    found = found.with_columns(
        pl.when(is_told).then(pl.lit("chain_of_thought")).otherwise("reasoning_type").alias("reasoning_type")
    )
    lacking = {c: pl.col(c).is_null() for c in EXTRACTED}
    stored_type = known_or("reasoning_type", REASONING_TYPES, None)
    rows = rows.hstack(found.select(pl.col(c).alias(f"{c}_found") for c in EXTRACTED)).with_columns(
        pl.concat_list(
            *(pl.when(lacking[c]).then(pl.lit(c)) for c in EXTRACTED),
            pl.when("is_rebuilt").then(pl.lit("reconstructed_response")),
        )
        .list.drop_nulls()
        .alias("extracted"),
        *(pl.coalesce(c, f"{c}_found").alias(c) for c in EXTRACTED if c != "reasoning_type"),
        pl.when(lacking["reasoning_type"]).then("reasoning_type_found").otherwise(stored_type).alias("reasoning_type"),
    )
    rows = rows.with_columns(
        lengths(rows["reasoning_steps"]).alias("step_count"),
        counts_of(rows["corrections"], "$.sam_errors").alias("error_count"),
        lengths(rows["principles"]).alias("principle_count"),
    ).with_columns((pl.col("error_count") > 0).alias("has_sam_errors"))
    stored = string_items(rows["quality_flags"]).fill_null([]).alias("stored_flags")
    detected = answer_flags(rows.select("query", "claude_response", "reasoning_type", "step_count")).alias("detected")
    flags = pl.concat_list("stored_flags", "detected").list.eval(word(pl.element()))
    rows = rows.with_columns(stored, detected).with_columns(
        flags.list.eval(pl.element().filter(pl.element() != "")).list.unique(maintain_order=True).alias("quality_flags")
    )
    return _finished(rows.with_columns(quality_score()))


def _finished(rows: pl.DataFrame) -> pl.DataFrame:
    contents = content_hashes(
        rows.select(
            pl.col("example_id").alias("id"),
            "query",
            pl.col("claude_response").alias("answer"),
            "attempt",
        )
    )
    keys = thread_keys(rows.select("prompt_key", pl.col("query_context").alias("conversation_context")))
    changes = edit_changes(rows["attempt"], rows["claude_response"])
    prompts = rows.select(pl.concat_str("query_context", "query", separator="\n", ignore_nulls=True)).to_series()
    return rows.select(
        "example_id",
        "source_id",
        "origin",
        "session_id",
        "occurred_at",
        "event_date",
        "prompt_key",
        "split",
        keys.alias("thread_key"),
        normal_answers(rows["claude_response"]).hash().reinterpret(signed=True).alias("answer_hash"),
        pl.when(pl.col("attempt").is_not_null())
        .then(normal_answers(rows["attempt"]).hash().reinterpret(signed=True))
        .alias("attempt_hash"),
        known_or("domain", distillation.DOMAINS, "general").alias("domain"),
        "subdomain",
        "task_type",
        "reasoning_type",
        "reasoning_steps",
        "tool_usage",
        "corrections",
        "principles",
        "complexity",
        "stored_complexity",
        "step_count",
        "error_count",
        "principle_count",
        "quality_flags",
        "source_quality_score",
        "quality_score",
        pl.col("source_review").fill_null(0),
        (pl.col("training_ready") == 1).fill_null(False).alias("is_source_ready"),
        word("training_format").alias("source_training_format"),
        has_text("query").alias("has_query"),
        has_text("claude_response").alias("has_answer"),
        pl.col("attempt").is_not_null().alias("has_attempt"),
        rounded(pl.lit(changes["changed_fraction"])).alias("changed_fraction"),
        pl.when(changes["is_too_long"]).then(pl.lit("too_long")).alias("edit_distance_mark"),
        # D7, T1: under 5 %, on the exact counts; what is too long to compare counts as changed
        (changes["changed"] * 20 < changes["total"]).fill_null(False).alias("is_hardly_changed"),
        is_right_attempt(rows["attempt"], rows["claude_response"], rows["corrections"]).alias("is_right_attempt"),
        talks_of_unseen_attempt(rows["claude_response"], prompts).alias("is_unseen_attempt"),
        (pl.col("has_no_success") & pl.col("is_rebuilt")).alias("is_failed"),
        "extracted",
        "source_rows",
        contents["content_hash"],
    )
