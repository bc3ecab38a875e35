"""Whole days come out of the buffer, every row once, whatever the order and however little memory there is (G7, G3)."""

from collections import Counter
from datetime import date, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagster_project.intake import day_buffer
from dagster_project.intake.day_buffer import DayBuffer, LargeDay

FIRST = date(2026, 1, 1)
SCHEMA = {"event_date": pl.Date, "key": pl.Int64, "text": pl.String, "reasons": pl.List(pl.String)}


def frame(rows: list[tuple[int, int]]) -> pl.DataFrame:
    """Rows of (day, key), with a text and a list of their own."""
    values = [(FIRST + timedelta(days=day), key, f"text {key} ü", [f"r{key}"] * (key % 3)) for day, key in rows]
    return pl.DataFrame(values, schema=SCHEMA, orient="row")


def through(batches: list[list[tuple[int, int]]], folder: Path) -> list[pl.DataFrame]:
    expected = Counter(FIRST + timedelta(days=day) for batch in batches for day, _ in batch)
    buffer = DayBuffer(expected, folder)
    groups = [group for batch in batches if batch for group in buffer.add(frame(batch))]
    return [whole(group) for group in [*groups, *buffer.rest()]]


def whole(group: pl.DataFrame | LargeDay) -> pl.DataFrame:
    return group if isinstance(group, pl.DataFrame) else pl.concat(group.pieces())


@st.composite
def shuffled_batches(draw: st.DrawFn) -> list[list[tuple[int, int]]]:
    days = draw(st.lists(st.integers(0, 5), max_size=60))
    rows = draw(st.permutations([(day, key) for key, day in enumerate(days)]))
    size = draw(st.integers(1, 20))
    return [rows[start : start + size] for start in range(0, len(rows), size)]


@settings(max_examples=80, deadline=None)
@given(shuffled_batches(), st.sampled_from([0, 100, 1_000, 10**9]), st.sampled_from([1, 10, 50_000]))
def test_whole_days_in_any_order(batches: list[list[tuple[int, int]]], budget: int, group_rows: int) -> None:
    """G7: a day leaves once and whole, its rows in the order they came, with and without spilling."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(day_buffer, "MEMORY_BUDGET_BYTES", budget)
        patch.setattr(day_buffer, "GROUP_ROWS", group_rows)
        groups = through(batches, Path(folder) / "spill")
    arrived = frame([row for batch in batches for row in batch])
    days_out = [day for group in groups for day in group["event_date"].unique(maintain_order=True)]
    assert len(days_out) == len(set(days_out)), "a day is in one group, and there in one piece"
    assert all(group.height >= group_rows for group in groups[:-1])
    for group in groups:
        for (day,), rows in group.partition_by("event_date", as_dict=True, maintain_order=True).items():
            assert rows.rows() == arrived.filter(pl.col("event_date") == day).rows()
    assert sum(group.height for group in groups) == arrived.height


def test_days_leave_as_soon_as_they_are_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a table that grows with time a day does not wait for the end, and nothing is spilled."""
    monkeypatch.setattr(day_buffer, "GROUP_ROWS", 2)
    buffer = DayBuffer({FIRST: 2, FIRST + timedelta(days=1): 2}, tmp_path / "spill")
    assert list(buffer.add(frame([(0, 1)]))) == []
    (first,) = buffer.add(frame([(0, 2), (1, 3)]))
    (second,) = buffer.add(frame([(1, 4)]))
    assert (whole(first)["key"].to_list(), whole(second)["key"].to_list()) == ([1, 2], [3, 4])
    assert list(buffer.rest()) == []
    assert not (tmp_path / "spill").exists()


def test_waiting_rows_are_spilled_beyond_the_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Days that are not complete go to disk, part by part, and come back in order."""
    monkeypatch.setattr(day_buffer, "MEMORY_BUDGET_BYTES", 1)
    buffer = DayBuffer({FIRST: 3, FIRST + timedelta(days=1): 2}, tmp_path / "spill")
    for rows in ([(0, 1), (1, 2)], [(0, 3)]):
        assert list(buffer.add(frame(rows))) == []
    assert sorted(path.name for path in (tmp_path / "spill").iterdir()) == [
        "2026-01-01.0.arrow",
        "2026-01-01.1.arrow",
        "2026-01-02.0.arrow",
    ]
    assert list(buffer.add(frame([(1, 4), (0, 5)]))) == []
    (rest,) = map(whole, buffer.rest())
    assert sorted(rest.select("event_date", "key").rows()) == [
        (FIRST, 1),
        (FIRST, 3),
        (FIRST, 5),
        (FIRST + timedelta(days=1), 2),
        (FIRST + timedelta(days=1), 4),
    ]
    assert rest.filter(pl.col("event_date") == FIRST).rows() == frame([(0, 1), (0, 3), (0, 5)]).rows()


@pytest.mark.parametrize("budget", [0, 10**9])
def test_a_missing_row_is_an_error(budget: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """G3: rows the source announced and did not give; the error says on which day."""
    monkeypatch.setattr(day_buffer, "MEMORY_BUDGET_BYTES", budget)
    buffer = DayBuffer({FIRST: 2, FIRST + timedelta(days=1): 1}, tmp_path / "spill")
    assert list(buffer.add(frame([(0, 1), (1, 2)]))) == []
    with pytest.raises(RuntimeError, match=r"2026, 1, 1\): 1\}"):
        list(buffer.rest())


def test_nothing_at_all(tmp_path: Path) -> None:
    """No days, no groups."""
    assert list(DayBuffer({}, tmp_path).rest()) == []


def test_a_large_day_leaves_in_pieces_and_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is bounded by a group of rows, however many rows a day has; other days do not wait for it."""
    monkeypatch.setattr(day_buffer, "PIECE_ROWS", 4)
    monkeypatch.setattr(day_buffer, "LARGE_DAY_ROWS", 5)
    monkeypatch.setattr(day_buffer, "MEMORY_BUDGET_BYTES", 300)
    rows = [(0, key) for key in range(11)]
    buffer = DayBuffer({FIRST: 11, FIRST + timedelta(days=1): 1}, tmp_path / "spill")
    found = [
        group
        for at in range(0, 11, 2)
        for group in buffer.add(frame([*rows[at : at + 2], *([(1, 99)] if at == 2 else [])]))
    ]
    (large,) = found
    assert isinstance(large, LargeDay)
    assert [piece.height for piece in large.pieces()] == [4, 4, 3]
    assert any(isinstance(part, Path) for part in large.parts)
    assert whole(large).rows() == frame(rows).rows()
    assert [whole(group)["key"].to_list() for group in buffer.rest()] == [[99]]
