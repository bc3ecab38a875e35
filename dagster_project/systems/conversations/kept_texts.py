"""The texts of turns that were read, from the raw tables of their days."""

from collections.abc import Iterable
from datetime import date

import polars as pl

from dagster_project.lake import parquet
from dagster_project.lake.lake import Lake
from dagster_project.systems.conversations.source import DATED
from dagster_project.systems.conversations.tables import TABLES

COLUMNS = ("turn_key", "query", "response")


def texts_of(lake: Lake, turn_keys: pl.Series, days: Iterable[date]) -> pl.DataFrame:
    """Query and response of each of these turns. One may stand in both tables: the newer one's text counts."""
    wanted = turn_keys.unique().to_frame("turn_key").lazy()
    partitions = [f"event_date={day}" for day in days]
    rows = [
        parquet.scan(files).select(COLUMNS).join(wanted, on="turn_key", how="semi").collect()
        for table in DATED
        if (files := lake.files(table, partitions))
    ]
    empty = TABLES[next(iter(DATED))].empty().select(COLUMNS)
    return pl.concat([empty, *rows]).unique("turn_key", keep="first", maintain_order=True)
