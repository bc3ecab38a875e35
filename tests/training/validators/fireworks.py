"""Fireworks: OpenAI's shapes, and a number `weight` at the root of all records or of none; 3 records.

https://docs.fireworks.ai/fine-tuning/weighted-training, .../fine-tuning-models, .../dpo-fine-tuning
"""

import json
from pathlib import Path
from typing import Any

from tests.training.validators import openai
from tests.training.validators.records import Faults, is_number, lines

LEAST = 3


def _with_weight(record: dict[str, Any], format: str) -> Faults:
    rest = {key: value for key, value in record.items() if key != "weight"}
    yield from openai.pair(rest) if format == "preference" else openai.chat(rest)
    if "weight" in record and not is_number(record["weight"]):
        yield f"weight {record['weight']!r} is no number"


def faults(path: Path, format: str, least: int = LEAST) -> Faults:
    found = list(lines(path, lambda record: _with_weight(record, format), least))
    yield from found
    if not found:
        weighed = ["weight" in json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
        if any(weighed) and not all(weighed):
            yield "some records have a weight, some have none"
