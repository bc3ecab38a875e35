"""The texts of turns that lie beside their database: transcripts by day, and a folder a turn (sources.md, conversations).

`transcripts/YYYYMMDD.jsonl` has queries. A turn's folder, `turn_NNNNNN/`, has `context.md` (section "## 0. User Query"),
`response.md` and `metadata.json`. It is the one the transcript or the row names; else one below a folder named like the
user; else one anyone may use, if its metadata does not name another session. Nothing outside the database's folder is read.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from functools import cached_property
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl

from dagster_project.instants import epoch_seconds, repair_milliseconds
from dagster_project.signals.json_columns import strings_at

TURN_FOLDER = re.compile(r"turn_(\d{1,18})")
DEPTH = 3  # users/<user>/turns/turn_NNNNNN
FILES = ("context.md", "response.md", "metadata.json")
NUMBERS_TOGETHER = 64  # folders whose state is kept as one digest
# What a turn takes from its metadata.json where its row says nothing.
FROM_METADATA: dict[str, type[pl.DataType]] = {
    "timestamp": pl.Float64, "validation_outcome": pl.String, "quality_score": pl.Float64,
    "user_feedback_status": pl.String, "feedback_confidence": pl.Float64, "rejection_detected_in": pl.String,
}  # fmt: skip
_FOLDER = {
    "folder": pl.String, "folder_session": pl.String, "folder_query": pl.String, "folder_response": pl.String,
    "folder_repairs": pl.List(pl.String), **{f"metadata_{name}": kind for name, kind in FROM_METADATA.items()},
}  # fmt: skip
_TRANSCRIPT = {
    "turn_number": pl.Int64, "line_session": pl.String, "line_at": pl.Float64, "transcript_query": pl.String,
    "turn_dir": pl.String,
}  # fmt: skip
_QUERY_SECTION = r"(?ms)^##[ \t]*0\.?[ \t]*User Query[^\n]*\n(.*?)(?:^##[ \t]*[0-9]+\.|\z)"


class TurnTexts:
    """What lies beside one database. Listed once; texts are read for the rows that ask."""

    def __init__(self, folder: Path, shared_numbers: Sequence[int] = ()) -> None:
        """`shared_numbers` are those of several users' turns: a folder that tells nothing of its session is no one's then."""
        self.folder = folder
        self.shared_numbers = shared_numbers
        self.unreadable_lines = 0
        self._transcripts: dict[date, pl.DataFrame] = {}

    # --- what is there -------------------------------------------------------------------------------------------

    @cached_property
    def _folders(self) -> pl.DataFrame:
        """Every turn folder: its path, number, and the user it lies below (null where anyone may use it)."""
        found = list(_turn_folders(self.folder, "", DEPTH))
        schema = {"folder": pl.String, "turn_number": pl.Int64, "owner": pl.String}
        return pl.DataFrame(found, schema=schema, orient="row").sort("folder")

    @property
    def has_folders(self) -> bool:
        return self._folders.height > 0

    @cached_property
    def _days(self) -> dict[date, Path]:
        folder = self.folder / "transcripts"
        paths = sorted(folder.glob("[0-9]" * 8 + ".jsonl")) if folder.is_dir() else []
        return {day: path for path in paths if (day := _day(path.stem)) is not None}

    def digests(self) -> dict[str, str]:
        """How the files look from outside, a digest per transcript and per few turn folders: what changed is read again."""
        parts: dict[str, list[str]] = {}
        for day, path in self._days.items():
            parts[f"transcript {day}"] = [_look(path)]
        for folder, number, _ in self._folders.iter_rows():
            looks = [_look(self.folder / folder / name) for name in FILES]
            parts.setdefault(f"folders {number // NUMBERS_TOGETHER}", []).append(f"{folder} {looks}")
        return {name: blake2b("\n".join(looks).encode(), digest_size=8).hexdigest() for name, looks in parts.items()}

    # --- texts of rows -------------------------------------------------------------------------------------------

    def beside(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows with `transcript_query`, `folder_query`, `folder_response`, `metadata_*` and `folder_repairs`."""
        rows = self._with_transcripts(rows.with_row_index("row_place"))
        folders = self._folders_of(rows)
        rows = rows.join(folders.drop("folder", "folder_session"), on="row_place", how="left", maintain_order="left")
        return rows.drop("row_place", "turn_dir").with_columns(pl.col("folder_repairs").fill_null([]))

    def _with_transcripts(self, rows: pl.DataFrame) -> pl.DataFrame:
        days = (pl.from_epoch(rows["timestamp"].cast(pl.Int64, strict=False)).dt.date()).drop_nulls().unique().to_list()
        near = {day + timedelta(days=shift) for day in days for shift in (-1, 0, 1)}
        frames = [self._transcript(day) for day in sorted(near & self._days.keys())]
        lines = pl.concat([pl.DataFrame(schema=_TRANSCRIPT), *frames])
        known = rows.select("row_place", "turn_number", "session_id", "timestamp").drop_nulls("turn_number")
        found = known.join(lines.with_row_index("line"), on="turn_number").filter(
            pl.col("line_session").eq_missing(pl.col("session_id")) | pl.col("line_session").is_null()
        )
        # of several lines about a turn the one nearest in time counts, then the last
        distance = (pl.col("line_at") - pl.col("timestamp")).abs()
        found = found.sort(
            "row_place", pl.col("line_session").is_null(), distance, -pl.col("line").cast(pl.Int64), nulls_last=True
        ).unique("row_place", keep="first", maintain_order=True)
        return rows.join(
            found.select("row_place", "transcript_query", "turn_dir"), on="row_place", how="left", maintain_order="left"
        )

    def _transcript(self, day: date) -> pl.DataFrame:
        if day not in self._transcripts:
            lines, unreadable = _lines_of(self._days[day])
            self.unreadable_lines += unreadable
            self._transcripts[day] = lines
        return self._transcripts[day]

    def _folders_of(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Per row the contents of its turn's folder, for rows that have one."""
        if not self.has_folders:
            return pl.DataFrame(schema={"row_place": pl.UInt32, **_FOLDER})
        asked = rows.select("row_place", "turn_number", "user_id", "session_id", "turn_dir", "doc_path")
        given = pl.concat(
            [
                asked.select("row_place", "session_id", pl.col(column).alias("said"), pl.lit(order).alias("order"))
                for order, column in enumerate(("turn_dir", "doc_path"))
            ]
        ).drop_nulls("said")
        places = {said: self._inside(said) for said in given["said"].unique().to_list()}
        named = given.with_columns(
            pl.col("said").replace_strict(places, return_dtype=pl.String, default=None).alias("folder")
        )
        named = named.join(self._folders, on="folder").select(
            "row_place", "session_id", "folder", "turn_number", "order"
        )
        numbered = asked.drop_nulls("turn_number").join(self._folders, on="turn_number")
        numbered = numbered.filter(pl.col("owner").is_null() | (pl.col("owner") == pl.col("user_id"))).select(
            "row_place",
            "session_id",
            "folder",
            "turn_number",
            pl.when(pl.col("owner").is_null()).then(3).otherwise(2).alias("order"),
        )
        candidates = pl.concat([named, numbered.cast({"order": named.schema["order"]}).select(named.columns)])
        contents = pl.DataFrame(
            [_contents(self.folder, folder) for folder in candidates["folder"].unique().sort().to_list()],
            schema=_FOLDER, orient="row",
        )  # fmt: skip
        is_strange = (pl.col("order") == 3) & (pl.col("folder_session") != pl.col("session_id"))
        found = candidates.join(_parsed(contents), on="folder").filter(~is_strange.fill_null(False))
        is_vague = (pl.col("order") == 3) & (pl.col("folder_session").is_null() | pl.col("session_id").is_null())
        found = found.filter(~(is_vague & pl.col("turn_number").is_in(list(self.shared_numbers))))
        best = found.sort("row_place", "order", "folder").unique("row_place", keep="first", maintain_order=True)
        return best.select("row_place", *_FOLDER)

    def _inside(self, said: str) -> str | None:
        """A folder as a source names it, relative to ours; an absolute path counts by its last part, or below ours."""
        path = PurePosixPath(said.replace("\\", "/"))
        if path.is_absolute():
            own = PurePosixPath(str(self.folder.absolute()))
            path = path.relative_to(own) if path.is_relative_to(own) else PurePosixPath(path.name)
        if TURN_FOLDER.fullmatch(path.name) is None and path.suffix:
            path = path.parent  # a file in the folder
        return None if ".." in path.parts else str(path)


def _turn_folders(root: Path, below: str, depth: int) -> Iterator[tuple[str, int, str | None]]:
    try:
        entries = sorted(entry.name for entry in os.scandir(root / below) if entry.is_dir())
    except OSError:  # a folder we may not look into holds nothing for us
        return
    for name in entries:
        path = f"{below}/{name}" if below else name
        number = TURN_FOLDER.fullmatch(name)
        if number:
            owner = [part for part in PurePosixPath(below).parts if part not in ("users", "turns")]
            yield path, int(number[1]), owner[-1] if owner else None
        elif depth and name != "transcripts" and not name.startswith("."):
            yield from _turn_folders(root, path, depth - 1)


def _look(path: Path) -> str:
    try:
        status = path.stat()
    except OSError:
        return "-"
    return f"{status.st_size} {status.st_mtime_ns}"


def _day(stem: str) -> date | None:
    try:
        return date.fromisoformat(f"{stem[:4]}-{stem[4:6]}-{stem[6:]}")
    except ValueError:
        return None


# --- transcripts -------------------------------------------------------------------------------------------------


def _lines_of(path: Path) -> tuple[pl.DataFrame, int]:
    """The lines of a transcript that can be read, and how many cannot."""
    stored = path.read_bytes()
    try:
        lines = pl.Series("line", [stored.decode()]).str.split("\n").explode()
    except UnicodeDecodeError:  # only the lines with bad bytes are lost
        lines = pl.Series(
            "line", [line.decode(errors="ignore") if _is_text(line) else "?" for line in stored.split(b"\n")]
        )
    lines = lines.filter(lines.str.strip_chars() != "")
    # a NUL cannot be kept (G5), and DuckDB stumbles over its escape
    readable = lines.filter(~lines.str.contains_any(["\0", "\\u0000"]))
    said = strings_at(readable, ("turn_number", "session_id", "query", "turn_dir", "timestamp"))
    said = said.with_columns(
        pl.col("turn_number").cast(pl.Int64, strict=False),
        *(pl.when(pl.col(c) != "").then(pl.col(c)).alias(c) for c in ("session_id", "query", "turn_dir", "timestamp")),
    ).drop_nulls("turn_number")
    seconds = repair_milliseconds(epoch_seconds(said["timestamp"]).alias("at").to_frame(), ("at",))["at"]
    rows = said.select(
        "turn_number", pl.col("session_id").alias("line_session"), seconds.alias("line_at"),
        pl.col("query").alias("transcript_query"), "turn_dir",
    )  # fmt: skip
    return rows, len(lines) - rows.height


def _is_text(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


# --- folders -----------------------------------------------------------------------------------------------------


def _contents(root: Path, folder: str) -> tuple[Any, ...]:
    """One turn folder, in the order of _FOLDER; what is broken is named and left out."""
    repairs: list[str] = []
    context, response, metadata = (_text_of(root / folder / name, repairs) for name in FILES)
    said: Any = {}
    if metadata is not None:
        try:
            said = json.loads(metadata)
        except ValueError:
            said = None
        if not isinstance(said, dict):
            said = {}
            repairs.append("bad_json:metadata.json")
    nested = said.get("user_feedback")
    feedback = nested if isinstance(nested, dict) else {}
    status = feedback.get("status") or said.get("user_feedback_status")
    values = (
        _seconds(said.get("timestamp")), _word(said.get("validation_outcome")), _number(said.get("quality_score")),
        _word(status), _number(_first(feedback.get("confidence"), said.get("feedback_confidence"))),
        _word(_first(feedback.get("detected_in_turn"), said.get("rejection_detected_in"))),
    )  # fmt: skip
    return (folder, _word(said.get("session_id")), context, response, repairs, *values)


def _text_of(path: Path, repairs: list[str]) -> str | None:
    try:
        text = path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except (UnicodeDecodeError, OSError):
        text = "\0"
    if "\0" in text:
        repairs.append(f"bad_text:{path.name}")
        return None
    return text


def _first(*values: object) -> object:
    return next((value for value in values if value is not None), None)


def _word(value: object) -> str | None:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) and value != "" else None


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _seconds(value: object) -> float | None:
    """Epoch seconds or milliseconds, or an ISO text (naive = UTC)."""
    text = str(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else None
    seconds = epoch_seconds(pl.Series("at", [text], dtype=pl.String)).to_frame()
    return repair_milliseconds(seconds, ("at",))["at"][0]


def _parsed(contents: pl.DataFrame) -> pl.DataFrame:
    """The user's query out of context.md; blank texts are nothing."""
    query = pl.col("folder_query").str.extract(_QUERY_SECTION).str.strip_chars()
    response = pl.col("folder_response").str.strip_chars()
    return contents.with_columns(
        pl.when(query != "").then(query).alias("folder_query"),
        pl.when(response != "").then(response).alias("folder_response"),
    )


def days_near(names: Iterable[str]) -> set[date]:
    """The days whose turns a changed transcript may be about."""
    days = [date.fromisoformat(name.removeprefix("transcript ")) for name in names if name.startswith("transcript ")]
    return {day + timedelta(days=shift) for day in days for shift in (-1, 0, 1)}


def number_groups(names: Iterable[str]) -> list[int]:
    """The groups of turn numbers whose folders changed."""
    return [int(name.removeprefix("folders ")) for name in names if name.startswith("folders ")]
