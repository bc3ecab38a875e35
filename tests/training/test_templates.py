"""How a record reads: seed 0's samples word for word (F6), the keys of every record (T4), and contexts."""

import json
import math
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagster_project.columns.templates import DISTILLATION, FEEDBACK, IDENTITY, context
from dagster_project.contracts import TABLES
from dagster_project.contracts.formats import FIELDS
from dagster_project.contracts.source_table import POLARS_TYPES
from dagster_project.systems.feedback.keys import feedback_keys
from dagster_project.systems.feedback.source import ENTRIES, canonical
from dagster_project.training.record_lines import json_lines

SAMPLE: dict[str, Any] = dict.fromkeys(ENTRIES.columns) | {
    "feedback_id": "f1",
    "response_id": "resp_abc123",
    "session_id": "s1",
    "timestamp": 1_768_000_000.0,
    "feedback_type": "correction",
    "correction": "Actually, list.reverse() modifies in-place while list[::-1] creates a new list. "
    "You should mention both options.",
    "correction_type": "addition",
    "what_was_wrong": "Only mentioned one method, didn't explain the difference",
    "preferred_response": "There are two main ways to reverse a list.",
    "original_query": "How do I reverse a list in Python?",
    "original_response": "You can use list[::-1] to reverse a list.",
    "domain": "code",
}
CANDIDATE: dict[str, Any] = {
    "id": "0" * 16,
    "source": "feedback_correction",
    "quality_weight": 0.9,
    "base_weight": 0.95,
    "tier": "premium",
    "language": "en",
    "origin_ids": ["f1"],
    "label": True,
    "partner_response": None,
    "votes_for": None,
    "votes_against": None,
}
# T4, written out: what a trainer relies on.
KEYS = {
    "instruction": ["instruction", "input", "output"],
    "correction": ["instruction", "input", "output", "error_type"],
    "preference": ["prompt", "chosen", "rejected", "votes_for", "votes_against"],
    "unpaired": ["prompt", "completion", "label"],
}
COMMON_KEYS = [
    "context",
    "id",
    "content_id",
    "source",
    "quality_weight",
    "base_weight",
    "tier",
    "domain",
    "language",
    "origin_ids",
]


def records(format: str, *rows: dict[str, Any]) -> list[dict[str, Any]]:
    """The records of feedback rows as the release writes them: rendered, chosen in order, one JSON object a line."""
    schema = {name: POLARS_TYPES[kind] for name, kind in ENTRIES.columns.items()}
    raw = [SAMPLE | {name: value for name, value in row.items() if name in SAMPLE} for row in rows]
    entries = canonical(pl.DataFrame(raw, schema=schema), "thumbs")
    error_types = feedback_keys(entries, "gristmill").select("error_type")
    more = pl.DataFrame(
        [{name: row.get(name, value) for name, value in CANDIDATE.items()} for row in rows],
        schema_overrides={"label": pl.Boolean, "partner_response": pl.String},
    )
    rendered = (
        entries.drop("quality_weight")
        .hstack(error_types)
        .hstack(more)
        .with_columns(pl.lit("0123456789abcdef").alias("content_id"))
        .select(*FEEDBACK[format], context("conversation_context"), *IDENTITY[1:])
    )
    lines = rendered.select(*FIELDS[format], *IDENTITY).write_ndjson()
    return [json.loads(line) for line in lines.splitlines()]


def output(**values: Any) -> str:
    return records("correction", values)[0]["output"]


def test_the_sample_correction() -> None:
    """F6, seed 0 "Correction Format", word for word; the weight is the golden one of F4."""
    (record,) = records("correction", {})
    assert list(record.items()) == [
        (
            "instruction",
            "SAM said: 'You can use list[::-1] to reverse a list.'\n\nWhat was the issue and how should it be corrected?",
        ),
        ("input", "How do I reverse a list in Python?"),
        (
            "output",
            "The issue was: Only mentioned one method, didn't explain the difference.\n\nCorrected answer: Actually, "
            "list.reverse() modifies in-place while list[::-1] creates a new list. You should mention both options.",
        ),
        ("error_type", "incomplete"),
        ("context", None),
        ("id", "0" * 16),
        ("content_id", "0123456789abcdef"),
        ("source", "feedback_correction"),
        ("quality_weight", 0.9),
        ("base_weight", 0.95),
        ("tier", "premium"),
        ("domain", "code"),
        ("language", "en"),
        ("origin_ids", ["f1"]),
    ]


@pytest.mark.parametrize(
    ("wrong", "issue"),
    [
        ("Too long", "Too long."),
        ("Too long.", "Too long."),
        ("Too long!", "Too long!"),
        ("Too long?", "Too long?"),
        ("  Too long \n", "Too long."),
        ("Too long. ", "Too long."),
        ("Too long…", "Too long…."),
        ("Too long:", "Too long:."),
        ("(too long.)", "(too long.)."),
        ("太长了。", "太长了。."),
        ("\u00a0x\u2003", "x."),
        (".", "."),
        ("It's '{}' and %s", "It's '{}' and %s."),
    ],
)
def test_the_full_stop(wrong: str, issue: str) -> None:
    """F6: trimmed, and ended with a full stop unless it ends in one of `.!?`."""
    assert output(what_was_wrong=wrong, correction="Short.") == f"The issue was: {issue}\n\nCorrected answer: Short."


