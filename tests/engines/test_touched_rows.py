"""Which rows a run looks at again where results are kept by key (issue 12): those it touched, and all they are linked with."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dagster_project.engines import touched_rows
from dagster_project.engines.stored_tables import store, store_days
from dagster_project.engines.touched_rows import Touched
from dagster_project.lake.lake import Lake
from tests.sql.harness import frame

KEYS, FLAGGED = "core__feedback_keys", "core__flagged_responses"
FIRST, SECOND, THIRD = (date(2026, 1, day) for day in (1, 2, 3))
AS_OF = datetime(2026, 1, 3, tzinfo=UTC)


def row(name: str, day: date, response: int, thread: int | None) -> dict[str, Any]:
    at = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    keys = {"response_key": response, "response_id": f"r{response}", "thread_key": thread}
    return {"feedback_id": name, "occurred_at": at, "event_date": day, **keys}


# a, b and c are linked: a response, then a prompt; d shares nothing with them, and e is dated after as_of
PUBLISHED = [
    row("a", FIRST, 1, 1),
    row("b", FIRST, 1, 2),
    row("c", SECOND, 3, 2),
    row("d", FIRST, 4, 4),
    row("e", THIRD, 5, 4),
    row("f", SECOND, 6, None),
]


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    monkeypatch.setattr(touched_rows, "MOST_TOUCHED", 1)
    lake = Lake(tmp_path)
    keep(lake, PUBLISHED)
    store(lake, FLAGGED, [frame(FLAGGED, [flagged(6, 9)])])
    lake.commit()
    following = Lake(tmp_path)  # of the run after that, which sweeps first
    following.recover()
    return following


def keep(lake: Lake, rows: list[dict[str, Any]]) -> None:
    store_days(lake, KEYS, frame(KEYS, rows).sort("event_date", "feedback_id"))


def flagged(response: int, thread: int) -> dict[str, Any]:
    return {"response_id": f"r{response}", "response_key": response, "thread_key": thread, "answer_hash": 1}


def look(lake: Lake, as_of: datetime = AS_OF) -> Touched | None:
    return touched_rows.touched_rows(lake, KEYS, [FLAGGED], AS_OF, as_of)


def names(file: Path, column: str = "feedback_id") -> list[Any]:
    return pl.read_parquet(file)[column].drop_nulls().unique().sort().to_list()


def test_a_new_row_touches_all_it_is_linked_with(lake: Lake) -> None:
    """Through a response or a prompt, also a row between; a row that came to count is touched, too."""
    keep(lake, [row("new", date(2026, 1, 4), 7, 1)])
    touched = look(lake)
    assert touched
    assert names(touched.rows) == [
        "a",
        "b",
        "c",
        "d",
        "e",
        "new",
    ]  # of the day of as_of all rows are looked at: e, and with it d
    assert names(touched.keys, "response_id") == ["r1", "r3", "r4", "r5", "r7"]


def test_what_is_gone_leaves_its_keys(lake: Lake) -> None:
    """Nobody has them any more, so what was made of them goes."""
    keep(lake, [row("c", SECOND, 3, 2)])
    lake.drop(KEYS, f"event_date={THIRD}")
    touched = look(lake)
    assert touched
    assert names(touched.rows) == ["a", "b", "c", "d"]
    assert names(touched.keys) == ["a", "b", "c", "d", "e", "f"]


def test_tables_beside_link_rows_too(lake: Lake) -> None:
    """What a flagged response shows belongs to another prompt: both are touched where that changed."""
    store(lake, FLAGGED, [frame(FLAGGED, [flagged(6, 9), flagged(1, 8)])])
    lake.drop(KEYS, f"event_date={THIRD}")
    keep(lake, [row("new", date(2026, 1, 4), 7, 9)])
    touched = look(lake)
    assert touched
    assert names(touched.rows) == ["a", "b", "c", "d", "f", "new"]
    assert names(touched.keys, "thread_key") == [1, 2, 4, 9]


def test_everything_is_made_again_where_most_is_touched(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(lake, [row("new", date(2026, 1, 4), 7, 1)])
    monkeypatch.setattr(touched_rows, "MOST_TOUCHED", 4)
    assert look(lake) is None
    assert touched_rows.touched_rows(lake, KEYS, [FLAGGED], AS_OF, AS_OF - timedelta(days=1)) is None  # an older as_of
