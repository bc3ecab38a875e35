"""What an answer to a survey must be: who gave it may be unknown, what and when may not."""

import polars as pl
from dagster_project.systems.surveys import source as surveys

from dagster_project.columns.instants import INSTANT
from dagster_project.columns.words import word
from dagster_project.contracts.checks import filled, holds, not_null, source_schema

WORDS = ("yes", "no", "unsure")
ANSWERS = source_schema(
    surveys.ANSWERS,
    [
        filled("id"),
        filled("answer"),
        holds("unknown:answer", (pl.col("answer") == "") | word("answer").is_in(WORDS)),
        not_null("answered_at"),
        holds("out_of_range:answered_at", pl.col("answered_at").is_null() | pl.col("occurred_at").is_not_null()),
    ],
    derived={"occurred_at": INSTANT, "language": pl.String},
)
