"""The one place a release reads candidates in: which of them leave, how many there are, and what they are made from (T1).

Queries read them, so it makes no difference whether candidates lie in files or are computed as they are read.
"""

from collections.abc import Iterator
from typing import Any

import polars as pl

from dagster_project.engines import queries
from dagster_project.run.mill_run import MillRun

LEAVING, COUNTS = "release__leaving", "release__candidate_counts"


def leaving(run: MillRun) -> Iterator[pl.DataFrame]:
    """Every candidate that leaves, without its texts, some at a time and in no order."""
    yield from queries.stream(run.lake, LEAVING, run.params, run.config.memory_limit_mb)


def candidate_counts(run: MillRun) -> dict[str, int]:
    """How many candidates each format has, leaving or not."""
    return dict(queries.fetch(run.lake, COUNTS, run.params, run.config.memory_limit_mb).iter_rows())


def made_from(run: MillRun) -> dict[str, Any]:
    """What decides which candidates leave, and as what: as_of too, which weights depend on."""
    asked = [queries.query(name) for name in (LEAVING, COUNTS)]
    return {
        "as_of": run.as_of.isoformat(),
        "queries": [query.hash for query in asked],
        "tables": {name: run.lake.versions(name) for query in asked for name in query.inputs},
    }
