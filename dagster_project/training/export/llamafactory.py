"""For LLaMA-Factory: its `dataset_info.json` with conversations (sharegpt), ranking and KTO."""

import json
from typing import Any

import polars as pl

from dagster_project.training.export.shapes import SFT, Files, Shape, Target, answered, with_answer

TAGS = {
    "role_tag": "role",
    "content_tag": "content",
    "user_tag": "user",
    "assistant_tag": "assistant",
    "system_tag": "system",
}
# What of it differs by format.
SHAREGPT: dict[str, dict[str, Any]] = {
    "preference": {"ranking": True, "columns": {"messages": "messages", "chosen": "chosen", "rejected": "rejected"}},
    "unpaired": {"columns": {"messages": "messages", "kto_tag": "label"}},
}


def conversation(records: pl.DataFrame) -> pl.DataFrame:
    return records.select("id", "messages")


def ranking(records: pl.DataFrame) -> pl.DataFrame:
    return records.select("id", "messages", answered("chosen"), answered("rejected"))


def unpaired(records: pl.DataFrame) -> pl.DataFrame:
    return records.select("id", with_answer("completion"), "label")


def _beside(files: Files) -> dict[str, str]:
    format = files.asked.format
    about = {"formatting": "sharegpt", **SHAREGPT.get(format, {"columns": {"messages": "messages"}}), "tags": TAGS}
    entries = {
        f"gristmill_{format}{'' if split == 'train' else '_' + split}": {"file_name": name, **about}
        for split, name in files.names[""].items()
    }
    return {"dataset_info.json": json.dumps(entries, indent=2) + "\n"}


def _notes(format: str) -> tuple[str, ...]:
    said = [f"`dataset_dir: <this folder>`, `dataset: gristmill_{format}`."]
    if format in SFT:
        said.append("Set `mask_history: true`: it learns every answer of a conversation else, also one that was wrong.")
    return (*said, "Records have no weight here; `--resample` draws a file by weight.")


LLAMAFACTORY = Target(
    "llamafactory",
    {
        **dict.fromkeys(SFT, (Shape(conversation),)),
        "preference": (Shape(ranking),),
        "unpaired": (Shape(unpaired),),
    },
    refusals={},
    notes=_notes,
    beside=_beside,
)
