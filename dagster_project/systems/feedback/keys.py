"""What the set logic needs to know of each feedback row: vocabularies, keys, lengths; no text but short comments.

Computed once per day, while the day's text is in memory, and kept (`core__feedback_keys`); everything that depends on
other rows is SQL over this table. Keys of 64 bits are only compared within the same answer, prompt or response. An empty
text is equal to no other text (F1): its keys are null.
"""

import polars as pl

from dagster_project.columns.error_type import error_type
from dagster_project.columns.instants import INSTANT
from dagster_project.columns.templates import correction_output
from dagster_project.columns.text_keys import (
    are_loosely_equal,
    has_text,
    hash_or_null,
    loose_answers,
    normal_answers,
    prompt_keys,
    thread_keys,
)
from dagster_project.columns.unseen_attempt import talks_of_unseen_attempt
from dagster_project.columns.words import known_or, word
from dagster_project.contracts.columns import DOMAINS
from dagster_project.systems.feedback.columns import CORRECTION_TYPES, FLAG_TYPES
from dagster_project.systems.feedback.source import CONTENT

COMMENT_LENGTH = 80
WHOLE_CORRECTIONS = ("full_replacement", "clarification")  # others mend a part and never stand as an answer (F6)
LONG_ANSWER, LEAST_SHARE_PCT = 100, 30


def feedback_keys(entries: pl.DataFrame, split_key: str) -> pl.DataFrame:
    """One row per entry, in the same order."""
    hashes = prompt_keys(entries["original_query"], split_key).with_columns(
        hash_or_null(normal_answers(entries["original_response"])).alias("answer_hash"),
        hash_or_null(normal_answers(entries["correction"])).alias("correction_hash"),
        hash_or_null(normal_answers(entries["preferred_response"])).alias("preferred_hash"),
    )
    hashes = hashes.with_columns(
        thread_keys(hashes.select("prompt_key", entries["conversation_context"])).alias("thread_key")
    )
    rows = entries.hstack(hashes).with_columns(
        has_text("original_query").alias("has_query"), has_text("original_response").alias("has_answer")
    )
    rows = rows.with_columns(
        pl.when("has_query").then("thread_key").alias("thread_key"),
        pl.when("has_answer").then("answer_hash").alias("answer_hash"),
    )
    rows = rows.with_columns(
        word("feedback_type").alias("feedback_type"),
        _known_id("user_id").alias("user_id"),
        _known_id("session_id").alias("session_id"),
        known_or("correction_type", CORRECTION_TYPES, None).alias("correction_word"),
        pl.when(word("feedback_type") == "flag").then(known_or("flag_type", FLAG_TYPES, "other")).alias("flag_word"),
        known_or("domain", DOMAINS, "general").alias("domain"),
        _rating_sentiment().alias("rating_sentiment"),
    )
    rows = rows.with_columns(_is_comment().alias("is_comment")).with_columns(
        pl.when("is_comment").then(pl.lit("rating")).otherwise("feedback_type").alias("effective_type"),
        _voter().alias("voter_id"),
    )
    rows = rows.with_columns(pl.when(pl.col("effective_type") == "rating").then("rating_sentiment").alias("sentiment"))
    is_rating = pl.col("effective_type") == "rating"
    is_correction = pl.col("effective_type") == "correction"
    said = pl.when(~is_rating).then(pl.struct("feedback_type", *CONTENT).hash())
    has_texts = pl.col("has_query") & pl.col("has_answer")
    rows = rows.with_columns(
        pl.when(has_texts)
        .then(pl.struct("thread_key", "answer_hash").hash().reinterpret(signed=True))
        .alias("answer_key"),
        pl.struct(pl.col("voter_id"), pl.col("response_id"), is_rating.alias("is_rating"), said.alias("said"))
        .hash()
        .reinterpret(signed=True)
        .alias("voice_key"),
    )
    return rows.select(
        "feedback_id",
        "response_id",
        "session_id",
        "user_id",
        "voter_id",
        pl.col("occurred_at").cast(INSTANT),
        "event_date",
        "feedback_type",
        "effective_type",
        "sentiment",
        pl.when("is_comment").then("correction").alias("comment"),
        "rating",
        "rating_scale",
        pl.when(is_correction).then("correction_word").alias("correction_type"),
        pl.col("flag_word").alias("flag_type"),
        "domain",
        _error_types(rows).alias("error_type"),
        "response_confidence",
        (pl.col("escalated_to_claude") == 1).fill_null(False).alias("is_escalated"),
        (pl.col("processed") != 0).fill_null(False).alias("is_processed"),
        pl.col("quality_weight").alias("source_quality_weight"),
        pl.when(is_correction)
        .then(pl.col("what_was_wrong").str.len_chars())
        .cast(pl.Int64)
        .alias("what_was_wrong_length"),
        pl.when(is_correction).then(pl.col("correction").str.len_chars()).cast(pl.Int64).alias("correction_length"),
        pl.when(pl.col("effective_type") == "preference")
        .then(pl.col("comparison_basis").str.len_chars())
        .cast(pl.Int64)
        .alias("comparison_basis_length"),
        "has_query",
        "has_answer",
        "prompt_key",
        "split",
        response_key(),
        "voice_key",
        "thread_key",
        "answer_key",
        "answer_hash",
        "correction_hash",
        "preferred_hash",
        _record_hash(rows).alias("record_hash"),
        *_target_signs(rows),
    )


