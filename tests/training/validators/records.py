"""What all of them ask: JSON Lines, one object a line, messages with a role and a text."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Faults = Iterator[str]
Check = Callable[[dict[str, Any]], Faults]


def lines(path: Path, check: Check, least: int = 1) -> Faults:
    """The faults of a file, each with its line."""
    data = path.read_bytes()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        yield "not UTF-8"
        return
    if not text.endswith("\n"):
        yield "the last line is not ended"
    found = text.split("\n")[:-1]
    if len(found) < least:
        yield f"fewer than {least} records"
    for number, line in enumerate(found, 1):
        try:
            record = json.loads(line, parse_constant=lambda word: {}[word])
        except (ValueError, KeyError):
            yield f"line {number}: not JSON"
            continue
        if not isinstance(record, dict):
            yield f"line {number}: not an object"
            continue
        yield from (f"line {number}: {fault}" for fault in check(record))


def keys(record: dict[str, Any], needed: set[str], allowed: set[str] = frozenset()) -> Faults:  # pyright: ignore[reportArgumentType]
    yield from (f"{key} is missing" for key in sorted(needed - record.keys()))
    yield from (f"{key} is not known" for key in sorted(record.keys() - needed - allowed))


def messages(found: Any, roles: tuple[str, ...], extra: set[str] = frozenset()) -> Faults:  # pyright: ignore[reportArgumentType]
    """A list of messages, a system message only at its head, every text something."""
    if not isinstance(found, list) or not found:
        yield "messages are no list, or empty"
        return
    for number, message in enumerate(found):
        if not isinstance(message, dict):
            yield f"message {number} is no object"
            continue
        yield from (f"message {number}: {fault}" for fault in keys(message, {"role", "content"}, extra))
        if message.get("role") not in roles:
            yield f"message {number}: role {message.get('role')!r}"
        if not isinstance(message.get("content"), str) or not message["content"].strip():
            yield f"message {number}: no text"
        if message.get("role") == "system" and number:
            yield f"message {number}: a system message that is not the first"


def alternates(found: list[dict[str, Any]], last: str) -> Faults:
    """After a system message or none user and assistant in turn, beginning with the user."""
    roles = [message.get("role") for message in found]
    spoken = roles[1:] if roles[:1] == ["system"] else roles
    if spoken != [("user", "assistant")[number % 2] for number in range(len(spoken))]:
        yield f"roles do not alternate: {', '.join(map(str, roles))}"
    if not spoken or spoken[-1] != last:
        yield f"the last message is not the {last}'s"


def one_answer(found: Any, name: str) -> Faults:
    """A list of exactly one assistant message."""
    if not isinstance(found, list) or len(found) != 1:
        yield f"{name} is not one message"
        return
    yield from (f"{name}: {fault}" for fault in messages(found, ("assistant",)))


def answer(found: Any, name: str) -> Faults:
    """One assistant message."""
    yield from one_answer([found], name)


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
