"""Rule T8 for the warehouse: readers see texts masked, the lake's own tables keep them; what did not change is not searched again."""

from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

from dagster_project.columns.masking_kinds import KINDS
from dagster_project.contracts import TABLES
from dagster_project.engines import shown_texts
from dagster_project.engines.shown_texts import TABLE, Masks, keep_masked_texts, shown_query
from dagster_project.engines.warehouse_folder import FolderSql
from dagster_project.lake.lake import Lake

RAW, DAYS = "raw_feedback__entries", (date(2026, 1, 1), date(2026, 1, 2))
MASKS = Masks(KINDS, (), "code")


def put(lake: Lake, day: date, *texts: str | None, table: str = RAW, partition: str | None = None) -> None:
    """Rows of a day that have a text as the question, the last of them in another column, too."""
    column = "original_query" if table == RAW else "row"
    more = {"original_response": [*[None] * (len(texts) - 1), texts[-1]]} if table == RAW else {}
    rows = pl.DataFrame({column: texts, "event_date": [day] * len(texts), **more})
    schema = TABLES[table].polars_schema
    whole = rows.select(
        pl.col(name).cast(kind) if name in rows.columns else pl.lit(None, dtype=kind).alias(name)
        for name, kind in schema.items()
    )
    with lake.replacing(table, partition or f"event_date={day}", TABLES[table].file_layout) as writer:
        writer.write(whole.to_arrow())


def seen(
    lake: Lake, table: str = RAW, columns: str = "original_query, original_response"
) -> list[tuple[str | None, ...]]:
    lake.link_all(lake.home / "snapshot")
    files = f"'{lake.home}/snapshot/{table}/**/*.parquet'"
    query = shown_query(lake, table, files, FolderSql.of(lake.home / "snapshot"))
    return duckdb.sql(f"select {columns} from ({query}) order by event_date, 1").fetchall()


def test_texts_are_seen_masked_and_kept_as_they_are(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    put(lake, DAYS[0], "hello", "write to a@b.org")
    put(lake, DAYS[1], None, "call +1 415 555 0132, or a@b.org, c@d.org")
    keep_masked_texts(lake, MASKS, workers=2)
    last = "call <PHONE_1>, or <EMAIL_1>, <EMAIL_2>"
    assert seen(lake) == [
        ("hello", None),
        ("write to <EMAIL_1>", "write to <EMAIL_1>"),
        (last, last),
        (None, None),
    ]
    assert pl.read_parquet(lake.path(RAW, f"event_date={DAYS[0]}"))["original_query"].to_list()[1] == "write to a@b.org"
    query = shown_query(lake, RAW, f"'{tmp_path}/snapshot/{RAW}/**/*.parquet'", FolderSql.of(tmp_path / "snapshot"))
    assert [row[0] for row in duckdb.sql(f"describe {query}").fetchall()] == [*TABLES[RAW].columns]


def test_only_what_changed_is_searched_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake, searched = Lake(tmp_path), []
    real = shown_texts._suspects

    def counting(*given: Any) -> pl.DataFrame:
        searched.extend(given[-1])
        return real(*given)

    monkeypatch.setattr(shown_texts, "_suspects", counting)
    put(lake, DAYS[0], "a@b.org")
    put(lake, DAYS[1], "nothing")
    keep_masked_texts(lake, MASKS, 1)
    keep_masked_texts(lake, MASKS, 1)
    assert searched == [f"event_date={day}" for day in DAYS]
    lake.drop(RAW, f"event_date={DAYS[0]}")  # gone at the source: nothing of it stays
    keep_masked_texts(lake, MASKS, 1)
    assert f"of={RAW}" not in lake.partitions(TABLE) and len(searched) == 2
    keep_masked_texts(lake, Masks(("phone",), (), "code"), 1)
    assert len(searched) == 3


def test_what_was_found_and_is_lost_is_found_again(tmp_path: Path) -> None:
    """Else a damaged file would show what it hid."""
    lake = Lake(tmp_path)
    put(lake, DAYS[0], "a@b.org")
    keep_masked_texts(lake, MASKS, 1)
    lake.drop(TABLE, f"of={RAW}")
    keep_masked_texts(lake, MASKS, 1)
    assert seen(lake, columns="original_query") == [("<EMAIL_1>",)]


def test_settings_say_what_is_seen(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    put(lake, DAYS[0], "a@b.org +1 415 555 0132 c@d.org")
    keep_masked_texts(lake, Masks(("email",), ("a@b.org",), "code"), 1)
    assert seen(lake, columns="original_query") == [("a@b.org +1 415 555 0132 <EMAIL_1>",)]


def test_files_that_share_a_day_are_told_apart(tmp_path: Path) -> None:
    """The quarantine has a file for each table and day."""
    lake, quarantine = Lake(tmp_path), "quarantine__rows"
    put(lake, DAYS[0], "a@b.org", table=quarantine, partition=f"raw_x/event_date={DAYS[0]}")
    put(lake, DAYS[0], "plain", table=quarantine, partition=f"raw_y/event_date={DAYS[0]}")
    keep_masked_texts(lake, MASKS, 1)
    assert seen(lake, quarantine, "row") == [("<EMAIL_1>",), ("plain",)]
