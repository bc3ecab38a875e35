"""A record's conversation as every trainer can take it (T7): a system message or none, then user and assistant in turn.

Contexts come from logs: two messages in a row by one person, an assistant that speaks first, results of tools. Some chat
templates and most hosted trainers refuse those, so they are told in words, nothing is lost, and it is counted. A conversation
that is in order already, as nearly all are, is passed on as it is.
"""

from collections import Counter

import polars as pl
import pyarrow as pa

TURN = pl.Struct({"role": pl.String, "content": pl.String})
OF_A_TOOL = "Result of a tool:\n\n"
OPENING = "The assistant opened the conversation:\n\n"
BETWEEN = "\n\n"  # stands between turns of one speaker that are told as one
ROLES = ("system", "user", "assistant")
# How many of the last messages are the record itself; what stands before them is its context.
OWN_TURNS = {"instruction": 2, "cot": 2, "correction": 4, "preference": 1, "unpaired": 1}


def turns(messages: pl.Series) -> pl.DataFrame:
    """One row a turn: number of the record, place in it, role, content. No conversation is empty."""
    count = messages.list.len()
    rows = pl.int_range(messages.len(), dtype=pl.UInt32, eager=True)
    flat = messages.explode(empty_as_null=False)
    return pl.DataFrame(
        {
            "row": pl.select(pl.lit(rows).repeat_by(count).explode(empty_as_null=False)).to_series(),
            "role": flat.struct.field("role"),
            "content": flat.struct.field("content"),
        }
    ).with_columns(pl.int_range(pl.len(), dtype=pl.UInt32).alias("place"))


def like(messages: pl.Series, fields: pl.DataFrame, sizes: pl.Series | None = None) -> pl.Series:
    """Conversations whose turns have these fields; as many as those of `messages`, where no sizes are given."""
    ends = (messages.list.len() if sizes is None else sizes).cast(pl.Int64).cum_sum()
    offsets = pl.concat([pl.Series([0], dtype=pl.Int64), ends]).to_arrow()
    flat = fields.to_struct("turn").to_arrow()
    found = pl.from_arrow(pa.LargeListArray.from_arrays(offsets, flat))
    assert isinstance(found, pl.Series)
    return found.alias(messages.name)


def alternating(messages: pl.Series, cut: pl.Series | None = None) -> tuple[pl.Series, Counter[str]]:
    """The conversations in order, and what had to be told another way. `cut`: how many of the oldest turns to leave out."""
    told: Counter[str] = Counter()
    if not messages.len():
        return messages, told
    flat = turns(messages)
    wrong = flat.filter(_is_out_of_order())["row"].unique()
    if cut is not None:
        wrong = pl.concat([wrong, cut.gt(0).arg_true().cast(pl.UInt32)]).unique()
    if not wrong.len():
        return messages, told
    among = flat.filter(pl.col("row").is_in(wrong.implode()))
    if cut is not None:
        among = without_oldest(among, cut)
    mended = _mended(among, told)
    rows = pl.int_range(messages.len(), dtype=pl.UInt32, eager=True)
    whole = pl.DataFrame({"row": rows, "messages": messages}).filter(~pl.col("row").is_in(wrong.implode()))
    return pl.concat([whole, mended]).sort("row")["messages"].alias(messages.name), told


def without_oldest(flat: pl.DataFrame, cut: pl.Series) -> pl.DataFrame:
    """System messages say what holds throughout: they are not cut."""
    limits = pl.DataFrame({"row": pl.int_range(cut.len(), dtype=pl.UInt32, eager=True), "cut": cut})
    age = (pl.col("role") != "system").cum_sum().over("row")
    return (
        flat.join(limits, on="row", how="left", maintain_order="left")
        .filter((pl.col("role") == "system") | (age > pl.col("cut")))
        .drop("cut")
    )


def is_blank() -> pl.Expr:
    return ~pl.col("content").fill_null("").str.contains(r"\S")


def _is_out_of_order() -> pl.Expr:
    role, before = pl.col("role"), pl.col("role").shift()
    is_first = (pl.col("row") != pl.col("row").shift()).fill_null(True)
    return (
        ~role.is_in(ROLES)
        | is_blank()
        | (~is_first & ((role == before) | (role == "system")))
        | ((role == "assistant") & (is_first | (before == "system")))
    )


def in_words(flat: pl.DataFrame, told: Counter[str]) -> pl.DataFrame:
    """Without blank turns; what a tool gave, and what an assistant said before anybody asked, in words of the other roles."""
    spoken = flat.filter(~is_blank())
    told["blank"] += flat.height - spoken.height
    is_tool = pl.col("role") == "tool"
    spoken = spoken.with_columns(is_tool.alias("is_tool")).with_columns(
        pl.when(is_tool).then(pl.lit("user")).otherwise("role").alias("role"),
        pl.when(is_tool).then(pl.lit(OF_A_TOOL) + pl.col("content")).otherwise("content").alias("content"),
    )
    told["tool"] += int(spoken["is_tool"].sum())
    asked = (pl.col("role") == "user").cum_sum().over("row")
    spoken = spoken.with_columns(((pl.col("role") == "assistant") & (asked == 0)).alias("is_opening"))
    told["opening"] += int(spoken["is_opening"].sum())
    return spoken.with_columns(
        pl.when("is_opening").then(pl.lit("system")).otherwise("role").alias("role"),
        pl.when("is_opening").then(pl.lit(OPENING) + pl.col("content")).otherwise("content").alias("content"),
    ).select("row", "place", "role", "content")


def _mended(flat: pl.DataFrame, told: Counter[str]) -> pl.DataFrame:
    spoken = in_words(flat, told).sort("row", pl.col("role") != "system", "place", maintain_order=True)
    speaker = pl.struct("row", "role").rle_id().alias("speaker")
    joined = (
        spoken.with_columns(speaker)
        .group_by("speaker", maintain_order=True)
        .agg(pl.col("row", "role").first(), pl.col("content").str.join(BETWEEN))
    )
    told["joined"] += spoken.height - joined.height
    return joined.group_by("row", maintain_order=True).agg(pl.struct("role", "content").alias("messages"))
