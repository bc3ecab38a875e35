"""What targets are made of: a shape is a file per split, its rows a pure mapping of records to the columns of that file.

Records come with `id`, `messages` whose turns alternate (`conversations`), `weight` unless drawn by weight, and the answers
of their format.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from dagster_project.training.export.asked import Asked
from dagster_project.training.export.conversations import like, turns

Rows = Callable[[pl.DataFrame], pl.DataFrame]
SFT = ("instruction", "cot", "correction")
DISLIKED_TOO = (
    "among `unpaired` are the answers people disliked, and {target} would learn to give them:"
    " export instruction for the liked ones, or preference{instead}"
)


@dataclass(frozen=True)
class Shape:
    """One file per split. A target's first shape has no name of its own: its files are called after their splits."""

    rows: Rows
    name: str = ""
    config: str = ""  # of the card; the format's name where nothing is said
    without_null_keys: tuple[str, ...] = ()  # keys of turns that are left out where they are null

    def file(self, split: str, suffix: str) -> str:
        return f"{split}{'.' + self.name if self.name else ''}{suffix}"


@dataclass(frozen=True)
class Files:
    """What was written, for the files beside it: the card, a trainer's own configuration."""

    asked: Asked
    release: str
    names: Mapping[str, Mapping[str, str]]  # shape -> split -> file


@dataclass(frozen=True)
class Target:
    """A trainer's way to take records."""

    name: str
    shapes: Mapping[str, tuple[Shape, ...]]  # by format
    refusals: Mapping[str, str]  # by format: why not, and what instead
    notes: Callable[[str], tuple[str, ...]]  # what whoever trains must know, by format
    weight: str = ""  # what carries a record's weight; nothing: --resample is the way
    beside: Callable[[Files], Mapping[str, str]] = field(default=lambda files: {})
    suffix: str = ".jsonl"
    is_retold: bool = True  # conversations are brought into order; else every turn stays as it was


def has_weight(records: pl.DataFrame) -> list[str]:
    return ["weight"] if "weight" in records.columns else []


def before_the_answer(messages: str = "messages") -> pl.Expr:
    return pl.col(messages).list.head(pl.col(messages).list.len() - 1)


def the_answer(messages: str = "messages") -> pl.Expr:
    return pl.col(messages).list.tail(1)


def answered(column: str) -> pl.Expr:
    """A text as the assistant's message."""
    return pl.struct(pl.lit("assistant").alias("role"), pl.col(column).alias("content")).alias(column)


def answered_list(column: str) -> pl.Expr:
    """The same as a conversation of one message."""
    return pl.concat_list(answered(column)).alias(column)


def with_answer(column: str) -> pl.Expr:
    return pl.concat_list("messages", answered_list(column)).alias("messages")


def only_last_is_learned(records: pl.DataFrame, name: str, learned: Any, read: Any, everywhere: bool) -> pl.Series:
    """`messages` whose assistant turns say whether they are learned: of several only the last is, the others are what was said
    before, or an answer that was wrong. A conversation with one answer, and turns of others, say it only if `everywhere`."""
    flat = turns(records["messages"])
    is_last = pl.int_range(pl.len()).over("row") == pl.len().over("row") - 1
    is_answer = pl.col("role") == "assistant"
    told = pl.when(is_last & is_answer).then(pl.lit(learned)).otherwise(pl.lit(read))
    if not everywhere:
        told = pl.when(is_answer & (is_answer.sum().over("row") > 1)).then(told)
    return like(records["messages"], flat.select("role", "content", told.alias(name)))
