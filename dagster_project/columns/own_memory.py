"""Rows that hold nothing but themselves: a few of many, else, keep the texts of all of them in memory."""

import polars as pl


def of_its_own(rows: pl.DataFrame) -> pl.DataFrame:
    """A copy that shares no buffer with what it was taken from. Polars' texts are views into the buffers they were read into."""
    copied = pl.from_arrow(rows.to_arrow())
    assert isinstance(copied, pl.DataFrame)
    return copied
