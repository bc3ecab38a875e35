"""How many tokens a record has, and what has to go where that is too many: the oldest turns of its context, or all of it.

Counted are the texts, without what a chat template puts around them. System messages and the record's own turns are never cut,
a cut conversation begins with a user's turn, and a record that had a conversation before it never leaves without any.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from dagster_project.errors import GristmillError
from dagster_project.training.export.conversations import BETWEEN, OF_A_TOOL, OPENING, OWN_TURNS, turns

CHARS = "chars"  # four characters are a token, as in quality flags (D4); no file needed
CHARACTERS_A_TOKEN = 4
ANSWERS = {"preference": ("chosen", "rejected"), "unpaired": ("completion",)}

Counter = Callable[[pl.Series], pl.Series]


def tokenizer(name: str) -> tuple[Counter, dict[str, Any]]:
    """What counts tokens, and what `export.json` says of it. `name`: `chars`, a tokenizer.json, or the folder it lies in."""
    if name == CHARS:
        return _quarters, {"name": CHARS}
    path = Path(name)
    file = path / "tokenizer.json" if path.is_dir() else path
    if not file.is_file():
        raise GristmillError(
            f"--tokenizer {name}: no such file; it is `{CHARS}`, a tokenizer.json or the folder of one (nothing is downloaded)"
        )
    from tokenizers import Tokenizer  # noqa: PLC0415  only where it is asked for

    try:
        loaded = Tokenizer.from_file(str(file))
    except Exception as error:  # the library raises nothing more exact
        raise GristmillError(f"--tokenizer {name}: not a tokenizer ({' '.join(str(error).split())})") from error
    loaded.no_truncation()
    loaded.no_padding()

    def count(texts: pl.Series) -> pl.Series:
        found = loaded.encode_batch_fast(texts.to_list(), add_special_tokens=False)
        return pl.Series("tokens", [len(one) for one in found], dtype=pl.Int64)

    return count, {"name": file.name, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}


def _quarters(texts: pl.Series) -> pl.Series:
    return ((texts.str.len_chars().cast(pl.Int64) + CHARACTERS_A_TOKEN - 1) // CHARACTERS_A_TOKEN).alias("tokens")


def fitted(rows: pl.DataFrame, format: str, count: Counter, most: int) -> pl.DataFrame:
    """`cut`: how many of the oldest turns must go; `is_too_long`: cutting does not help."""
    answers = [count(rows[name]) for name in ANSWERS.get(format, ())]
    answer = pl.select(pl.max_horizontal(answers)).to_series() if answers else pl.zeros(rows.height, eager=True)
    is_own = pl.len().over("row") - pl.int_range(pl.len()).over("row") <= OWN_TURNS[format]
    flat = turns(rows["messages"]).with_columns(is_own.alias("is_own"))
    flat = flat.with_columns(_tokens(flat, count))
    stays = pl.col("is_own") | (pl.col("role") == "system")
    fixed = flat.filter(stays).group_by("row").agg(pl.col("tokens").sum().alias("fixed"))
    budget = pl.DataFrame({"row": pl.int_range(rows.height, dtype=pl.UInt32, eager=True), "answer": answer})
    budget = budget.join(fixed, on="row", how="left").select("row", left=most - pl.col("fixed") - pl.col("answer"))
    before = (
        flat.filter(~stays)
        .join(budget, on="row", how="left", maintain_order="left")
        .with_columns(pl.col("tokens").cum_sum(reverse=True).over("row").alias("from_here"))
        .with_columns((pl.col("from_here") <= pl.col("left")).alias("fits"))
    )
    # a cut conversation begins where a user speaks
    is_start = pl.col("fits") & (pl.col("role") == "user")
    found = before.group_by("row").agg(
        pl.col("fits").all().alias("fits"),
        is_start.arg_max().cast(pl.UInt32).alias("start"),
        is_start.any().alias("is_left"),
    )
    return (
        budget.join(found, on="row", how="left")
        .sort("row")
        .select(
            cut=pl.when(pl.col("fits").fill_null(True)).then(0).otherwise("start").cast(pl.UInt32),
            is_too_long=(pl.col("left") < 0) | ~(pl.col("fits") | pl.col("is_left")).fill_null(True),
        )
    )


def _tokens(flat: pl.DataFrame, count: Counter) -> pl.Series:
    """Of each turn as it would be told; one of the context with the blank line that may join it to the next."""
    asked = (pl.col("role") == "user").cum_sum().over("row")
    context = pl.concat_str(
        pl.when(pl.col("role") == "tool").then(pl.lit(OF_A_TOOL)).otherwise(pl.lit("")),
        pl.when((pl.col("role") == "assistant") & (asked == 0)).then(pl.lit(OPENING)).otherwise(pl.lit("")),
        pl.col("content"),
        pl.lit(BETWEEN),
    )
    return count(flat.select(pl.when("is_own").then("content").otherwise(context)).to_series())
