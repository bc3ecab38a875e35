"""The files of a release as any reader sees them, and where a record belongs (semantics F5, T3, T4)."""

from pathlib import Path
from typing import Any

from tests.oracle.feedback_source import as_loaded

FORMATS = {
    "instruction": ("instruction", "input", "output"),
    "cot": ("instruction", "input", "output"),
    "correction": ("instruction", "input", "output", "error_type"),
    "preference": ("prompt", "chosen", "rejected", "votes_for", "votes_against"),
    "unpaired": ("prompt", "completion", "label"),
}
RECORD_END = tuple("context id content_id source quality_weight base_weight tier domain language origin_ids".split())
BREAKS = "\u0085\u2028\u2029"  # characters at which some readers end a line


def read_release(folder: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """The records, with `format` and `split` beside; and what is wrong with the files (T4)."""
    records, found = [], []
    for path in sorted(folder.glob("*.jsonl")):
        kind, rest = path.name.split("_", 1)
        split = next((s for s in ("validation", "test", "augmentation") if f".{s}." in rest), "train")
        text = path.read_bytes().decode("utf-8")
        if any(character in text for character in BREAKS):
            found.append(f"T4: {path.name} has a line separator in a line")
        loaded = [dict(as_loaded(line)) for line in text.removesuffix("\n").split("\n")]
        ids = [record["id"] for record in loaded]
        if ids != sorted(set(ids)):
            found.append(f"T4: {path.name} is not by id")
        for record in loaded:
            if tuple(record) != (*FORMATS[kind], *RECORD_END):
                found.append(f"T4: {path.name} has the keys {tuple(record)}")
            records.append({**record, "format": kind, "split": split})
    if len({record["id"] for record in records}) != len(records):
        found.append("T1: an id is there twice")
    return records, found
