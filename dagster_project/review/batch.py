"""Review by editing a file: `pending_review/batch_YYYYMMDD.json`, a list of items with `verdict` and `note` to fill in.

Writing a batch never loses what a person has filled in but not imported yet; importing one takes all of it or, if anything is
wrong with it, nothing.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date
from pathlib import Path
from typing import Any

from dagster_project.errors import GristmillError
from dagster_project.review.decisions import Decision, Decisions
from dagster_project.review.items import ReviewItem, content_hash

WORDS = {"approved": "approved", "approve": "approved", "rejected": "rejected", "reject": "rejected"}
UNFILLED = {"verdict": None, "note": ""}
# Characters JSON allows as they are though a terminal or an editor would obey them or break the line there.
_UNSEEN = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\ufff9-\ufffb]")

_FIELDS = [field.name for field in fields(ReviewItem)]
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode  # strict JSON, readable in any script


@dataclass(frozen=True)
class Filled:
    """What a person filled in for one item. `verdict` is null where they left only a note."""

    id: str
    verdict: str | None
    note: str
    content_hash: str  # of the texts in the file, which are what they saw


@dataclass(frozen=True)
class Imported:
    """What an import did."""

    recorded: int = 0
    already: int = 0  # this file's decision was taken before, whatever was decided since
    on_other_texts: int = 0  # recorded, but the texts have changed since the batch was written


# --- writing -----------------------------------------------------------------------------------------------------


def batch_path(folder: Path, day: date) -> Path:
    return folder / f"batch_{day:%Y%m%d}.json"


def batch_text(items: Iterable[ReviewItem], kept: Sequence[Mapping[str, Any]] = ()) -> str:
    """The batch as text: items as they come, then entries of `kept` about items that have left the queue.

    An item that is in `kept` is filled in as there. Where its texts are others by now, the entry as it was filled in stays in its
    place: it says what the person saw, and the item comes back with its new texts once that is imported.
    """
    filled = {entry.get("id"): entry for entry in kept}
    entries: list[Mapping[str, Any]] = []
    for item in items:
        entry, done = _entry(item), filled.pop(item.id, UNFILLED)
        is_same = done.get("content_hash", item.content_hash) == item.content_hash
        entries.append({**entry, "verdict": done.get("verdict"), "note": done.get("note", "")} if is_same else done)
    texts = ",\n".join(map(_entry_text, [*entries, *filled.values()]))
    return _without_unseen(f"[\n{texts}\n]\n" if texts else "[]\n")


def _entry(item: ReviewItem) -> dict[str, Any]:
    score = None if item.score is None else round(item.score, 6)
    return {name: getattr(item, name) for name in _FIELDS} | {"score": score, "content_hash": item.content_hash}


def _entry_text(entry: Mapping[str, Any]) -> str:
    """A line a field, lists included: easier on the eye than the json module's own indentation, and faster."""
    lines = ",\n".join([f"    {_encode(name)}: {_encode(value)}" for name, value in entry.items()])
    return f"  {{\n{lines}\n  }}"


def _without_unseen(text: str) -> str:
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def kept_entries(path: Path, decisions: Decisions | None = None) -> list[dict[str, Any]]:
    """What a person filled in in an existing batch and did not import. A file that cannot be read is put aside, not lost."""
    if not path.exists():
        return []
    try:
        entries = _entries(path)
    except GristmillError:
        path.rename(_free_name(path))
        return []
    filled = [entry for entry in entries if not _is_unfilled(entry)]
    if not filled or decisions is None:
        return filled
    known = set(decisions.log().select("example_id", "content_hash", "verdict", "note").iter_rows())
    return [entry for entry in filled if not _is_in_log(entry, known)]


def _is_in_log(entry: dict[str, Any], known: set[tuple[Any, ...]]) -> bool:
    try:
        filled = _filled(entry, "")
    except GristmillError:
        return False
    return (filled.id, filled.content_hash, filled.verdict or "noted", filled.note) in known


def _free_name(path: Path) -> Path:
    names = (path.with_name(f"{path.stem}.unreadable{number}.json") for number in range(1, 10_000))
    return next(name for name in names if not name.exists())


