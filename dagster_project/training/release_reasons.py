"""What a release settles about candidates before it writes any (T1, from `recipe` on): one table for each reason, in their order."""

import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from dagster_project.code_identity import code_identity
from dagster_project.columns.minhash import SIGNATURE
from dagster_project.config.settings import deciding
from dagster_project.contracts import TABLES
from dagster_project.contracts.formats import FORMATS
from dagster_project.engines import queries, reading
from dagster_project.engines.stored_tables import store, store_query
from dagster_project.run.made import Made
from dagster_project.run.mill_run import MillRun
from dagster_project.training.answers_in_contexts import told_in_contexts
from dagster_project.training.near_duplicates import FIELDS, near_duplicates
from dagster_project.training.recipes import NEEDED, excluded
from dagster_project.training.record_signatures import record_signatures
from dagster_project.training.source_texts import SourceTexts

CONTENDERS, RECIPES, DUPLICATES = "core__contenders", "core__recipe_exclusions", "core__duplicates"
NEAR, LEAKS = "core__near_duplicates", "core__leaks"
STEPS = (CONTENDERS, RECIPES, DUPLICATES, NEAR, LEAKS)
DISTINCT, REMAINING = "release__distinct", "release__remaining"
GROUP_DAYS = 7  # whose texts are read together


def make_release_reasons(run: MillRun) -> list[Made]:
    """Each table anew if what it is made from changed; a run without a release leaves them as they are."""
    made = [_up_to_date(run, table, make) for table, make in _MAKERS.items()]
    return made


def _up_to_date(run: MillRun, table: str, make: Callable[[MillRun], int]) -> Made:
    lake = run.lake
    inputs = _inputs(run, table)
    is_current = not run.makes_release or (lake.catalog.inputs.get(table) == inputs and "" in lake.partitions(table))
    if not is_current:
        run.report(table, make(run))
        lake.catalog.inputs[table] = inputs
    return Made(table, is_current)


