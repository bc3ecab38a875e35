"""The traits of feedback rows and of distilled examples, kept by day: a day is made again only if its rows, the code, or a setting
that decides traits changed (G12). Only runs that make a release need them (T5)."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial

import polars as pl

from dagster_project.code_identity import code_identity
from dagster_project.columns.text_keys import hash_or_null, normal_answers, prompt_keys, splits, thread_keys
from dagster_project.contracts import TABLES
from dagster_project.engines import reading
from dagster_project.engines.kept_days import KeptDays, grouped
from dagster_project.engines.stored_tables import take_over, write_days
from dagster_project.engines.workers import in_order
from dagster_project.lake.lake import partition_day
from dagster_project.run.made import Claim, Made, Outcome
from dagster_project.run.mill_run import MillRun
from dagster_project.systems.distillation.answers import merged
from dagster_project.systems.distillation.flags import are_refusals
from dagster_project.systems.feedback.keys import feedback_keys
from dagster_project.training.decontamination import EvaluationIndex
from dagster_project.training.evaluation_items import evaluation_items
from dagster_project.training.record_traits import traits

FEEDBACK, DISTILLED = "core__feedback_traits", "core__distilled_traits"
ENTRIES, KEYS = "raw_feedback__entries", "core__feedback_keys"
ANSWERS, SOURCES = "core__distilled_answers", "core__distillation_sources"
GROUP_ROWS = 16_000
OWN_TEXTS = {
    "context": "conversation_context",
    "query": "original_query",
    "answer": "original_response",
    "note": "what_was_wrong",
}
IN_ENTRIES = (*OWN_TEXTS.values(), "correction", "preferred_response")
DISTILLED_TEXTS = ("query", "query_context", "sam_attempt", "claude_response")
CONTEXTS_ARE_READ = Claim("contexts_are_read", "every conversation before a prompt could be read as turns (T7)", False)


@dataclass(frozen=True)
class _Rules:
    """What decides traits besides the rows."""

    split_key: str
    split_by: str
    allow: tuple[str, ...]
    evaluation: EvaluationIndex | None

    @staticmethod
    def of(run: MillRun) -> "_Rules":
        sets = run.config.decontaminate
        index = EvaluationIndex(evaluation_items(sets)) if sets else None
        return _Rules(run.config.split_key, run.config.split_by, run.config.mask_allow, index)


def _rules_hash(run: MillRun, table: str) -> str:
    config = run.config
    sets = [(one.name, one.contents) for one in config.decontaminate]
    said = (config.split_key, config.split_by, config.mask_allow, sets, TABLES[table].digest)
    return f"{code_identity(__name__)} {said}"


def make_traits(run: MillRun) -> list[Made]:
    """Both tables; a run without a release leaves them as they are."""
    if not run.makes_release:
        return [
            Made(table, is_current=True, outcomes=(Outcome(CONTEXTS_ARE_READ, True),))
            for table in (FEEDBACK, DISTILLED)
        ]
    rules: list[_Rules] = []

    def asked() -> _Rules:
        """The evaluation sets are read only if a day has to be made."""
        if not rules:
            rules.append(_Rules.of(run))
        return rules[0]

    return [_make(run, FEEDBACK, _days_of_feedback(run), asked), _make(run, DISTILLED, _days_of_examples(run), asked)]


@dataclass(frozen=True)
class _Days:
    """What the days of one table are made from, how many rows each has, and how some are made."""

    wanted: Mapping[str, str]
    rows: Mapping[str, int]
    make: Callable[[Sequence[date], _Rules], pl.DataFrame]


def _make(run: MillRun, table: str, days: _Days, rules: Callable[[], _Rules]) -> Made:
    kept, made = KeptDays(run.lake, table, days.wanted), 0
    groups = grouped(sorted(kept.stale), lambda day: days.rows[str(day)], GROUP_ROWS)

    def work(group: list[date]) -> tuple[list[date], int, list]:
        found = days.make(group, rules()).sort("event_date", "origin_id")
        return group, found.height, write_days(run.lake, table, found) if found.height else []

    if kept.stale:
        rules()  # once, before the workers ask
    for group, rows, files in in_order(work, groups, run.config.worker_count, run.check_stop):
        take_over(run.lake, files)
        kept.note(group, {date.fromisoformat(file.partition.removeprefix("event_date=")) for file in files})
        made += rows
        run.report(table, rows)
    return Made(table, is_current=made == 0, told={"made_again": made}, outcomes=(_drift(run, table),))


def _drift(run: MillRun, table: str) -> Outcome:
    unread = reading.scan(run.lake, table).select((~pl.col("is_context_parsed")).sum()).collect().item()
    return Outcome(CONTEXTS_ARE_READ, unread == 0, {"unread_contexts": unread})


# --- feedback ------------------------------------------------------------------------------------------------------------


def _days_of_feedback(run: MillRun) -> _Days:
    lake, code = run.lake, _rules_hash(run, FEEDBACK)
    versions, keys = dict(lake.versions(ENTRIES)), dict(lake.versions(KEYS))
    wanted = {
        str(partition_day(partition)): _hash(code, version, keys.get(partition))
        for partition, version in versions.items()
    }
    rows = {str(partition_day(partition)): stored.rows for partition, stored in lake.partitions(ENTRIES).items()}
    return _Days(wanted, rows, partial(_of_feedback, run))


def _hash(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()


def _of_feedback(run: MillRun, days: Sequence[date], rules: _Rules) -> pl.DataFrame:
    """Of all rows with texts, whatever they are: what counts is decided later, and by others."""
    partitions = [f"event_date={day}" for day in days]
    names = ("effective_type", "session_id", "user_id", "answer_key")
    keys = reading.scan(run.lake, KEYS, partitions).select("feedback_id", *names)
    keys = keys.filter(pl.col("answer_key").is_not_null()).collect()
    entries = reading.read(run.lake, ENTRIES, partitions).drop("session_id", "user_id")
    rows = keys.join(entries, on="feedback_id", maintain_order="left")
    better = (
        pl.when(effective("correction")).then("correction").when(effective("preference")).then("preferred_response")
    )
    told = rows.select(
        pl.col("feedback_id").alias("origin_id"),
        *(pl.col(column).alias(name) for name, column in OWN_TEXTS.items() if name != "note"),
        better.alias("better"),
        pl.when(effective("correction")).then("what_was_wrong").alias("note"),
        pl.col("effective_type").is_in(["correction", "preference"]).alias("is_better_taught"),
        effective("correction").alias("is_correction"),
    )
    found = traits(told, partial(_masked_keys, rows, rules.split_key), rules.allow, rules.evaluation)
    return _finished(found, told, rows.select("event_date", "session_id", "user_id"), rules)


def effective(kind: str) -> pl.Expr:
    return pl.col("effective_type") == kind


def _masked_keys(entries: pl.DataFrame, split_key: str, masked: pl.DataFrame) -> pl.DataFrame:
    """The keys of rows with their texts masked, by the code that made those of the source's texts."""
    is_preference = effective("preference")
    whole = entries.rename({"feedback_id": "origin_id"}).drop("answer_key")
    rows = masked.join(whole, on="origin_id", how="left", maintain_order="left")
    rows = rows.with_columns(
        *(pl.col(name).alias(column) for name, column in OWN_TEXTS.items() if name != "note"),
        pl.coalesce("note", "what_was_wrong").alias("what_was_wrong"),
        pl.when(is_preference).then("correction").otherwise(pl.coalesce("better", "correction")).alias("correction"),
        pl.when(is_preference).then("better").otherwise("preferred_response").alias("preferred_response"),
    ).rename({"origin_id": "feedback_id"})
    better = pl.when(effective("preference")).then("preferred_hash").otherwise("correction_hash").alias("better_hash")
    return feedback_keys(rows, split_key).with_columns(better)


