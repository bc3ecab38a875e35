"""T8: what people see of a conversation in JSON, whose escapes hide what stands beside them."""

import json

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagster_project.columns.masked_conversations import masked_for_people, may_be_masked

PHONE = "\\u002B49 170 1234567"
TURN = '{"role": "user", "content": "%s"}'


def shown(text: str | None) -> str | None:
    return masked_for_people(pl.DataFrame({"context": [text]}, schema={"context": pl.String}), ["context"])["context"][
        0
    ]


@pytest.mark.parametrize("escaped", [f"Call {PHONE} now", f"\\u0022{PHONE}\\u0022", f"line\\n{PHONE}"])
def test_an_escape_hides_no_item(escaped: str) -> None:
    told = shown(f"[{TURN % escaped}]")
    assert told is not None
    ((turn),) = json.loads(told)
    assert turn["role"] == "user" and "<PHONE_1>" in turn["content"] and "1234567" not in told


@pytest.mark.parametrize(
    "text", [None, "", "[broken \\u002B", "[" + TURN % "nothing \\u0022here" + "]", "plain \\ text"]
)
def test_what_holds_none_stays_as_it_is(text: str | None) -> None:
    assert shown(text) == text


TEXTS = [
    None,
    "",
    "hello",
    "a@b.org",
    "the key of the house",
    f"[{TURN % PHONE}]",
    f"[{TURN % 'nothing'}]",
    "call +1 415 555 0132",
]


@given(st.lists(st.tuples(st.sampled_from(TEXTS), st.sampled_from(TEXTS)), max_size=12))
def test_no_row_is_left_out_that_is_shown_otherwise(rows: list[tuple[str | None, str | None]]) -> None:
    """So only those that may be are searched, whatever stands in the other texts and in the other rows."""
    given_rows = pl.DataFrame(rows, schema={"question": pl.String, "context": pl.String}, orient="row")
    chosen = may_be_masked(given_rows, given_rows.columns)
    shown_rows = masked_for_people(given_rows, given_rows.columns)
    assert shown_rows.filter(~chosen).equals(given_rows.filter(~chosen))
    assert shown_rows.filter(chosen).equals(masked_for_people(given_rows.filter(chosen), given_rows.columns))
    assert chosen.len() == given_rows.height


def test_plain_rows_are_not_searched() -> None:
    rows = pl.DataFrame({"question": ["hello", "a@b.org", None], "context": ["the key", None, f"[{TURN % PHONE}]"]})
    assert may_be_masked(rows, rows.columns).to_list() == [False, True, True]
