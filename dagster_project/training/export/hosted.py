"""For trainers one sends a file to: OpenAI, Fireworks, Together. Strict: a key they do not know fails the file.

All take chats, whose assistant messages may say `weight` 0 (read, not learned) or 1, and pairs in OpenAI's shape.
"""

import polars as pl

from dagster_project.training.export.shapes import (
    DISLIKED_TOO,
    SFT,
    Shape,
    Target,
    answered_list,
    has_weight,
    only_last_is_learned,
)


def chat(records: pl.DataFrame) -> pl.DataFrame:
    messages = only_last_is_learned(records, "weight", learned=1, read=0, everywhere=False)
    return pl.DataFrame({"messages": messages})


def weighed_chat(records: pl.DataFrame) -> pl.DataFrame:
    return chat(records).with_columns(records.select(has_weight(records)))


def pair(records: pl.DataFrame) -> pl.DataFrame:
    return records.select(
        pl.struct("messages").alias("input"),
        answered_list("chosen").alias("preferred_output"),
        answered_list("rejected").alias("non_preferred_output"),
    )


def weighed_pair(records: pl.DataFrame) -> pl.DataFrame:
    return pair(records).with_columns(records.select(has_weight(records)))


def _shapes(chats: Shape, pairs: Shape) -> dict[str, tuple[Shape, ...]]:
    return {**dict.fromkeys(SFT, (chats,)), "preference": (pairs,)}


def _notes(*said: str):
    only_last = "Only the last answer of a record is learned: earlier ones have `weight` 0."

    def notes(format: str) -> tuple[str, ...]:
        return (*((only_last,) if format in SFT else ()), *said)

    return notes


def _refusals(target: str) -> dict[str, str]:
    return {"unpaired": DISLIKED_TOO.format(target=target, instead="; trl, llamafactory and axolotl take it for KTO")}


OPENAI = Target(
    "openai",
    _shapes(Shape(chat, without_null_keys=("weight",)), Shape(pair)),
    _refusals("openai"),
    _notes("Records have no weight here; `--resample` draws a file by weight.", "A file needs 10 records."),
)
TOGETHER = Target(
    "together",
    _shapes(Shape(chat, without_null_keys=("weight",)), Shape(pair)),
    _refusals("together"),
    _notes("Together refuses a record's own `weight`; `--resample` draws a file by weight."),
)
FIREWORKS = Target(
    "fireworks",
    _shapes(Shape(weighed_chat, without_null_keys=("weight",)), Shape(weighed_pair)),
    _refusals("fireworks"),
    _notes("`weight` of a record multiplies its loss; it is 1 on average.", "A file needs 3 records."),
    weight="weight",
)
