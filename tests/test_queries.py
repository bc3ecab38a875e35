"""The engine that runs the queries: what a limit of memory may and may not do."""

from pathlib import Path

import pytest

from dagster_project.engines import queries
from dagster_project.errors import GristmillError
from dagster_project.lake.lake import Lake


def test_too_little_memory_is_one_line(tmp_path: Path) -> None:
    """A limit decides whether a run goes through, never what it writes; where it does not, the run says what to do."""
    numbers = "select list(range) from range(20_000_000)"
    with (
        pytest.raises(GristmillError, match="memory_limit_mb = 64 is too little"),
        queries.engine(Lake(tmp_path), 64) as connection,
    ):
        connection.sql(numbers).fetchall()
