"""One run on a home: the lock, the open sources, as_of, and the lake with what this run stages.

Everything a stage may look at hangs here; nothing of it knows about Dagster.
"""

import contextlib
import hashlib
import json
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

import duckdb
import polars as pl

from dagster_project.config import Config
from dagster_project.databases import open_database
from dagster_project.errors import GristmillError, Stopped
from dagster_project.extract import TableSpec
from dagster_project.intake import OpenFile, Seen, look
from dagster_project.lake import Lake, Move
from dagster_project.lock import check_free_space, home_lock
from dagster_project.looks import LookCache
from dagster_project.sources import conversations, distillation, feedback, reactions, sessions

DATED_SPECS: dict[str, TableSpec] = {
    "raw_feedback__entries": feedback.ENTRIES, **distillation.DATED, **conversations.DATED,
    **reactions.DATED, **sessions.DATED,
}  # fmt: skip
SIGNALLING = ("feedback", "conversations", "reactions", "sessions")  # systems whose users say something (N)
FIRST_RUN_FACTOR = 2  # a first run writes raw, keys and a release: about twice what it reads


@dataclass(frozen=True)
class Choice:
    """What the user asked of this run. Without days, semantics G7 decides what is read again."""

    as_of: datetime | None = None
    full: bool = False
    days: tuple[date, date] | None = None
    wait_seconds: float = 0.0


@dataclass
class MillRun:
    """Use as a context manager; leaving it releases everything. Publishing is `warehouse.publish`'s."""

    config: Config
    choice: Choice = field(default_factory=Choice)
    report: Callable[[str, int], None] = lambda table, rows: None  # called as tables are written, for progress
    accounts: dict[str, Any] = field(default_factory=dict)  # raw table -> what the run did with it
    state_moves: list[Move] = field(default_factory=list)  # what the publication puts into the state (G12)
    release_cpu_seconds: float = 0.0  # what writing the release took, for the log of runs

    def __enter__(self) -> "MillRun":
        self._stack = contextlib.ExitStack()
        try:
            self._open()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def _open(self) -> None:
        home = self.config.home
        if not any(self.config.sources.values()):
            raise GristmillError(
                f"no source is configured and {home / 'sources'} has none: "
                "set GRISTMILL_FEEDBACK or write gristmill.toml, or try `gristmill demo`"
            )
        self._stack.enter_context(home_lock(home, self.choice.wait_seconds))
        self.lake = Lake(home)
        self.lake.recover()
        self._stack.callback(self.lake.sweep)
        source_bytes = sum(
            file.path.stat().st_size
            for files in self.config.sources.values()
            for file in files
            if file.address is None and file.path.exists()
        )
        is_first = self.choice.full or not self.lake.catalog.publication
        check_free_space(home, self.config.min_free_mb * 2**20 + (FIRST_RUN_FACTOR * source_bytes if is_first else 0))
        self.looks = LookCache(home)
        self._files: dict[str, list[OpenFile]] = {}
        self._seen: dict[str, Seen] = {}
        self._as_of: datetime | None = None

    def _open_files(self, system: str) -> list[OpenFile]:
        return [
            OpenFile(
                label=file.label,
                order=order,
                database=self._stack.enter_context(
                    contextlib.closing(open_database(file, self.config.busy_timeout_seconds))
                ),
                options={"rating_scale": file.rating_scale, "tenant": file.tenant or "", "project": file.project or ""},
            )
            for order, file in enumerate(self.config.sources[system])
        ]

    # --- the sources ---------------------------------------------------------------------------------------------

    def files(self, system: str, table: str | None = None) -> list[OpenFile]:
        """The open databases of a system; with `table`, those that have this optional table."""
        if system not in self._files:
            self._files[system] = self._open_files(system)
        return [file for file in self._files[system] if table is None or table in file.database.tables]

    def files_with(self, spec: TableSpec) -> list[OpenFile]:
        """The open databases a table is read from."""
        return self.files(spec.system, spec.name if spec.is_optional else None)

    def seen(self, asset: str) -> Seen:
        """Fingerprints of a dated table, taken once in the run's own read transactions."""
        if asset not in self._seen:
            spec = DATED_SPECS[asset]
            self._seen[asset] = look(self.files_with(spec), spec, self.looks)
        return self._seen[asset]

    def close_sources(self) -> None:
        """Let go of the sources once they are read: a database that is not in WAL mode keeps its writers waiting."""
        _ = self.as_of  # looked up while the sources can still tell
        for files in self._files.values():
            for file in files:
                file.database.close()
        self._files = {system: [] for system in self._files}

    @property
    def as_of(self) -> datetime:
        """G2: as given, else the end of the newest day any source holds that is not after today."""
        if self._as_of is None:
            self._as_of = self.choice.as_of or self._default_as_of(datetime.now(UTC).date())
        return self._as_of

    def _default_as_of(self, today: date) -> datetime:
        newest = [day for asset in DATED_SPECS for day in self.seen(asset).dates if day <= today]
        return datetime.combine(max(newest, default=today) + timedelta(days=1), time(), UTC)

    @property
    def is_in_the_past(self) -> bool:
        """An older as_of than the published one was asked for: the run writes its release and touches nothing else (G2).

        A run that was asked for nothing follows its sources: if their newest day is gone, it goes here too.
        """
        published = self.lake.published.as_of
        return (
            self.choice.as_of is not None and published is not None and self.as_of < datetime.fromisoformat(published)
        )

    @property
    def release_date(self) -> date:
        """The last day as_of covers."""
        return (self.as_of - timedelta(microseconds=1)).date()

    @property
    def params(self) -> Mapping[str, Any]:
        """What SQL files may bind."""
        settings = ("min_weight", "ready_score", "auto_ready", "synthetic_pairs", "review_corrections", "sample_rate")
        chosen = {name: getattr(self.config, name) for name in settings}
        shares = self.config.satisfaction_shares or {system: 1 / len(SIGNALLING) for system in SIGNALLING}
        chosen["satisfaction_shares"] = json.dumps(shares, sort_keys=True)
        return {"as_of": self.as_of, "release_date": self.release_date, **chosen}


