"""What the state remembers of AI sessions (S3, G12): frozen days, the sessions of those days, and what was restated.

`state/session_days.parquet` holds the frozen rows, `state/archived_sessions/<day>.parquet` the sessions of a frozen day, and
`state/session_restatements.jsonl` the log, which only grows. Nothing here is written in place: a run stages the new file and the
publication moves it (`MillRun.state_moves`), so a killed run leaves the state and the lake as they were, or both as they
will be.
"""

import json
from collections.abc import Mapping
from datetime import date
from pathlib import Path

import polars as pl

from dagster_project.engines.stored_tables import fit
from dagster_project.errors import GristmillError
from dagster_project.lake import parquet
from dagster_project.lake.parquet import TableWriter
from dagster_project.lake.placing import Move
from dagster_project.systems.sessions.tables import TABLES

FROZEN, ARCHIVE, RESTATEMENTS = "core__frozen_session_days", "archive__sessions", "metric__restatements"
LOG_COLUMNS = tuple(name for name in TABLES[RESTATEMENTS].columns if name != "entry")


class SessionState:
    """The part of a home's state that is about sessions."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.frozen_file = home / "state" / "session_days.parquet"
        self.log = home / "state" / "session_restatements.jsonl"
        self.archive = home / "state" / "archived_sessions"

    def frozen(self) -> pl.DataFrame:
        """The rows of frozen days."""
        if not self.frozen_file.exists():
            return TABLES[FROZEN].empty()
        return _scan([self.frozen_file], FROZEN).collect()

    def archive_files(self) -> dict[date, Path]:
        return {date.fromisoformat(path.stem): path for path in sorted(self.archive.glob("????-??-??.parquet"))}

    def archived(self, first: date | None = None, last: date | None = None) -> pl.LazyFrame | None:
        """Archived sessions, of some days or all; null where there are none."""
        files = [p for d, p in self.archive_files().items() if (not first or first <= d) and (not last or d <= last)]
        return _scan(files, ARCHIVE) if files else None

    def restatements(self) -> pl.DataFrame:
        """Every entry of the log in the order it was written."""
        if not self.log.exists():
            return TABLES[RESTATEMENTS].empty()
        try:
            entries = [json.loads(line) for line in self.log.read_text(encoding="utf-8").split("\n") if line]
        except ValueError as error:
            raise GristmillError(f"{self.log} is broken: {error}") from error
        rows = pl.DataFrame(entries, schema=dict.fromkeys(LOG_COLUMNS, pl.String))
        return rows.with_columns(
            pl.col("restated_as_of", "previous_as_of").str.to_datetime(time_unit="us", time_zone="UTC"),
            pl.col("date").str.to_date(),
            pl.int_range(1, pl.len() + 1, dtype=pl.Int64).alias("entry"),
        ).select(*TABLES[RESTATEMENTS].columns)

    # --- staging what the publication moves into the state -------------------------------------------------------

    def stage_frozen(self, staging: Path, rows: pl.DataFrame) -> Move:
        return _staged(staging, self.frozen_file, FROZEN, fit(FROZEN, rows)), self.frozen_file

    def stage_day(self, staging: Path, day: date, rows: pl.DataFrame) -> Move:
        """`rows` were checked with those of other days."""
        target = self.archive / f"{day}.parquet"
        return _staged(staging, target, ARCHIVE, rows), target

    def stage_log(self, staging: Path, new: pl.DataFrame) -> Move:
        """The log as it is and the new entries behind it."""
        file = staging / "state" / self.log.name
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = [_line(entry) for entry in new.select(LOG_COLUMNS).iter_rows(named=True)]
        file.write_bytes((self.log.read_bytes() if self.log.exists() else b"") + "".join(lines).encode())
        return file, self.log


def _line(entry: Mapping[str, object]) -> str:
    texts = {
        name: value if isinstance(value, str) or value is None else value.isoformat()  # pyright: ignore[reportAttributeAccessIssue]
        for name, value in entry.items()
    }
    return json.dumps(texts, ensure_ascii=False, separators=(",", ":")) + "\n"


def _scan(files: list[Path], table: str) -> pl.LazyFrame:
    """Files of our own, perhaps of an earlier version that knew fewer columns."""
    schema = TABLES[table].polars_schema
    return parquet.scan(files, schema=schema, missing_columns="insert", extra_columns="ignore")


def _staged(staging: Path, target: Path, table: str, rows: pl.DataFrame) -> Path:
    file = staging / "state" / target.name
    file.parent.mkdir(parents=True, exist_ok=True)
    with TableWriter(file, TABLES[table].file_layout) as writer:
        writer.write(rows.to_arrow())
    return file
