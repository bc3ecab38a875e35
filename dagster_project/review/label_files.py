"""Labels as a file: JSON lines in the shape `gristmill evaluate implicit` reads, and back into the log.

`label` is the verdict, null where a pair waits for one; `key` says which turn it is of. Texts are as people see them: masked.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from dagster_project.columns.content_hashes import JUDGED, shown
from dagster_project.engines import reading
from dagster_project.errors import GristmillError
from dagster_project.lake.lake import Lake
from dagster_project.review.decision_lines import LABELS
from dagster_project.review.decisions import Decision, Decisions
from dagster_project.review.desk import reviewer_name
from dagster_project.review.items import ReviewItem, content_hash
from dagster_project.review.labels import PAIRS, held_labels, pair_texts

SOURCE = "own labels"
INTENTS = ("turn_key", "thread_id", "intent", "next_turn_key")


@dataclass(frozen=True)
class Imported:
    """What an import did."""

    recorded: int
    already: int
    unlabelled: int
    on_other_texts: int


def labelled_rows(lake: Lake, decisions: Decisions) -> list[dict[str, Any]]:
    """The labels that hold, by key, with their texts."""
    held = held_labels(lake, decisions)
    texts = shown(pair_texts(lake, held), *JUDGED)
    rows = held.join(texts, left_on="turn_key", right_on="id", maintain_order="left").to_dicts()
    beside = _beside(lake, held["turn_key"].to_list())
    return [
        _row(row["turn_key"], row["query"], row["attempt"], row["answer"], beside)
        | {"label": row["verdict"], "reviewer": row["reviewer"], "judged_at": row["judged_at"].isoformat()}
        for row in rows
    ]


def waiting_rows(lake: Lake, items: Iterable[ReviewItem]) -> list[dict[str, Any]]:
    """Pairs without a label yet, to be judged elsewhere."""
    items = list(items)
    beside = _beside(lake, [item.id for item in items])
    return [_row(item.id, item.query, item.attempt, item.answer, beside) | {"label": None} for item in items]


def _row(
    key: str, query: str | None, response: str | None, message: str | None, beside: Mapping[str, Any]
) -> dict[str, Any]:
    known = beside.get(key, {})
    return {
        "key": key,
        "prev_query": query or "",
        "prev_response": response,
        "next_message": message or "",
        "source": SOURCE,
        "dialog": known.get("thread_id"),
        "prev_intent": known.get("intent"),
        "next_intent": known.get("next_intent"),
        "content_hash": content_hash(query or "", message or "", response),
    }


def _beside(lake: Lake, keys: Collection[str]) -> dict[str, dict[str, Any]]:
    """Of these turns the conversation they are of, and the intents of both sides."""
    pairs = reading.scan(lake, PAIRS)
    mine = pairs.filter(pl.col("turn_key").is_in(list(keys))).select(INTENTS).collect()
    following = pairs.filter(pl.col("turn_key").is_in(mine["next_turn_key"].drop_nulls().implode()))
    intents = following.select(next_turn_key="turn_key", next_intent="intent").collect()
    return {row["turn_key"]: row for row in mine.join(intents, on="next_turn_key", how="left").iter_rows(named=True)}


# --- back ------------------------------------------------------------------------------------------------------------


def import_labels(path: Path, items: Mapping[str, ReviewItem], decisions: Decisions, reviewer: str) -> Imported:
    """Record the labels of a file, all or none. What was recorded from it before stays as it is.

    `items` are the turns it names, as far as they are there.
    """
    rows = read_labels(path)
    for number, row in rows:
        if row["key"] not in items:
            raise GristmillError(f"{path}, line {number}: there is no turn {row['key']!r} with a message after it")
    log = decisions.log()
    known = set(log.select("example_id", "content_hash", "verdict", "reviewer").iter_rows())
    new, already, others = [], 0, 0
    for number, row in rows:
        if row["label"] is None:
            continue
        item = items[row["key"]]
        seen = row["content_hash"] or item.content_hash
        who = _name(row["reviewer"] or reviewer, f"{path}, line {number}")
        if (item.id, seen, row["label"], who) in known:
            already += 1
            continue
        others += seen != item.content_hash
        new.append(Decision(item.id, row["label"], who, content_hash=seen))
    decisions.append(*new)
    unlabelled = sum(row["label"] is None for _, row in rows)
    return Imported(len(new), already, unlabelled, others)


def _name(said: str, where: str) -> str:
    try:
        return reviewer_name(said)
    except GristmillError as error:
        raise GristmillError(f"{where}: {error}") from error


def read_labels(path: Path) -> list[tuple[int, dict[str, Any]]]:
    """The lines of a file by their numbers: key, label, reviewer, content_hash. The first thing wrong is named, in one line."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")  # other line breaks may stand in a string
    except OSError as error:
        raise GristmillError(f"{path}: cannot be read ({error.strerror or error})") from error
    except UnicodeDecodeError as error:
        raise GristmillError(f"{path}: is not UTF-8") from error
    found = [(number, _read(line, f"{path}, line {number}")) for number, line in enumerate(lines, 1) if line.strip()]
    if not found:
        raise GristmillError(f"{path}: has no rows; `gristmill label export --waiting FILE` writes some")
    seen: dict[tuple[str, str | None], int] = {}
    for number, row in found:
        if row["label"] is None:
            continue
        before = seen.setdefault((row["key"], row["reviewer"]), number)
        if before != number:
            raise GristmillError(f"{path}, line {number}: turn {row['key']!r} is labelled in line {before} already")
    return found


def _read(line: str, where: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise GristmillError(f"{where}: is not JSON") from error
    if not isinstance(found, dict):
        raise GristmillError(f"{where}: is no JSON object")
    values = {name: found.get(name) for name in ("key", "label", "reviewer", "content_hash")}
    for name, value in values.items():
        if not isinstance(value, str | None):
            raise GristmillError(f"{where}: {name} must be a string, not {json.dumps(value)[:40]}")
    if not values["key"]:
        raise GristmillError(f"{where}: key is missing: which turn is it?")
    label = (values["label"] or "").strip().lower()
    if label and label not in LABELS.verdicts:
        raise GristmillError(f"{where}: label must be {', '.join(LABELS.verdicts)} or null, not {values['label']!r}")
    return values | {"label": label or None}
