"""`content_id` (T4): equal exactly where T2 takes two records for one."""

import hashlib
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagster_project.columns.templates import FEEDBACK
from dagster_project.contracts.formats import FIELDS, TRAINING_FORMATS
from dagster_project.training.content_ids import content_ids

TEXTS = st.text(st.sampled_from("aAbé e\u0301\u00a0 \n\r\t.'1ß\u0130\U0001f600"), max_size=8) | st.text(max_size=20)
RECORD = {"instruction": "Why?", "input": "", "output": "So.", "context": None}


def ids(format: str, *records: Mapping[str, Any]) -> list[str]:
    schema = dict.fromkeys(
        (*TRAINING_FORMATS[format].prompts, *TRAINING_FORMATS[format].answers, "context"), pl.String
    ) | ({"label": pl.Boolean} if format == "unpaired" else {})
    return content_ids(format, pl.DataFrame([dict(record) for record in records], schema=schema)).to_list()


def prompt(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).lower().split())


def answer(text: str) -> str:
    return unicodedata.normalize("NFC", text).replace("\r\n", "\n").strip()


def test_it_is_stable() -> None:
    """Known values: other ones would make every record of every release another."""
    assert ids("instruction", RECORD) == ["8f4d4a43c85bae86"]
    assert ids("cot", RECORD) == ["cb63c11630f39c65"]
    pair = {"prompt": "Why?", "chosen": "So.", "rejected": "No.", "context": "Before"}
    assert ids("preference", pair) == ["672913ef32efbbb7"]
    assert ids("unpaired", {"prompt": "Why?", "completion": "So.", "label": True, "context": None}) == [
        "cf18c10a567cb47f"
    ]


def test_it_is_the_hash_of_lengths_and_texts() -> None:
    said = ["instruction", "0", "", "4", "why?", "0", "", "3", "So."]
    assert ids("instruction", RECORD) == [hashlib.sha256("\n".join(said).encode()).hexdigest()[:16]]


@pytest.mark.parametrize("format", FIELDS)
def test_every_field_that_t2_compares_counts(format: str) -> None:
    fields = dict.fromkeys((*TRAINING_FORMATS[format].prompts, *TRAINING_FORMATS[format].answers, "context"), "x")
    values = {name: False if name == "label" else "y" for name in fields}
    first = fields | ({"label": True} if "label" in fields else {})
    found = ids(format, first, *(first | {name: values[name]} for name in fields))
    assert len({*found}) == len(fields) + 1


def test_the_quoted_answer_counts_as_an_answer() -> None:
    """Case makes another one, space around it does not (T2, G10)."""
    rows = pl.DataFrame(
        {
            "original_response": ["Lyon.", "lyon.", " Lyon.\r\n", "Lyon. "],
            "original_query": ["Capital?", "Capital?", "capital?", "Capital?"],
            "correction": ["Paris"] * 4,
            "what_was_wrong": [None, None, None, "Wrong"],
            "error_type": ["incorrect"] * 4,
            "context": [None, None, " ", None],
        },
        schema_overrides={"what_was_wrong": pl.String, "context": pl.String},
    )
    first, case, space, other = content_ids("correction", rows.select(*FEEDBACK["correction"], "context"))
    assert first == space
    assert len({first, case, other}) == 3


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS, st.none() | TEXTS), min_size=1, max_size=6))
def test_equal_exactly_where_t2_says_so(rows: list[tuple[str, str, str, str | None]]) -> None:
    records: list[dict[str, Any]] = [
        dict(zip(("prompt", "chosen", "rejected", "context"), row, strict=True)) for row in rows
    ]
    keys = [(prompt(p), answer(a), answer(b), prompt(c or "")) for p, a, b, c in rows]
    found = ids("preference", *records)
    assert all(re.fullmatch("[0-9a-f]{16}", one) for one in found)
    for one, key in zip(found, keys, strict=True):
        for other, other_key in zip(found, keys, strict=True):
            assert (one == other) == (key == other_key)
