"""The write-back ledger: own values come back column by column (F10, D9), also from a ledger of an earlier version."""

from pathlib import Path

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from dagster_project.intake.own_writes import ledger_path, read_ledger, save_ledger, settled, undo_own_writes
from dagster_project.systems.feedback.marks import MARKED as FEEDBACK

FILE = "feedback.db"
Values = tuple[int | None, str | None, float | None, float | None]
VALUES = st.tuples(
    st.sampled_from([None, 0, 1]),
    st.sampled_from([None, "", "correction"]),
    st.sampled_from([None, 0.5, 0.75]),
    st.sampled_from([None, 7.0]),
)
KINDS = {name: FEEDBACK.schema[name] for name in FEEDBACK.columns}


def columns(values: Values, prefix: str = "") -> dict[str, object]:
    return {f"{prefix}{name}": value for name, value in zip(FEEDBACK.columns, values, strict=True)}


def entry(ours: Values, before: Values, replaced: Values) -> pl.DataFrame:
    """A write that has been begun."""
    row = {
        "source_file": FILE,
        "feedback_id": "f",
        "release": "20260112",
        "releases": ["20260112"],
        "is_under_way": True,
    }
    values = columns(ours) | columns(before, "before_") | columns(replaced, "replaced_")
    return pl.DataFrame([row | values | {"replaced_releases": []}], schema=FEEDBACK.schema)


def undone(ledger: pl.DataFrame, now: Values, key: str = "f", file: str = FILE) -> tuple[Values, bool]:
    rows = pl.DataFrame([{"feedback_id": key} | columns(now)], schema={"feedback_id": pl.String, **KINDS})
    *values, is_written_back = undo_own_writes(FEEDBACK, ledger, rows, file).drop("feedback_id").row(0)
    return tuple(values), is_written_back  # pyright: ignore[reportReturnType]


@given(VALUES, VALUES, VALUES)
def test_a_column_that_holds_ours_is_read_as_before(ours: Values, before: Values, now: Values) -> None:
    """And any other as it is; the row is marked if that changes anything."""
    expected = tuple(b if n == o else n for o, b, n in zip(ours, before, now, strict=True))
    assert undone(settled(entry(ours, before, before)), now) == (expected, expected != now)


@given(VALUES, VALUES, VALUES)
def test_a_write_that_never_arrived(ours: Values, before: Values, replaced: Values) -> None:
    """The row holds what the write was to replace, be it the source's own or an earlier write of ours."""
    assert undone(entry(ours, before, replaced), replaced) == (before, before != replaced)
    assert undone(entry(ours, before, replaced), ours) == (before, before != ours)


@given(VALUES, VALUES)
def test_other_rows_are_not_ours(ours: Values, before: Values) -> None:
    ledger = settled(entry(ours, before, before))
    assert undone(ledger, ours, key="g") == (ours, False)
    assert undone(ledger, ours, file="feedback_fallback.db") == (ours, False)


def test_a_ledger_of_an_earlier_version(tmp_path: Path) -> None:
    """It knew the last release and no write under way."""
    old = entry((1, "correction", 0.75, 7.0), (0, None, 0.5, None), (None, None, None, None))
    later = ("releases", "is_under_way", *(name for name in old.columns if name.startswith("replaced_")))
    ledger_path(tmp_path, FEEDBACK).parent.mkdir()
    old.drop(later).write_parquet(ledger_path(tmp_path, FEEDBACK))
    ledger = read_ledger(tmp_path, FEEDBACK)
    assert ledger.schema == FEEDBACK.schema
    assert ledger["releases"].to_list() == [["20260112"]]
    assert undone(ledger, (1, "correction", 0.75, 7.0)) == ((0, None, 0.5, None), True)
    save_ledger(tmp_path, FEEDBACK, ledger)
    assert read_ledger(tmp_path, FEEDBACK).equals(ledger)
