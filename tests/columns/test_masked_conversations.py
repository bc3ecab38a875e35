"""T8: what people see of a conversation in JSON, whose escapes hide what stands beside them."""

import json

import polars as pl
import pytest

from dagster_project.columns.masked_conversations import masked_for_people

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