# --- reading -----------------------------------------------------------------------------------------------------


def read_batch(path: Path, known: Collection[str] | None = None) -> list[Filled]:
    """What was filled in. With `known`, a verdict on any other id is an error. The first thing wrong is named, in one line."""
    found: list[Filled] = []
    seen: set[str] = set()
    for number, entry in enumerate(_entries(path), start=1):
        example_id = entry.get("id")
        if not isinstance(example_id, str) or not example_id:
            raise GristmillError(f"{path}: entry {number} has no id")
        if example_id in seen:
            raise GristmillError(f"{path}: item {example_id!r} is in the file twice")
        seen.add(example_id)
        if _is_unfilled(entry):
            continue
        if known is not None and example_id not in known:
            raise GristmillError(f"{path}: item {example_id!r} is not in the review queue")
        found.append(_filled(entry, f"{path}: item {example_id!r}"))
    return found


def import_batch(
    path: Path,
    items: Mapping[str, ReviewItem],
    decisions: Decisions,
    reviewer: str,
    seen_verdicts: Collection[str] = (),
) -> Imported:
    """Record what was filled in, all or nothing. What this reviewer has recorded from the same file before stays as it is.

    `seen_verdicts`: ids of which the reviewer may have seen what others decided.
    """
    log = decisions.log()
    filled = read_batch(path, {*items, *log["example_id"]})
    columns = ("example_id", "content_hash", "verdict", "note", "reviewer")
    known = set(log.select(columns).iter_rows())
    new = [one for one in filled if (one.id, one.content_hash, one.verdict or "noted", one.note, reviewer) not in known]
    decisions.append(
        *(
            Decision(one.id, one.verdict or "noted", reviewer, one.note, one.content_hash, one.id not in seen_verdicts)
            for one in new
        )
    )
    on_other_texts = sum(one.id in items and items[one.id].content_hash != one.content_hash for one in new)
    return Imported(len(new), len(filled) - len(new), on_other_texts)


def _entries(path: Path) -> list[dict[str, Any]]:
    try:
        entries = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise GristmillError(f"cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise GristmillError(f"{path} is not UTF-8 text") from error
    except json.JSONDecodeError as error:
        raise GristmillError(f"{path} is not JSON: {error.msg} in line {error.lineno}, column {error.colno}") from error
    except RecursionError as error:
        raise GristmillError(f"{path} is not a batch: it is nested too deep") from error
    if not isinstance(entries, list):
        raise GristmillError(f"{path} is not a batch: a list of items was expected")
    for number, entry in enumerate(entries, start=1):
        if not isinstance(entry, dict):
            raise GristmillError(f"{path} is not a batch: entry {number} is not an object")
    return entries


def _is_unfilled(entry: Mapping[str, Any]) -> bool:
    return all(
        isinstance(value, str | None) and not (value or "").strip()
        for value in (entry.get("verdict"), entry.get("note"))
    )


def _filled(entry: Mapping[str, Any], where: str) -> Filled:
    verdict, note = entry.get("verdict"), entry.get("note", "")
    word = verdict.strip().lower() if isinstance(verdict, str) else verdict
    if word not in (None, "") and (not isinstance(word, str) or word not in WORDS):
        raise GristmillError(f'{where}: verdict must be "approved", "rejected" or null, not {verdict!r}')
    if not isinstance(note, str | None):
        raise GristmillError(f"{where}: note must be a text, not {note!r}")
    texts = [entry.get(name) for name in ("query", "answer", "attempt")]
    if not isinstance(texts[0], str) or not isinstance(texts[1], str) or not isinstance(texts[2], str | None):
        raise GristmillError(f"{where}: query, answer or attempt is missing or not a text")
    seen = content_hash(texts[0], texts[1], texts[2])
    if entry.get("content_hash", seen) != seen:
        raise GristmillError(f"{where}: query, answer or attempt was edited; only verdict and note may be")
    return Filled(str(entry.get("id")), WORDS[word] if word else None, (note or "").strip(), seen)
