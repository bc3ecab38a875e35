"""The texts of turns that lie beside their database: transcripts by day, and a folder a turn (`docs/sources/1-conversations.md`).

`transcripts/YYYYMMDD.jsonl` has queries. A turn's folder, `turn_NNNNNN/`, has `context.md` (section "## 0. User Query"),
`response.md` and `metadata.json`. It is the one the transcript or the row names; else one below a folder named like the
user; else one anyone may use. Metadata that names another session makes a folder anyone may use someone else's. Nothing
outside the database's folder is read. What a row gets depends on the row alone, never on those read together with it.
"""

import json
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from functools import cached_property
from hashlib import blake2b
from pathlib import Path, PurePosixPath

import polars as pl

from dagster_project.columns.instants import instant
from dagster_project.systems.conversations.transcripts import INDEX, TEXTS, index_of, texts_of
from dagster_project.systems.conversations.turn_folders import (
    DEPTH,
    FILES,
    FOLDER_COLUMNS,
    TURN_FOLDER,
    contents_of_all,
    turn_folders,
)

NUMBERS_TOGETHER = 64  # folders whose state is kept as one digest
ANYONES = 3  # the place of a folder anyone may use among those a turn may have
DAYS_KEPT = 32  # transcripts kept in memory for the rows to come
UNKNOWN_IDS = ("", "default")  # as user or session: nobody in particular (G9)
# Of turns that only their time tells apart: a line or folder further from a turn than this is someone else's (seconds).
SAME_INSTANT = 2.0


