"""What a reaction, and a turn log, must be: id, time, conversation and turn; and what a reaction's JSON must say (R1, G8)."""

import polars as pl

from dagster_project.columns.instants import INSTANT
from dagster_project.contracts.checks import filled, holds, not_null, source_schema
from dagster_project.systems.reactions import source as reactions
from dagster_project.systems.reactions.columns import ORIGINS
from dagster_project.systems.reactions.columns import REACTIONS as WORDS

_TURN = holds("bad_text:turn_id", ~pl.col("turn_id").str.contains("\0", literal=True))
_PLACE = (
    not_null("id"),
    not_null("ts"),
    holds("out_of_range:ts", pl.col("ts").is_null() | pl.col("occurred_at").is_not_null()),
    filled("conversation_id"),
    not_null("turn_id"),
)
REACTIONS = source_schema(
    reactions.ROWS,
    [
        _TURN,
        holds("bad_json:text", pl.col("text").is_null() | pl.col("is_object")),
        holds("wrong_type:text", ~pl.col("has_odd_text"), "text"),
        holds("bad_text:text", ~pl.col("reaction_text").str.contains("\0", literal=True)),
        holds("wrong_type:reaction", ~pl.col("has_odd_reaction")),
        holds("unknown:reaction", pl.col("reaction").is_in(WORDS)),
        holds("wrong_type:origin", ~pl.col("has_odd_origin")),
        holds("unknown:origin", pl.col("origin").is_in(ORIGINS)),
        holds("wrong_type:confidence", ~pl.col("has_odd_confidence")),
        holds("not_finite:confidence", pl.col("confidence").is_finite()),
        holds("out_of_range:confidence", ~pl.col("confidence").is_finite() | pl.col("confidence").is_between(0, 1)),
        *_PLACE,
        not_null("text"),
    ],
    derived={
        "occurred_at": INSTANT,
        "is_object": pl.Boolean,
        "reaction_text": pl.String,
        "reaction": pl.String,
        "origin": pl.String,
        "confidence": pl.Float64,
        **{f"has_odd_{name}": pl.Boolean for name in ("text", "reaction", "origin", "confidence")},
    },
)
TURN_LOGS = source_schema(reactions.TURN_LOGS, [_TURN, *_PLACE], derived={"occurred_at": INSTANT})
DATED = {"raw_reactions__reactions": REACTIONS, "raw_reactions__turn_logs": TURN_LOGS}