@pytest.mark.parametrize("wrong", [None, "", "  ", "\n\t", "\u00a0\u3000"])
def test_without_an_explanation(wrong: str | None) -> None:
    """F6: where what_was_wrong is empty the output is just the corrected answer."""
    assert output(what_was_wrong=wrong, correction="Short.") == "Corrected answer: Short."


def test_texts_stay_as_they_are() -> None:
    """F6: braces, quotes and line ends of a text are no template; only what_was_wrong is trimmed."""
    odd = ' {} it\'s "odd" \\n {0}\r\n'
    (record,) = records(
        "correction", {"original_query": odd, "original_response": odd, "correction": odd, "what_was_wrong": "x"}
    )
    assert record["instruction"] == f"SAM said: '{odd}'\n\nWhat was the issue and how should it be corrected?"
    assert (record["input"], record["output"]) == (odd, f"The issue was: x.\n\nCorrected answer: {odd}")


def test_the_other_formats() -> None:
    """F6, seed 0: which text goes where."""
    query, answer = SAMPLE["original_query"], SAMPLE["original_response"]
    (instruction,) = records("instruction", {})
    assert {name: instruction[name] for name in KEYS["instruction"]} == {
        "instruction": query,
        "input": "",
        "output": answer,
    }
    chosen = {"feedback_preference": SAMPLE["preferred_response"], "feedback_correction_pair": SAMPLE["correction"]}
    for source, text in chosen.items():
        (pair,) = records("preference", {"source": source, "votes_for": 2, "votes_against": 1})
        assert {name: pair[name] for name in KEYS["preference"]} == {
            "prompt": query,
            "chosen": text,
            "rejected": answer,
            "votes_for": 2,
            "votes_against": 1,
        }
    for label in (True, False):
        (unpaired,) = records("unpaired", {"label": label})
        assert {name: unpaired[name] for name in KEYS["unpaired"]} == {
            "prompt": query,
            "completion": answer,
            "label": label,
        }


@pytest.mark.parametrize("format", KEYS)
def test_keys_and_their_order(format: str) -> None:
    """T4: the format's fields, then context, id, source, weights, tier, domain, origin_ids; the same in all."""
    rows = [{}, {"conversation_context": "c", "domain": None}, {"what_was_wrong": None, "correction_type": None}]
    assert [list(record) for record in records(format, *rows)] == [[*KEYS[format], *COMMON_KEYS]] * 3
    assert set(FIELDS) - {"cot"} == set(FEEDBACK) == set(KEYS)
    assert {*KEYS[format], *COMMON_KEYS} <= set(TABLES[f"train__{format}"].columns)


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        (None, None),
        ("", None),
        ("  ", None),
        ("\n\t", None),
        ("\u00a0\u3000", None),
        ("Before.", "Before."),
        (" Before.\n", " Before.\n"),
    ],
)
def test_contexts(context: str | None, expected: str | None) -> None:
    """F6, T4: a context leaves as it is; without a word it is null."""
    for format in KEYS:
        (record,) = records(format, {"conversation_context": context})
        assert record["context"] == expected


def distilled(format: str, **values: str | None) -> dict[str, Any]:
    row = {"query": "What is 2 + 2?", "claude_response": "4.", "attempt": "5", "error_type": None} | values
    row |= {"votes_for": None, "votes_against": None}  # nobody was asked
    frame = pl.DataFrame([row], schema_overrides={"error_type": pl.String, "attempt": pl.String})
    return frame.select(*DISTILLATION[format]).select(FIELDS[format]).row(0, named=True)


@pytest.mark.parametrize("format", ["instruction", "cot"])
def test_a_distilled_answer(format: str) -> None:
    """D7, seed 2 formats 1 and 2."""
    assert distilled(format) == {"instruction": "What is 2 + 2?", "input": "", "output": "4."}


def test_a_distilled_pair() -> None:
    """D7, seed 2 format 3."""
    assert distilled("preference") == {
        "prompt": "What is 2 + 2?",
        "chosen": "4.",
        "rejected": "5",
        "votes_for": None,
        "votes_against": None,
    }


@pytest.mark.parametrize(
    ("attempt", "quoted"), [("5", "5."), ("It is 5.", "It is 5."), ("  Is it 5? \n", "Is it 5?"), ("Five!", "Five!")]
)
def test_a_distilled_correction(attempt: str, quoted: str) -> None:
    """D7, seed 2 format 4, placeholders filled; the quoted attempt ends as F6 ends a sentence."""
    assert distilled("correction", attempt=attempt) == {
        "instruction": f"Here's what I said: {quoted} What should I have said instead?",
        "input": f"Original question: What is 2 + 2?\n\nMy answer: {attempt}",
        "output": "Your answer has an error. Here's what you should have said:\n\n4.",
        "error_type": None,
    }


@given(st.lists(st.text(st.characters(codec="utf-8") | st.sampled_from('\u0085\u2028\u2029\\"\n')), min_size=1))
def test_one_line_a_record_for_every_reader(texts: list[str]) -> None:
    """T4: strict JSON in UTF-8, one line a record also where U+0085, U+2028 or U+2029 would end a line."""
    written = json_lines(pl.DataFrame({"output": texts, "weight": [math.nan] * len(texts)})).decode()
    lines = [line for line in written.splitlines() if line]
    assert [json.loads(line, parse_constant=pytest.fail) for line in lines] == [
        {"output": text, "weight": None} for text in texts
    ]
