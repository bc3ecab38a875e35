"""Turn folders: which there are below a database's folder, and what one holds (`docs/sources/1-conversations.md`).

`context.md` has the query in its section "## 0. User Query", `response.md` the answer, `metadata.json` times, scores and the
source's own feedback in several shapes. Links are not followed: they may lead elsewhere.
"""

import codecs
import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl

from dagster_project.columns.instants import epoch_seconds, repair_milliseconds
from dagster_project.columns.spaces import SPACES
from dagster_project.columns.words import filled
from dagster_project.databases.plain_files import NotPlain, open_plain

TURN_FOLDER = re.compile(r"turn_(\d{1,18})")
MOST_BYTES = 16 * 2**20  # of a file in a turn folder: no message is that long
FOLDERS_TOGETHER = 256  # whose whole texts are in memory at once
DEPTH = 3  # users/<user>/turns/turn_NNNNNN
FILES = ("context.md", "response.md", "metadata.json")
# What a turn takes from its metadata.json where its row says nothing.
FROM_METADATA: dict[str, type[pl.DataType]] = {
    "timestamp": pl.Float64,
    "validation_outcome": pl.String,
    "quality_score": pl.Float64,
    "user_feedback_status": pl.String,
    "feedback_confidence": pl.Float64,
    "rejection_detected_in": pl.String,
    "source_correction_type": pl.String,
}
FOLDER_COLUMNS = {
    "folder": pl.String,
    "folder_session": pl.String,
    "folder_query": pl.String,
    "folder_response": pl.String,
    "folder_repairs": pl.List(pl.String),
    **{f"metadata_{name}": kind for name, kind in FROM_METADATA.items()},
}
_QUERY_SECTION = r"(?ms)^##[ \t]*0\.?[ \t]*User Query[^\n]*\n(.*?)(?:^##[ \t]*[0-9]+\.|\z)"


def turn_folders(root: Path, below: str, depth: int) -> Iterator[tuple[str, int, str | None]]:
    try:
        entries = sorted(
            entry.name
            for entry in os.scandir(root / below)
            if entry.is_dir(follow_symlinks=False) and _is_clean(entry.name)
        )
    except OSError:  # a folder we may not look into holds nothing for us
        return
    for name in entries:
        path = f"{below}/{name}" if below else name
        number = TURN_FOLDER.fullmatch(name)
        if number:
            owner = [part for part in PurePosixPath(below).parts if part not in ("users", "turns")]
            yield path, int(number[1]), owner[-1] if owner else None
        elif depth and name != "transcripts" and not name.startswith("."):
            yield from turn_folders(root, path, depth - 1)


def _is_clean(text: str) -> bool:
    """Whether a text can be stored: no NUL, no half of a character (G5)."""
    return "\0" not in text and not any("\ud800" <= char <= "\udfff" for char in text)


def contents_of(root: Path, folder: str) -> tuple[Any, ...]:
    """One turn folder, in the order of FOLDER_COLUMNS; what is broken is named and left out."""
    repairs: list[str] = []
    context, response, metadata = (_text_of(root / folder / name, repairs) for name in FILES)
    said: Any = {}
    if metadata is not None:
        try:
            said = json.loads(metadata)
        except (ValueError, RecursionError):
            said = None
        if not isinstance(said, dict):
            said = {}
            repairs.append("bad_json:metadata.json")
    nested = said.get("user_feedback")
    feedback = nested if isinstance(nested, dict) else {}
    status = feedback.get("status") or said.get("user_feedback_status")
    detected_in = _first(feedback.get("detected_in_turn"), said.get("rejection_detected_in"))
    kind = _first(feedback.get("correction_type"), said.get("correction_type"))
    words = [
        _word(word) for word in (said.get("session_id"), said.get("validation_outcome"), status, detected_in, kind)
    ]
    if any(word is not None and not _is_clean(word) for word in words):
        words = [word if word is None or _is_clean(word) else None for word in words]
        repairs.append("bad_text:metadata.json")
    session, outcome, status, detected_in, kind = words
    values = (
        _seconds(said.get("timestamp")),
        outcome,
        _number(said.get("quality_score")),
        status,
        _number(_first(feedback.get("confidence"), said.get("feedback_confidence"))),
        detected_in,
        kind,
    )
    return (folder, session, context, response, repairs, *values)


def _text_of(path: Path, repairs: list[str]) -> str | None:
    text, problem = _read(path)
    if problem:
        repairs.append(f"{problem}:{path.name}")
    return text


def _read(path: Path) -> tuple[str | None, str | None]:
    """A file's text, or why it has none; neither where there is no file."""
    if path.is_symlink():  # it may lead out of the database's folder
        return None, "link"
    try:
        with open_plain(path) as file:
            stored = file.read(MOST_BYTES + 1)
        if len(stored) > MOST_BYTES:
            return None, "too_long"
        text = stored.removeprefix(codecs.BOM_UTF8).decode()
    except FileNotFoundError:
        return None, None
    except NotPlain:
        return None, "not_a_file"
    except (UnicodeDecodeError, OSError):
        return None, "bad_text"
    return (None, "bad_text") if "\0" in text else (text, None)


def _first(*values: object) -> object:
    return next((value for value in values if value is not None), None)


def _word(value: object) -> str | None:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) and value != "" else None


def _number(value: object) -> float | None:
    try:
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
    except OverflowError:  # a whole number no float can hold
        return None


def _seconds(value: object) -> float | None:
    """Epoch seconds or milliseconds, or an ISO text (naive = UTC)."""
    text = str(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else None
    seconds = epoch_seconds(pl.Series("at", [text], dtype=pl.String)).to_frame()
    return repair_milliseconds(seconds, ("at",))["at"][0]


def contents_of_all(root: Path, folders: Sequence[str]) -> pl.DataFrame:
    """What these turn folders hold, as FOLDER_COLUMNS. Of a context, which may be long, only the query is kept."""
    groups = [folders[start : start + FOLDERS_TOGETHER] for start in range(0, len(folders), FOLDERS_TOGETHER)]
    return pl.concat(
        parsed(pl.DataFrame([contents_of(root, folder) for folder in group], schema=FOLDER_COLUMNS, orient="row"))
        for group in groups or [[]]
    )


def parsed(contents: pl.DataFrame) -> pl.DataFrame:
    """The user's query out of context.md; blank texts are nothing."""
    texts = {
        "folder_query": pl.col("folder_query").str.extract(_QUERY_SECTION),
        "folder_response": pl.col("folder_response"),
    }
    return contents.with_columns(filled(text).str.strip_chars(SPACES).alias(name) for name, text in texts.items())
