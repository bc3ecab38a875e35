"""Together: OpenAI's shapes without any other key, roles in turn, beginning with the user; of `weight` in messages whole numbers.

https://docs.together.ai/docs/fine-tuning/data-preparation
"""

from pathlib import Path
from typing import Any

from tests.training.validators import openai
from tests.training.validators.records import Faults, alternates, lines


def chat(record: dict[str, Any]) -> Faults:
    found = list(openai.chat(record))
    yield from found
    if not found:
        yield from alternates(record["messages"], "assistant")
        yield from (
            f"weight {message['weight']!r}"
            for message in record["messages"]
            if type(message.get("weight", 1)) is not int
        )


def pair(record: dict[str, Any]) -> Faults:
    found = list(openai.pair(record))
    yield from found
    if not found:
        yield from alternates(record["input"]["messages"], "user")


def faults(path: Path, format: str) -> Faults:
    return lines(path, pair if format == "preference" else chat)
