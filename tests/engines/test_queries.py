"""The engine that runs the queries: what a limit of memory may and may not do, and what is read of a view."""

import tempfile
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import polars as pl
import pytest

from dagster_project.engines import queries, reading
from dagster_project.errors import GristmillError
from dagster_project.lake.lake import Lake


def test_too_little_memory_is_one_line(tmp_path: Path) -> None:
    """A limit decides whether a run goes through, never what it writes; where it does not, the run says what to do."""
    numbers = "select list(range) from range(20_000_000)"
    with (
        pytest.raises(
            GristmillError, match="64 MB of memory are too little for this much data: set memory_limit_mb higher"
        ),
        queries.engine(Lake(tmp_path), 64) as connection,
    ):
        connection.sql(numbers).fetchall()


def test_a_query_that_cannot_do_with_its_memory_gets_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of 10 million numbers takes 80 MB in one piece: not with 64 MB, but with more."""
    numbers = "select len(list(range)) as count, 'ana' as reviewer from range(10_000_000)"
    given = queries.parsed("numbers", f"-- a\n-- grain: count\n-- inputs: none\n-- params: none\n{numbers}")
    monkeypatch.setattr(queries, "query", lambda name: given)
    assert queries.fetch(Lake(tmp_path), "numbers", {}, 64).rows() == [(10_000_000, "ana")]
    monkeypatch.setattr(queries, "MORE_MEMORY", (1,))
    with pytest.raises(GristmillError, match="64 MB of memory are too little"):
        queries.fetch(Lake(tmp_path), "numbers", {}, 64)


VIEW = """-- A note on a row.
-- grain: feedback_id
-- inputs: none
-- params: none
select 'f' || range as feedback_id, 'ana' as reviewer, 'n' as note, to_timestamp(range) as settled_at from range(3)
"""
MUCH = VIEW.replace("'n' as", "repeat('n', 400) || range as").replace("range(3)", "range(500000)")
TABLE = "core__settlements"


def with_view(home: Path, sql: str) -> Lake:
    lake = Lake(home)
    lake.catalog.views[TABLE] = sql
    return lake


def test_a_view_is_read_as_its_rows(tmp_path: Path) -> None:
    """However it is asked for: nothing is stored of it, and that is not an empty table."""
    lake = with_view(tmp_path, VIEW)
    expected = [(f"f{second}", "ana", "n", datetime.fromtimestamp(second, UTC)) for second in range(3)]
    assert reading.read(lake, TABLE).rows() == expected
    assert reading.scan(lake, TABLE).collect().rows() == expected
    assert reading.where(lake, TABLE, pl.col("feedback_id") == "f2").rows() == expected[2:]
    assert reading.columns(lake, TABLE, "feedback_id").rows() == [("f0",), ("f1",), ("f2",)]
    assert not lake.staging.exists()  # a reader writes nothing to the home


def test_a_view_is_read_within_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With no more memory than it may take; what does not fit is spilled outside the home, and nothing of it stays."""
    spill = tmp_path / "spill"
    spill.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(spill))
    lake = with_view(tmp_path / "home", MUCH.rstrip() + " order by hash(range)\n")
    found = queries.view(lake, TABLE, memory_limit_mb=100).select("note", "settled_at")
    assert found.filter(pl.col("note").str.ends_with("7")).collect().height == 50_000
    whole = VIEW.replace("'n' as", "(select string_agg(repeat('n', 400), '') from range(500000)) as")
    with pytest.raises(duckdb.OutOfMemoryException):
        queries.view(with_view(tmp_path / "home", whole), TABLE, 64).collect()
