"""OpenAI: chats whose assistant messages may have `weight` 0 or 1, the last learned; pairs of one answer each; 10 records.

https://platform.openai.com/docs/guides/supervised-fine-tuning, .../direct-preference-optimization
"""

from pathlib import Path
from typing import Any

from tests.training.validators.records import Faults, keys, lines, messages, one_answer

ROLES = ("system", "user", "assistant")
LEAST = 10


def chat(record: dict[str, Any]) -> Faults:
    yield from keys(record, {"messages"})
    yield from turns(record.get("messages"))


def turns(found: Any) -> Faults:
    faults = list(messages(found, ROLES, {"weight"}))
    yield from faults
    if faults:
        return
    if found[-1]["role"] != "assistant":
        yield "the last message is not the assistant's"
    for number, message in enumerate(found):
        if "weight" in message and (message["role"] != "assistant" or message["weight"] not in (0, 1)):
            yield f"message {number}: weight {message['weight']!r}"
    if not any(message["role"] == "assistant" and message.get("weight", 1) for message in found):
        yield "no answer is learned"


def pair(record: dict[str, Any]) -> Faults:
    yield from keys(record, {"input", "preferred_output", "non_preferred_output"})
    asked = record.get("input")
    if not isinstance(asked, dict):
        yield "input is no object"
        return
    yield from keys(asked, {"messages"}, {"tools", "parallel_tool_calls"})
    yield from messages(asked.get("messages"), ROLES)
    if asked.get("messages") and asked["messages"][-1].get("role") == "assistant":
        yield "the last message of the input is the assistant's"
    for name in ("preferred_output", "non_preferred_output"):
        yield from one_answer(record.get(name), name)


def faults(path: Path, format: str, least: int = LEAST) -> Faults:
    return lines(path, pair if format == "preference" else chat, least)