class TurnTexts:
    """What lies beside one database. Listed once; texts are read for the rows that ask."""

    def __init__(self, folder: Path, shared_numbers: Sequence[int] = (), twins: Sequence[tuple[int, str]] = ()) -> None:
        """`shared_numbers` are those of several turns, `twins` number and session ('' = unknown) of several turns.

        A text beside such turns is that of the one whose session it names, of twins the one whose time it has; else no one's.
        """
        self.folder = folder
        self.shared_numbers = shared_numbers
        self.twins = twins
        self.unreadable_lines: dict[str, int] = {}  # of the transcripts read so far, by day
        self._transcripts: dict[date, pl.DataFrame] = {}

    # --- what is there -------------------------------------------------------------------------------------------

    @cached_property
    def _folders(self) -> pl.DataFrame:
        """Every turn folder: its path, number, and the user it lies below (null where anyone may use it)."""
        found = list(turn_folders(self.folder, "", DEPTH))
        schema = {"folder": pl.String, "turn_number": pl.Int64, "owner": pl.String}
        return pl.DataFrame(found, schema=schema, orient="row").sort("folder")

    @property
    def has_folders(self) -> bool:
        return self._folders.height > 0

    @property
    def has_texts(self) -> bool:
        return self.has_folders or bool(self._days)

    @cached_property
    def _days(self) -> dict[date, Path]:
        folder = self.folder / "transcripts"
        paths = sorted(folder.glob("[0-9]" * 8 + ".jsonl")) if folder.is_dir() and not folder.is_symlink() else []
        return {day: path for path in paths if (day := _day(path.stem)) is not None and not path.is_symlink()}

    @property
    def transcript_days(self) -> set[str]:
        return {str(day) for day in self._days}

    def digests(self) -> dict[str, str]:
        """How the files look from outside, a digest per transcript and per few turn folders: what changed is read again."""
        parts: dict[str, list[str]] = {}
        for day, path in self._days.items():
            parts[f"transcript {day}"] = [_look(path)]
        for number in self.shared_numbers if self.has_texts else ():
            parts.setdefault(f"shared {number // NUMBERS_TOGETHER}", []).append(str(number))
        for number, session in self.twins if self.has_texts else ():
            parts.setdefault(f"shared {number // NUMBERS_TOGETHER}", []).append(f"{number} {session}")
        for folder, number, _ in self._folders.iter_rows():
            looks = [_look(self.folder / folder / name) for name in FILES]
            parts.setdefault(f"folders {number // NUMBERS_TOGETHER}", []).append(f"{folder} {looks}")
        return {name: blake2b("\n".join(looks).encode(), digest_size=8).hexdigest() for name, looks in parts.items()}

    # --- texts of rows -------------------------------------------------------------------------------------------

    def beside(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows with `transcript_query`, `folder_query`, `folder_response`, `metadata_*` and `folder_repairs`."""
        rows = self._with_transcripts(self._with_times(rows.with_row_index("row_place")))
        folders = self._folders_of(rows)
        rows = rows.join(folders.drop("folder", "folder_session"), on="row_place", how="left", maintain_order="left")
        return rows.drop("row_place", "row_at", "row_day", "turn_dir").with_columns(
            pl.col("folder_repairs").fill_null([])
        )

    def _with_times(self, rows: pl.DataFrame) -> pl.DataFrame:
        """`row_at` and `row_day`: the row's time, else its folder's, so that its transcript can be found."""
        timeless = rows.filter(pl.col("timestamp").is_null()).with_columns(
            pl.lit(None, dtype=pl.String).alias("turn_dir")
        )
        found = self._folders_of(timeless).select("row_place", "metadata_timestamp")
        times = rows.select("row_place", "timestamp").join(found, on="row_place", how="left", maintain_order="left")
        at = times.select(pl.coalesce("timestamp", "metadata_timestamp"))["timestamp"]
        return rows.with_columns(at.alias("row_at")).with_columns(instant(pl.col("row_at")).dt.date().alias("row_day"))

    def _with_transcripts(self, rows: pl.DataFrame) -> pl.DataFrame:
        days = rows["row_day"].drop_nulls().unique().to_list()
        near = {day + timedelta(days=shift) for day in days for shift in (-1, 0, 1)} & self._days.keys()
        if len(self._transcripts.keys() | near) > DAYS_KEPT:
            self._transcripts = {day: lines for day, lines in self._transcripts.items() if day in near}
        none = pl.DataFrame(schema={**INDEX, "line_day": pl.Date})
        lines = pl.concat([none, *(self._transcript(day) for day in sorted(near))])
        asked = rows.select("row_place", "turn_number", _known_id("session_id"), "row_at", "row_day")
        asked = self._with_doubts(asked.drop_nulls("turn_number"))
        distance = (pl.col("line_at") - pl.col("row_at")).abs()
        found = asked.join(lines, on="turn_number").filter(
            ((pl.col("line_day") - pl.col("row_day")).dt.total_days().abs() <= 1)
            & (pl.col("line_session").eq_missing(pl.col("session_id")) | pl.col("line_session").is_null())
            & (
                ~pl.col("is_shared")
                | (pl.col("line_session").is_not_null() & ~pl.col("is_twin"))
                | (distance <= SAME_INSTANT).fill_null(False)
            )
        )
        # of several lines about a turn the one nearest in time counts, then the last
        found = found.sort(
            "row_place",
            pl.col("line_session").is_null(),
            distance,
            "line_day",
            "line",
            descending=[False, False, False, True, True],
            nulls_last=True,
        ).unique("row_place", keep="first", maintain_order=True)
        texts = [pl.DataFrame(schema={**TEXTS, "line_day": pl.Date})]
        for (day,), meant in found.partition_by("line_day", as_dict=True).items():
            said = texts_of(self._days[day], meant["line"].unique().sort())
            texts.append(said.with_columns(pl.lit(day).alias("line_day")))
        said = found.select("row_place", "line_day", "line").join(pl.concat(texts), on=["line_day", "line"], how="left")
        return rows.join(said.drop("line_day", "line"), on="row_place", how="left", maintain_order="left")

    def _with_doubts(self, rows: pl.DataFrame) -> pl.DataFrame:
        """`is_shared`: other turns have the number; `is_twin`: even within the session, so that only the time can tell."""
        twins = pl.DataFrame(self.twins, schema={"turn_number": pl.Int64, "session": pl.String}, orient="row")
        session = _known_id("session_id").fill_null("").alias("session")
        marked = rows.with_columns(session).join(
            twins.with_columns(pl.lit(True).alias("is_twin")),
            on=["turn_number", "session"],
            how="left",
            maintain_order="left",
        )
        is_shared = pl.col("turn_number").is_in(list(self.shared_numbers)).alias("is_shared")
        return marked.drop("session").with_columns(is_shared, pl.col("is_twin").fill_null(False))

    def _transcript(self, day: date) -> pl.DataFrame:
        if day not in self._transcripts:
            lines, unreadable = index_of(self._days[day])
            self.unreadable_lines[str(day)] = unreadable
            known = _known_id("line_session").alias("line_session")
            self._transcripts[day] = lines.with_columns(known, pl.lit(day).alias("line_day"))
        return self._transcripts[day]

    def _folders_of(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Per row the contents of its turn's folder, for rows that have one."""
        if not self.has_folders:
            return pl.DataFrame(schema={"row_place": pl.UInt32, **FOLDER_COLUMNS})
        columns = ("row_place", "turn_number", "session_id", "timestamp", "folder", "owner", "order")
        asked = rows.select("row_place", "turn_number", "user_id", "session_id", "timestamp", "turn_dir", "doc_path")
        given = pl.concat(
            [
                asked.select(
                    "row_place",
                    "turn_number",
                    "session_id",
                    "timestamp",
                    pl.col(column).alias("said"),
                    pl.lit(n).alias("n"),
                )
                for n, column in enumerate(("turn_dir", "doc_path"))
            ]
        ).drop_nulls("said")
        places = [(said, *self._inside(said)) for said in given["said"].unique().to_list()]
        named = given.join(
            pl.DataFrame(places, schema={"said": pl.String, "folder": pl.String, "is_sure": pl.Boolean}, orient="row"),
            on="said",
        ).join(self._folders.select("folder", "owner"), on="folder")
        named = named.with_columns(pl.when("is_sure").then("n").otherwise(ANYONES).alias("order"))
        numbered = asked.drop_nulls("turn_number").join(self._folders, on="turn_number")
        numbered = numbered.filter(pl.col("owner").is_null() | (pl.col("owner") == pl.col("user_id"))).with_columns(
            pl.when(pl.col("owner").is_null()).then(ANYONES).otherwise(ANYONES - 1).alias("order")
        )
        candidates = pl.concat([part.select(columns) for part in (named, numbered)])
        contents = contents_of_all(self.folder, candidates["folder"].unique().sort().to_list())
        found = self._with_doubts(candidates.join(contents, on="folder"))
        ours, theirs = _known_id("session_id"), _known_id("folder_session")
        is_strange = pl.col("owner").is_null() & (ours != theirs).fill_null(False)
        is_same_instant = ((pl.col("metadata_timestamp") - pl.col("timestamp")).abs() <= SAME_INSTANT).fill_null(False)
        is_doubtful = pl.col("is_twin") | (pl.col("is_shared") & (ours.is_null() | theirs.is_null()))
        is_vague = (pl.col("order") == ANYONES) & is_doubtful & ~is_same_instant
        best = found.filter(~is_strange & ~is_vague).sort("row_place", "order", "folder")
        return best.unique("row_place", keep="first", maintain_order=True).select("row_place", *FOLDER_COLUMNS)

    def _inside(self, said: str) -> tuple[str | None, bool]:
        """The folder a source names, relative to ours, and whether it is just that one.

        Paths may be those of another machine or relative to another folder: the longest end of one that we have counts. Of
        the turn's name alone nobody can tell whether the same folder is meant.
        """
        path = PurePosixPath(said.replace("\\", "/"))
        own = PurePosixPath(str(self.folder.absolute()))
        is_below = path.is_relative_to(own)
        parts = path.relative_to(own).parts if is_below else path.parts
        if parts and TURN_FOLDER.fullmatch(parts[-1]) is None and PurePosixPath(parts[-1]).suffix:
            parts = parts[:-1]  # a file in the folder
        if ".." in parts:
            return None, False
        ends = ("/".join(parts[start:]) for start in range(len(parts)))
        found = next((end for end in ends if end in self._known_folders), None)
        return found, found is not None and ("/" in found or is_below or len(parts) == 1)

    @cached_property
    def _known_folders(self) -> frozenset[str]:
        return frozenset(self._folders["folder"].to_list())


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


def _known_id(column: str) -> pl.Expr:
    return pl.when(~pl.col(column).is_in(UNKNOWN_IDS)).then(pl.col(column))


def days_near(names: Iterable[str]) -> set[date]:
    """The days whose turns a changed transcript may be about."""
    days = [date.fromisoformat(name.removeprefix("transcript ")) for name in names if name.startswith("transcript ")]
    return {day + timedelta(days=shift) for day in days for shift in (-1, 0, 1)}


def number_groups(names: Iterable[str]) -> list[int]:
    """The groups of turn numbers whose folders changed, or which other turns came to have, or have no longer."""
    return sorted({int(name.split(" ")[1]) for name in names if name.startswith(("folders ", "shared "))})


def look_beside(database: Path) -> str:
    """How all of it looks now, for whoever wants to know whether anything changed (system.toml names it)."""
    return json.dumps(TurnTexts(database.parent).digests(), sort_keys=True)