def _inputs(run: MillRun, table: str) -> str:
    """What it is made from: tables by version, queries, settings, the code."""
    asked = [queries.query(name) for name in _QUERIES[table]]
    read = sorted({name for query in asked for name in query.inputs} - {*STEPS[STEPS.index(table) :]})
    config = run.config
    settings: dict[str, Any] = {
        RECIPES: deciding(config.recipe),
        NEAR: [config.near_duplicates, config.mask_allow],
        LEAKS: [config.split_by, config.mask_allow],
    }
    parts = {
        "code": code_identity(__name__),
        "contract": TABLES[table].digest,
        "queries": [query.hash for query in asked],
        "params": {name: str(run.params[name]) for query in asked for name in query.params if name in run.params},
        "settings": settings.get(table),
        "inputs": {name: run.lake.versions(name) for name in read},
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _by_query(run: MillRun, table: str) -> int:
    return store_query(run.lake, table, run.params, run.config.memory_limit_mb)


def _recipes(run: MillRun) -> int:
    """Narrow columns of the formats that have a recipe, without any text."""
    if not run.config.recipe:
        return store(run.lake, RECIPES, [])
    contenders = reading.scan(run.lake, CONTENDERS).filter(pl.col("reason").is_null()).select(*NEEDED).collect()
    return store(run.lake, RECIPES, [excluded(contenders, run.config.recipe).rename({"rule": "detail"})])


def _near_duplicates(run: MillRun) -> int:
    """A format at a time."""
    if not run.config.near_duplicates:
        return store(run.lake, NEAR, [])
    folder = run.lake.staging / "near"
    found = [_near_of_format(run, format, folder) for format in FORMATS]
    told = pl.concat(
        [some for some in found if some is not None]
        or [pl.DataFrame(schema={"id": pl.String, "survivor_id": pl.String})]
    )
    return store(run.lake, NEAR, [told.rename({"survivor_id": "duplicate_of"}).sort("id")])


def _near_of_format(run: MillRun, format: str, folder: Path) -> pl.DataFrame | None:
    rows = queries.fetch(run.lake, DISTINCT, {**run.params, "format": format}, run.config.memory_limit_mb)
    if rows.height < 2:
        return None
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    prompts, answers = record_signatures(run.lake, rows)
    first = rows["event_date"].min()
    group = ((pl.col("event_date") - first).dt.total_days() // GROUP_DAYS) * 2 + pl.col("is_distilled").cast(pl.Int64)
    narrow = rows.with_columns(group.alias("group"))
    records = narrow.select(
        "id",
        "place",
        "format",
        "label",
        "group",
        pl.struct("prompt_form", "target_form", "rejected_form").alias("form_hash"),
        pl.Series("prompt_signature", prompts, dtype=SIGNATURE),
        pl.Series("answer_signature", answers, dtype=SIGNATURE),
    )
    del rows, prompts, answers
    texts = partial(_fields, SourceTexts(run.lake, run.config.mask_allow), narrow)
    found = near_duplicates(records, texts, folder)
    shutil.rmtree(folder)
    return found


def _fields(texts: SourceTexts, rows: pl.DataFrame, group: int, ids: pl.Series) -> pl.DataFrame:
    """What is compared of some records of a group (T6)."""
    wanted = rows.filter(pl.col("group") == group).join(ids.to_frame("id"), on="id", how="semi")
    return record_texts(texts, wanted).select("id", *FIELDS)


def record_texts(texts: SourceTexts, rows: pl.DataFrame) -> pl.DataFrame:
    """Records of one system, by origin_id, source and partner, with `FIELDS`: prompt with context, answer, rejected answer."""
    days = _days(rows["event_date"])
    if rows["is_distilled"][0]:
        told = texts.of_examples(days, rows, ["context", "query", "answer", "better"]).with_columns(
            pl.col("better").alias("target")
        )
    else:
        told = texts.of_feedback(days, rows, ["context", "query", "answer", "correction", "preferred", "note"])
        told = told.join(_partner_answers(texts, rows), on="id", how="left", maintain_order="left").with_columns(
            pl.when(pl.col("partner_id").is_not_null())
            .then("partner_answer")
            .when(pl.col("source") == "feedback_correction")
            .then(pl.concat_str("note", "correction", separator="\n\n", ignore_nulls=True))
            .when(pl.col("source") == "feedback_correction_pair")
            .then("correction")
            .when(pl.col("source") == "feedback_preference")
            .then("preferred")
            .otherwise("answer")
            .alias("target")
        )
    return told.with_columns(
        pl.concat_str("context", "query", separator="\n\n", ignore_nulls=True).alias("prompt"),
        pl.when(pl.col("format").is_in(["preference", "correction"])).then("answer").alias("rejected"),
        pl.col("target").alias("answer"),
    )


def _partner_answers(texts: SourceTexts, rows: pl.DataFrame) -> pl.DataFrame:
    pairs = rows.filter(pl.col("partner_id").is_not_null()).select(
        "id", pl.col("partner_id").alias("origin_id"), "partner_event_date", "has_items"
    )
    if pairs.is_empty():
        return pl.DataFrame(schema={"id": pl.String, "partner_answer": pl.String})
    found = texts.of_feedback(_days(pairs["partner_event_date"]), pairs, ["answer"])
    return found.select("id", pl.col("answer").alias("partner_answer"))


def _days(days: pl.Series) -> Sequence[date]:
    return sorted(set(days))


def _leaks(run: MillRun) -> int:
    """What is for evaluation, and known to the training side: by its prompt, or because its answer was told in a context."""
    rows = queries.fetch(run.lake, REMAINING, run.params, run.config.memory_limit_mb)
    trained = rows.filter(~pl.col("is_evaluation")).select("component").unique()
    is_known = pl.col("is_crossing") if run.config.split_by == "prompt" else pl.lit(True)
    evaluated = rows.filter("is_evaluation")
    found = evaluated.filter(is_known)
    if run.config.split_by != "prompt":
        found = found.join(trained, on="component", how="semi")
    left = rows.join(found.select("id"), on="id", how="anti")
    told = told_in_contexts(left, SourceTexts(run.lake, run.config.mask_allow), record_texts)
    ids = pl.concat([found["id"], told]).unique().sort()
    return store(run.lake, LEAKS, [ids.to_frame("id")])


_MAKERS: dict[str, Callable[[MillRun], int]] = {
    CONTENDERS: partial(_by_query, table=CONTENDERS),
    RECIPES: _recipes,
    DUPLICATES: partial(_by_query, table=DUPLICATES),
    NEAR: _near_duplicates,
    LEAKS: _leaks,
}
_QUERIES = {
    CONTENDERS: (CONTENDERS,),
    RECIPES: (DISTINCT,),
    DUPLICATES: (DUPLICATES,),
    NEAR: (DISTINCT,),
    LEAKS: (REMAINING,),
}