def _target_signs(rows: pl.DataFrame) -> list[pl.Series]:
    """What speaks against an answer as the better one of a pair, or as the answer to give (F6, T1). For rows with texts."""
    kind, has_texts = rows["effective_type"], rows["answer_key"].is_not_null()
    is_voted = rows["sentiment"].is_in(["positive", "negative"]) & has_texts
    is_whole = rows["correction_word"].is_in(WHOLE_CORRECTIONS).fill_null(False)
    is_pair = (((kind == "correction") & is_whole) | (kind == "preference")) & has_texts
    pairs = rows.filter(is_pair).select(
        "original_response",
        "correction",
        "effective_type",
        pl.coalesce(pl.when(pl.col("effective_type") == "correction").then("correction"), "preferred_response").alias(
            "better"
        ),
    )
    fragments = pairs.select(
        (pl.col("effective_type") == "correction")
        & (pl.col("original_response").str.len_chars() >= LONG_ANSWER)
        & (100 * pl.col("correction").str.len_chars() < LEAST_SHARE_PCT * pl.col("original_response").str.len_chars())
    ).to_series()
    respaced = are_loosely_equal(normal_answers(pairs["better"]), normal_answers(pairs["original_response"]))
    is_taught = is_pair | ((rows["sentiment"] == "positive").fill_null(False) & has_texts)
    taught = rows.filter(is_taught).select(
        pl.when(kind.filter(is_taught) == "correction")
        .then("correction")
        .when(kind.filter(is_taught) == "preference")
        .then("preferred_response")
        .otherwise("original_response")
        .alias("target"),
        pl.concat_str("conversation_context", "original_query", separator="\n\n", ignore_nulls=True).alias("asked"),
    )
    unseen = talks_of_unseen_attempt(taught["target"], taught["asked"])
    return [
        _scattered(fragments, is_pair).alias("is_fragment"),
        _scattered(respaced, is_pair).alias("is_respaced"),
        _scattered(hash_or_null(_loose(rows["original_response"].filter(is_voted))), is_voted).alias("loose_hash"),
        _scattered(unseen, is_taught).alias("is_unseen_attempt"),
    ]


def _loose(answers: pl.Series) -> pl.Series:
    """Space before and after an answer is none of its own (G10), so it cannot make code of its first line."""
    return loose_answers(normal_answers(answers))


def _error_types(rows: pl.DataFrame) -> pl.Series:
    """F9, for corrections only: the patterns are the costliest thing here."""
    is_correction = rows["effective_type"] == "correction"
    lengths = (pl.col(name).str.len_chars() for name in ("original_response", "correction"))
    kinds = rows.filter(is_correction).select(error_type(pl.col("what_was_wrong"), pl.col("correction_word"), *lengths))
    return _scattered(kinds.to_series(), is_correction)


def _record_hash(rows: pl.DataFrame) -> pl.Series:
    """Equality of what a correction record says (T2): the answer it quotes, and its output as it would be written."""
    is_correction = rows["effective_type"] == "correction"
    corrections = rows.filter(is_correction)
    outputs = normal_answers(corrections.select(correction_output()).to_series())
    said = corrections.select("answer_hash").with_columns(outputs.alias("output")).hash_rows()
    return _scattered(said.reinterpret(signed=True), is_correction)


def _scattered(values: pl.Series, places: pl.Series) -> pl.Series:
    """Values of a part of the rows at the places they belong to, null elsewhere."""
    everywhere = pl.Series(values.name, [None], dtype=values.dtype).new_from_index(0, len(places))
    return everywhere.scatter(places.arg_true(), values) if len(values) else everywhere


def _rating_sentiment() -> pl.Expr:
    """F2: positive, negative or neutral on the configured scale; thumbs have no neutral."""
    up = pl.when(pl.col("rating_scale") == "five").then(4).otherwise(1)
    down = pl.when(pl.col("rating_scale") == "five").then(2).otherwise(-1)
    return (
        pl.when(pl.col("rating") >= up)
        .then(pl.lit("positive"))
        .when(pl.col("rating") <= down)
        .then(pl.lit("negative"))
        .when(pl.col("rating").is_not_null())
        .then(pl.lit("neutral"))
    )


def _is_comment() -> pl.Expr:
    """F7: a bare remark on a thumb, which the source stores as a correction."""
    bare = (pl.col("feedback_type") == "correction") & ~has_text("correction_type") & ~has_text("what_was_wrong")
    short = (pl.col("correction").str.len_chars() <= COMMENT_LENGTH) & ~pl.col("correction").str.contains(r"[\n\r]")
    positive, negative = (pl.col("rating_sentiment") == word for word in ("positive", "negative"))
    return (bare & (negative | (positive & short))).fill_null(False)


def _voter() -> pl.Expr:
    """F3: the person, else the session, else nobody but this row."""
    return pl.coalesce(
        pl.concat_str(pl.lit("user:"), "user_id"),
        pl.concat_str(pl.lit("session:"), "session_id"),
        pl.concat_str(pl.lit("row:"), "feedback_id"),
    )


def response_key() -> pl.Expr:
    return pl.col("response_id").hash().reinterpret(signed=True).alias("response_key")


def _known_id(column: str) -> pl.Expr:
    """G9: '' and 'default' mean unknown."""
    return pl.when(~pl.col(column).is_in(["", "default"])).then(pl.col(column))