def parse_as_of(text: str) -> datetime:
    """An ISO instant; without an offset it is UTC, a bare day is its first instant."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise GristmillError(
            f"as-of {text!r} is not a date or time such as 2026-02-01 or 2026-02-01T00:00:00Z"
        ) from error
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    if not datetime(2000, 1, 1, tzinfo=UTC) < moment <= datetime(2100, 1, 1, tzinfo=UTC):
        raise GristmillError(f"as-of {text} is outside 2000-01-02..2100-01-01")
    return moment


def parse_day(text: str) -> date:
    try:
        day = date.fromisoformat(text)
    except ValueError as error:
        raise GristmillError(f"{text!r} is not a day such as 2026-01-31") from error
    if not date(2000, 1, 1) <= day < date(2100, 1, 1):
        raise GristmillError(f"{text} is outside 2000-01-01..2099-12-31")
    return day


@cache
def code_hash(*parts: str) -> str:
    """Identity of the code that makes a kept result (G12): these files and folders of the package, and its engines."""
    package = Path(__file__).parent
    paths = [package / part for part in parts]
    files = sorted(file for path in paths for file in ([path] if path.is_file() else path.rglob("*.py")))
    digest = hashlib.sha256(f"{pl.__version__} {duckdb.__version__}".encode())
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


class StopSignal:
    """A signal asks a run to stop; it does so between two assets (nothing half published)."""

    def __init__(self) -> None:
        self.received: int | None = None

    def listen(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._receive)

    def _receive(self, number: int, _: object) -> None:
        self.received = number

    def check(self) -> None:
        if self.received is not None:
            name = signal.Signals(self.received).name
            raise Stopped(f"stopped by {name}; nothing was published", 128 + self.received)


STOP = StopSignal()
