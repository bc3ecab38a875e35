"""Where the rows of source tables went (G3), by the record of the work."""

from pathlib import Path

import polars as pl

NAMES = ("read_count", "kept_count", "quarantined_count", "copy_count", "not_sampled_count")


def went(home: Path, *tables: str) -> tuple[int, ...]:
    """`NAMES` of these source tables together, over all days and the rows without one."""
    found = pl.read_parquet(home / "runs" / "rows_read_daily.parquet").filter(pl.col("table").is_in(tables))
    return tuple(int(found[name].sum()) for name in NAMES)
