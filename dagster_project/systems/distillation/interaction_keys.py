"""What identifies a distilled interaction (D2), computed while its texts are in memory and kept in the raw tables.

`prompt_key` and `interaction_key` (hash of the normalised response) say which rows are one interaction; `thought_id` is
the id the chain of thought of a legacy interaction got when it was written: md5(prompt + response[:100])[:12].
"""

import polars as pl
import polars_hash

from dagster_project.columns.json_columns import string_items
from dagster_project.columns.text_keys import normal_prompts, prompt_keys

RESPONSES = {
    "distillation_examples": ("query", "claude_response"),
    "examples": ("query", "claude_response"),
    "raw_interactions": ("prompt", "response"),
    "chain_of_thought": ("prompt", "rebuilt_response"),
    "preference_pairs": ("prompt", "good_response"),
}


def with_interaction_keys(rows: pl.DataFrame, table: str, split_key: str) -> pl.DataFrame:
    """The rows with their keys."""
    if table == "chain_of_thought":
        rows = rows.with_columns(rebuilt_response(rows).alias("rebuilt_response"))
    prompt, response = RESPONSES[table]
    keys = prompt_keys(rows[prompt], split_key).with_columns(
        normal_prompts(rows[response]).hash().reinterpret(signed=True).alias("interaction_key")
    )
    rows = rows.drop("rebuilt_response", *keys.columns, "thought_id", strict=False).hstack(keys)
    if table == "raw_interactions":
        told = rows.select(pl.concat_str("prompt", pl.col("response").str.slice(0, 100)).alias("told"))
        rows = rows.with_columns(told.select(polars_hash.col("told").nchash.md5().str.head(12).alias("thought_id")))
    return rows


def rebuilt_response(rows: pl.DataFrame) -> pl.Series:
    """A chain of thought has no full response: its steps, one a line, then its final answer."""
    steps = string_items(rows["reasoning_steps"]).alias("steps")
    told = pl.col("steps").list.eval(pl.element().filter(pl.element() != "")).list.join("\n")
    answer = pl.when(pl.col("final_answer") != "").then(pl.col("final_answer"))
    parts = rows.select("final_answer", steps).select(
        pl.when(told != "").then(told).alias("told"), answer.alias("answer")
    )
    return parts.select(
        pl.concat_str("told", "answer", separator="\n\n", ignore_nulls=True).alias("response")
    ).to_series()
