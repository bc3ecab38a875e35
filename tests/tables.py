"""Reading a table of a home as its rows, whether it is stored in files or computed when it is read."""

from pathlib import Path
from typing import Any

import polars as pl

from dagster_project.contracts import TABLES
from dagster_project.engines import reading
from dagster_project.lake.lake import Lake


def table(home: Path, name: str) -> pl.DataFrame:
    """The rows of a published table: in their stored order, of a view in that of its grain."""
    return table_of(Lake(home), name)


def table_of(lake: Lake, name: str) -> pl.DataFrame:
    """The same as a run sees it, with what it has staged."""
    found = reading.read(lake, name)
    return found.sort(TABLES[name].grain) if name in lake.catalog.views else found


def rows(home: Path, name: str) -> list[dict[str, Any]]:
    return table(home, name).to_dicts()
