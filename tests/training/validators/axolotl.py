"""axolotl: a YAML that names files and how each is read; chats whose turns say `train`, pairs, and KTO's conversations.

https://docs.axolotl.ai/docs/dataset-formats/conversation.html, .../docs/rlhf.html
"""

from pathlib import Path
from typing import Any

import yaml

from tests.training.validators.records import Faults, alternates, answer, lines, messages

ROLES = ("system", "user", "assistant")
TYPES = {"preference": "chat_template.default", "unpaired": "chatml.argilla_chat"}


def chat(record: dict[str, Any]) -> Faults:
    found = list(messages(record.get("messages"), ROLES, {"train"}))
    yield from found
    if found:
        return
    yield from alternates(record["messages"], "assistant")
    if any(not isinstance(turn.get("train"), bool) for turn in record["messages"]):
        yield "a turn does not say whether it is trained"
    elif [turn["train"] for turn in record["messages"]] != [False] * (len(record["messages"]) - 1) + [True]:
        yield "more or less than the last answer is trained"


def pair(record: dict[str, Any]) -> Faults:
    found = list(messages(record.get("messages"), ROLES))
    yield from found
    if not found:
        yield from alternates(record["messages"], "user")
    for name in ("chosen", "rejected"):
        yield from answer(record.get(name), name)


def kto(record: dict[str, Any]) -> Faults:
    found = list(messages(record.get("completion"), ROLES))
    yield from found
    if not found:
        yield from alternates(record["completion"], "assistant")
    if not isinstance(record.get("label"), bool):
        yield "label is neither true nor false"


CHECKS = {"preference": pair, "unpaired": kto}


def faults(folder: Path, format: str) -> Faults:
    """Of the whole folder, as its YAML names it."""
    config = yaml.safe_load((folder / "axolotl.yaml").read_text(encoding="utf-8"))
    if config.get("val_set_size") != 0:
        yield "an evaluation set would be split off the tail"
    if config.get("rl") != {"preference": "dpo", "unpaired": "kto"}.get(format):
        yield f"rl is {config.get('rl')!r}"
    if not config.get("datasets"):
        yield "no datasets"
    for entry in [*config.get("datasets", ()), *config.get("test_datasets", ())]:
        if entry.get("type") != TYPES.get(format, "chat_template"):
            yield f"type {entry.get('type')!r}"
        if not (folder / entry["path"]).is_file():
            yield f"{entry['path']} is not there"
            continue
        yield from lines(folder / entry["path"], CHECKS.get(format, chat))
