"""LLaMA-Factory: dataset_info.json names files, columns and tags; conversations alternate, after a system message or none.

https://github.com/hiyouga/LLaMA-Factory/blob/main/data/README.md
"""

import json
from pathlib import Path
from typing import Any

from tests.training.validators.records import Faults, alternates, answer, lines, messages

ROLES = ("system", "user", "assistant")


def _conversation(record: dict[str, Any], entry: dict[str, Any]) -> Faults:
    columns = entry["columns"]
    yield from (f"{name} is missing" for name in sorted(set(columns.values()) - record.keys()))
    found = list(messages(record.get(columns["messages"]), ROLES))
    yield from found
    if not found:
        yield from alternates(record[columns["messages"]], "user" if entry.get("ranking") else "assistant")
    for name in ("chosen", "rejected"):
        if entry.get("ranking"):
            yield from answer(record.get(columns[name]), name)
    if "kto_tag" in columns and not isinstance(record.get(columns["kto_tag"]), bool):
        yield "the tag of KTO is neither true nor false"


def _alpaca(record: dict[str, Any], entry: dict[str, Any]) -> Faults:
    columns = entry["columns"]
    for meaning, name in columns.items():
        kind = bool if meaning == "kto_tag" else str
        if not isinstance(record.get(name), kind):
            yield f"{name} is no {kind.__name__}"


def faults(folder: Path) -> Faults:
    """Of the whole folder, as its dataset_info.json names it."""
    for name, entry in json.loads((folder / "dataset_info.json").read_text(encoding="utf-8")).items():
        check = _conversation if entry.get("formatting") == "sharegpt" else _alpaca
        if not (folder / entry["file_name"]).is_file():
            yield f"{name}: {entry['file_name']} is not there"
            continue
        yield from lines(folder / entry["file_name"], lambda record, entry=entry, check=check: check(record, entry))
