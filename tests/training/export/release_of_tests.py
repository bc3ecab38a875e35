"""A published home with a release made for tests: records of every format, with conversations before some of them (T7)."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl

from dagster_project.contracts.layout import FileLayout
from dagster_project.lake.lake import Lake

DAY = date(2026, 1, 31)
NAME = "20260131"
Turn = tuple[str, str]
BEFORE: list[Turn] = [("user", "Tell me of Rome."), ("assistant", "It is old.")]
# What contexts of real logs look like.
UNRULY: list[list[Turn]] = [
    [],
    BEFORE,
    [("assistant", "Hello! How can I help?")],
    [("user", "a text that could not be parsed")],
    [("system", "Be brief."), *BEFORE],
    [*BEFORE, ("tool", '{"temperature": 3}')],
    [("user", "One."), ("user", "Two."), ("assistant", "Three."), ("assistant", "Four.")],
    [("user", ""), ("assistant", "  ")],
    [("user", '\u2028 \u0085 \\ " \x00'), ("assistant", '{"weight": null}')],
    [("tool", "x"), ("system", "late"), ("assistant", "y")],
]


def identity(number: int | str) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()[:16]


def messages(*turns: Turn) -> list[dict[str, str]]:
    return [{"role": role, "content": content} for role, content in turns]


def record(format: str, number: int | str = 0, before: Sequence[Turn] = (), **more: Any) -> dict[str, Any]:
    """A record as it lies in the lake."""
    fields: dict[str, dict[str, Any]] = {
        "preference": {
            "prompt": f"Question {number}?",
            "chosen": f"Better {number}.",
            "rejected": f"Worse {number}.",
            "votes_for": 1,
            "votes_against": 0,
        },
        "unpaired": {"prompt": f"Question {number}?", "completion": f"Answer {number}.", "label": True},
        "correction": {
            "instruction": f"SAM said: 'Wrong {number}.'\n\nWhat was the issue and how should it be corrected?",
            "input": f"Question {number}?",
            "output": f"The issue was: Not so.\n\nCorrected answer: Right {number}.",
            "error_type": "incorrect",
        },
    }
    told = {"instruction": f"Question {number}?", "input": "", "output": f"Answer {number}."}
    question, own = ("user", f"Question {number}?"), []
    if format in ("instruction", "cot"):
        own = [("assistant", f"Answer {number}.")]
    if format == "correction":
        own = [("assistant", f"Wrong {number}."), ("user", "Not so."), ("assistant", f"Right {number}.")]
    return {
        **fields.get(format, told),
        "context": "\n".join(f"{role}: {content}" for role, content in before) or None,
        "id": identity(number),
        "content_id": identity(f"content {number}"),
        "source": "feedback_positive",
        "origin_ids": [str(number)],
        "prompt_key": identity(f"prompt {number}"),
        "component": identity(f"component {number}"),
        "language": "en",
        "is_refusal": False,
        "split": "train",
        "quality_weight": 0.8,
        "base_weight": 0.9,
        "tier": "high",
        "domain": "general",
        "release": NAME,
        "release_date": DAY,
        "messages": messages(*before, question, *own),
        **more,
    }


def home_with(folder: Path, format: str, records: Sequence[Mapping[str, Any]], name: str = NAME) -> Lake:
    """A home whose lake holds these records as a release."""
    lake = Lake(folder / "home")
    rows = pl.DataFrame([{**row, "release": name} for row in records], infer_schema_length=None)
    if rows["context"].dtype == pl.Null:
        rows = rows.with_columns(pl.col("context").cast(pl.String))
    for (split,), part in rows.partition_by("split", as_dict=True, maintain_order=True).items():
        table = part.to_arrow()
        layout = FileLayout(table.schema, [], [], {})
        with lake.replacing(f"train__{format}", f"release_date={DAY}/split={split}", layout) as writer:
            writer.write(table)
    lake.catalog.publication = 1
    lake.catalog.release = {"name": name}
    lake.commit()
    return Lake(folder / "home")