# --- distilled examples --------------------------------------------------------------------------------------------------


def _days_of_examples(run: MillRun) -> _Days:
    lake, code = run.lake, _rules_hash(run, DISTILLED)
    made = {
        key.removeprefix(f"{ANSWERS}/"): inputs
        for key, inputs in lake.catalog.inputs.items()
        if key.startswith(f"{ANSWERS}/")
    }
    rows = {str(partition_day(partition)): stored.rows for partition, stored in lake.partitions(ANSWERS).items()}
    versions = {str(partition_day(partition)): version for partition, version in lake.versions(ANSWERS)}
    wanted = {day: _hash(code, made.get(day), versions[day]) for day in rows}
    return _Days(wanted, rows, partial(_of_examples, run))


def _of_examples(run: MillRun, days: Sequence[date], rules: _Rules) -> pl.DataFrame:
    partitions = [f"event_date={day}" for day in days]
    names = ("example_id", "event_date", "session_id", "has_query", "has_answer")
    answers = reading.scan(run.lake, ANSWERS, partitions).select(names)
    answers = answers.filter(pl.col("has_query"), pl.col("has_answer")).collect()
    sources = reading.scan(run.lake, SOURCES).filter(pl.col("example_date").is_in(list(days))).collect()
    texts = merged(run.lake, sources, DISTILLED_TEXTS).drop("session_id", "event_date", strict=False)
    rows = answers.join(texts, on="example_id", maintain_order="left")
    told = rows.select(
        pl.col("example_id").alias("origin_id"),
        pl.col("query_context").alias("context"),
        "query",
        pl.col("attempt").alias("answer"),
        pl.col("claude_response").alias("better"),
        pl.lit(None, dtype=pl.String).alias("note"),
        pl.lit(True).alias("is_better_taught"),
        pl.lit(False).alias("is_correction"),
    )
    found = traits(told, partial(_keys_of_example, rules.split_key), rules.allow, rules.evaluation)
    placed = rows.select("event_date", "session_id", pl.lit(None, dtype=pl.String).alias("user_id"))
    return _finished(found, told, placed, rules)


def _keys_of_example(split_key: str, masked: pl.DataFrame) -> pl.DataFrame:
    keys = prompt_keys(masked["query"], split_key)
    return keys.with_columns(
        thread_keys(keys.select("prompt_key", masked["context"].alias("conversation_context"))).alias("thread_key"),
        hash_or_null(normal_answers(masked["answer"])).alias("answer_hash"),
        hash_or_null(normal_answers(masked["better"])).alias("better_hash"),
        pl.lit(None, dtype=pl.Int64).alias("record_hash"),
    )


def _finished(found: pl.DataFrame, told: pl.DataFrame, placed: pl.DataFrame, rules: _Rules) -> pl.DataFrame:
    """With the day, whose it is, and the split of session or user where splits are by those (T3)."""
    target = told.select(pl.when("is_better_taught").then("better").otherwise("answer")).to_series()
    owner = {"session": "session_id", "user": "user_id"}.get(rules.split_by)
    split = pl.lit(None, dtype=pl.String) if owner is None else splits(placed[owner], rules.split_key)
    return found.hstack(placed).with_columns(
        split.alias("record_split"), are_refusals(target.fill_null("")).alias("is_refusal")
    )
