"""TRL's dataset types in their conversational form; every row of a file has the same keys.

https://huggingface.co/docs/trl/dataset_formats
"""

import json
from pathlib import Path
from typing import Any

from tests.training.validators.records import Faults, alternates, is_number, lines, messages, one_answer

ROLES = ("system", "user", "assistant")


def _in_turn(found: Any, last: str) -> Faults:
    faults = list(messages(found, ROLES))
    yield from faults or alternates(found, last)


def record_faults(record: dict[str, Any]) -> Faults:
    if "messages" in record:
        yield from _in_turn(record["messages"], "assistant")
        answers = set()
    else:
        answers = {"chosen", "rejected"} if "chosen" in record else {"completion"}
        yield from _in_turn(record.get("prompt"), "user")
    for name in answers:
        yield from one_answer(record.get(name), name)
    if not isinstance(record.get("label", True), bool):
        yield "label is neither true nor false"
    if "weight" in record and not is_number(record["weight"]):
        yield "weight is no number"


def faults(path: Path) -> Faults:
    found = list(lines(path, record_faults))
    yield from found
    if not found:
        shapes = {tuple(json.loads(line)) for line in path.read_text(encoding="utf-8").split("\n")[:-1]}
        if len(shapes) > 1:
            yield "rows have different keys"
