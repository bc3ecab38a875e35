"""How a training record reads, per system and format: expressions over a candidate and its texts (F6, D7, T4).

`chosen` of a rating pair is another row's answer; it arrives in the column `partner_response`.
"""

import polars as pl

from dagster_project.columns.spaces import SPACES
from dagster_project.columns.words import filled

# What follows the fields of a JSONL record, the same for all formats (T4).
IDENTITY = tuple(
    """
    context id content_id source quality_weight base_weight tier domain language origin_ids
""".split()
)
SPLITS = ("train", "validation", "test", "augmentation")


def correction_instruction() -> pl.Expr:
    return pl.format(
        "SAM said: '{}'\n\nWhat was the issue and how should it be corrected?", pl.col("original_response")
    )


def correction_output() -> pl.Expr:
    issue = with_full_stop(pl.col("what_was_wrong"))
    answer = pl.format("Corrected answer: {}", pl.col("correction"))
    return pl.when(issue != "").then(pl.format("The issue was: {}\n\n{}", issue, answer)).otherwise(answer)


def with_full_stop(text: pl.Expr) -> pl.Expr:
    """Trimmed, and ended with a full stop unless it ends in one of `.!?`; empty stays empty."""
    trimmed = text.fill_null("").str.strip_chars(SPACES)
    is_open = (trimmed != "") & ~trimmed.str.tail(1).is_in([".", "!", "?"])
    return pl.when(is_open).then(pl.concat_str(trimmed, pl.lit("."))).otherwise(trimmed)


def _chosen() -> pl.Expr:
    return (
        pl.when(pl.col("source") == "feedback_correction_pair")
        .then(pl.col("correction"))
        .when(pl.col("source") == "feedback_preference")
        .then(pl.col("preferred_response"))
        .otherwise(pl.col("partner_response"))
    )


FEEDBACK: dict[str, tuple[pl.Expr, ...]] = {
    "instruction": (
        pl.col("original_query").alias("instruction"),
        pl.lit("").alias("input"),
        pl.col("original_response").alias("output"),
    ),
    "correction": (
        correction_instruction().alias("instruction"),
        pl.col("original_query").alias("input"),
        correction_output().alias("output"),
        pl.col("error_type"),
    ),
    "preference": (
        pl.col("original_query").alias("prompt"),
        _chosen().alias("chosen"),
        pl.col("original_response").alias("rejected"),
        pl.col("votes_for"),
        pl.col("votes_against"),
    ),
    "unpaired": (
        pl.col("original_query").alias("prompt"),
        pl.col("original_response").alias("completion"),
        pl.col("label"),
    ),
}
_TOLD = (
    pl.col("query").alias("instruction"),
    pl.lit("").alias("input"),
    pl.col("claude_response").alias("output"),
)
DISTILLATION: dict[str, tuple[pl.Expr, ...]] = {
    "instruction": _TOLD,
    "cot": _TOLD,
    "correction": (
        pl.format("Here's what I said: {} What should I have said instead?", with_full_stop(pl.col("attempt"))).alias(
            "instruction"
        ),
        pl.format("Original question: {}\n\nMy answer: {}", pl.col("query"), pl.col("attempt")).alias("input"),
        pl.format("Your answer has an error. Here's what you should have said:\n\n{}", pl.col("claude_response")).alias(
            "output"
        ),
        pl.col("error_type"),
    ),
    "preference": (
        pl.col("query").alias("prompt"),
        pl.col("claude_response").alias("chosen"),
        pl.col("attempt").alias("rejected"),
        pl.col("votes_for"),
        pl.col("votes_against"),
    ),
}


def context(column: str) -> pl.Expr:
    """A context without a word is none; it leaves as null."""
    return filled(column).alias("context")
