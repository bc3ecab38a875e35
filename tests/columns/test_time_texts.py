"""Times that SQLite stores as it likes (G1, G5): epoch numbers, numbers as text, ISO texts; and what is no time at all."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagster_project.columns.instants import EPOCH, epoch_seconds, instant
from dagster_project.contracts.source_table import TableSpec
from dagster_project.databases.sqlite import SqliteDatabase

SPEC = TableSpec(
    system="test",
    name="turn_index",
    columns={"id": "integer", "created_at": "time"},
    required=("id", "created_at"),
    key="id",
    event_time="created_at",
    edited=("created_at",),
)
NOON = datetime(2026, 1, 4, 12, tzinfo=UTC).timestamp()


def database(folder: Path, *times: object) -> Path:
    path = folder / "times.db"
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("create table turn_index(id integer primary key, created_at)")
        connection.executemany("insert into turn_index(created_at) values (?)", [(time,) for time in times])
        connection.commit()
    return path


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2026-01-04T12:00:00Z", NOON),
        ("2026-01-04T12:00:00z", NOON),
        ("2026-01-04 12:00:00", NOON),
        ("2026-01-04T12:00", NOON),
        ("2026-01-04", NOON - 43200),
        (" 2026-01-04 12:00:00 ", NOON),
        ("2026-01-04T12:00:00.25", NOON + 0.25),
        ("2026-01-04T12:00:00.123456+02:00", NOON - 7200 + 0.123456),
        ("2026-01-04 12:00:00.5-0130", NOON + 5400.5),
        ("2026-01-04 12:00:00+00", NOON),
        ("1767528000", NOON),
        ("1767528000.5", NOON + 0.5),
        ("1767528000000", 1767528000000.0),
    ],
)
def test_what_a_text_says(text: str, seconds: float) -> None:
    assert epoch_seconds(pl.Series([text]))[0] == seconds


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "2026-02-30", "2026-01-04T25:00:00", "04/01/2026", "2026-1-4", "12:00", "2026-01-04T", "1e", "."],
)
def test_what_is_no_time(text: str) -> None:
    assert epoch_seconds(pl.Series([text]))[0] is None


@given(
    st.datetimes(datetime(1999, 12, 30), datetime(2100, 1, 2)),
    st.integers(-14 * 60, 14 * 60),
    st.sampled_from(["T", " "]),
)
def test_an_iso_text_keeps_its_microsecond(naive: datetime, offset: int, separator: str) -> None:
    moment = naive.replace(tzinfo=timezone(timedelta(minutes=offset)))
    seconds = epoch_seconds(pl.Series([moment.isoformat(sep=separator)]))
    found = pl.select(instant(pl.lit(seconds))).item()
    is_valid = datetime(2000, 1, 1, tzinfo=UTC) <= moment < datetime(2100, 1, 1, tzinfo=UTC)
    assert found == (moment.astimezone(UTC) if is_valid else None)


def test_rows_of_a_day_are_found_whatever_they_are_written_as(tmp_path: Path) -> None:
    same_day = [
        "2026-01-04T00:00:00Z",
        "2026-01-05T00:30:00+01:00",
        NOON,
        int(NOON),
        str(NOON),
        NOON * 1000,
        "2026-01-03T23:59:00-00:05",
    ]
    path = database(
        tmp_path, "2026-01-03 23:59:59.999999", *same_day, "2026-01-05", None, "soon", b"\xff", float("inf")
    )
    with SqliteDatabase(path) as source:
        days = {day: rows for day, rows, *_ in source.fingerprints(SPEC).iter_rows()}
        fourth = (datetime(2026, 1, 4).date() - EPOCH).days
        assert days == {fourth - 1: 1, fourth: len(same_day), fourth + 1: 1, None: 4}
        rows = pl.concat(source.read_days(SPEC, [fourth], 1, 100))
        assert rows["id"].to_list() == list(range(2, 2 + len(same_day)))
        undated = pl.concat(source.read_rows(SPEC, source.undated_rowids(SPEC)))
        assert undated["problems"].to_list() == [
            [],
            ["wrong_type:created_at"],
            ["wrong_type:created_at"],
            ["not_finite:created_at"],
        ]


@pytest.mark.slow
@given(
    st.lists(
        st.one_of(st.text(max_size=12), st.integers(0, 5_000_000_000), st.floats(), st.binary(max_size=3)), max_size=8
    )
)
def test_every_row_is_on_one_day_or_undated(tmp_path_factory: pytest.TempPathFactory, times: list[object]) -> None:
    usable = [time for time in times if not (isinstance(time, str) and "\0" in time)]
    path = database(tmp_path_factory.mktemp("times"), *usable, "2026-01-04T00:00:00+00:01")
    with SqliteDatabase(path) as source:
        found = source.fingerprints(SPEC)
        days = [day for day in found["day"].to_list() if day is not None]
        read = sum(batch.height for batch in source.read_days(SPEC, days, 1, 100))
        assert read + len(source.undated_rowids(SPEC)) == found["rows"].sum() == len(usable) + 1
