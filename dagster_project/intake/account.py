"""Where the rows of a source table went in a run (G3), and what of them we do not know (G5, G8)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

import polars as pl

from dagster_project.columns.words import word
from dagster_project.contracts import TABLES
from dagster_project.engines import reading
from dagster_project.intake.stage import Stage


@dataclass
class Account:
    """What a run did with a source table, and whether its rows add up."""

    days_read: list[date] = field(default_factory=list)
    read: int = 0
    kept: int = 0
    quarantined: int = 0
    copies: int = 0
    not_sampled: int = 0
    waiting: int = 0
    changed_days: list[date] = field(default_factory=list)
    missing_columns: list[str] = field(default_factory=list)
    unknown_columns: list[str] = field(default_factory=list)
    unknown_words: dict[str, int] = field(default_factory=dict)

    @property
    def adds_up(self) -> bool:
        return self.read == self.kept + self.quarantined + self.copies + self.not_sampled


def unknown_words(run: Stage, table: str, vocabularies: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Values of open vocabularies we do not know, with how often they occur (G8); of lists, those of their items."""
    rows = reading.scan(run.lake, table)
    found: dict[str, int] = {}
    for column, known in vocabularies.items():
        values = rows.select(pl.col(column).alias("word"))
        if isinstance(TABLES[table].polars_schema[column], pl.List):
            values = values.filter(pl.col("word").list.len() > 0).explode("word")
        words = values.group_by("word").len().collect(engine="streaming")
        is_word = pl.col("word").is_not_null() & (word("word") != "")
        strange = words.filter(is_word & ~word("word").is_in(list(known)))
        found |= {f"{column}={value}": count for value, count in strange.sort("word").iter_rows()}
    return found
