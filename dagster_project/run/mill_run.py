"""One run on a home: the lock, the open sources, as_of, and the lake with what this run stages.

Everything a stage may look at hangs here; nothing of it knows about Dagster.
"""

import contextlib
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property
from types import TracebackType
from typing import Any
from uuid import uuid4

import polars as pl

from dagster_project.code_identity import code_identity
from dagster_project.columns.spaces import SPACES
from dagster_project.config import SOURCES, Config
from dagster_project.config.system_facts import FACTS
from dagster_project.contracts import TABLES
from dagster_project.contracts.source_table import TableSpec
from dagster_project.contracts.work import ROWS_READ_DAILY
from dagster_project.databases import sqlite
from dagster_project.databases.fingerprint_cache import FingerprintCache
from dagster_project.databases.plain_files import size_of
from dagster_project.engines.touched_rows import Touched
from dagster_project.errors import GristmillError, Misused
from dagster_project.intake.account import Account
from dagster_project.intake.fingerprints import Seen, look, remembered
from dagster_project.intake.open_files import OpenFile, files_with, open_files
from dagster_project.intake.stage import Choice
from dagster_project.lake.damage import set_aside
from dagster_project.lake.lake import Catalog, Lake
from dagster_project.lake.lock import check_free_space, home_lock
from dagster_project.lake.placing import Move, check_places
from dagster_project.lake.releases import releases
from dagster_project.run import nothing_new
from dagster_project.run.calling import call, failed_run, unusual_days
from dagster_project.run.made import Made
from dagster_project.run.missing_files import check_lost_rows, missing_files, told, with_missing_defaults
from dagster_project.run.record import RunRecord
from dagster_project.run.run_log import GOOD
from dagster_project.run.stop import STOP
from dagster_project.run.watching import Watcher
from dagster_project.run.work_tables import rows_read_daily

FIRST_RUN_FACTOR = 2  # a first run writes raw, keys and a release: about twice what it reads


def fingerprint_code() -> str:
    """Identity of the code that looks at a source."""
    return code_identity(sqlite.__name__)


@dataclass
class MillRun:
    """Use as a context manager; leaving it releases everything. Publishing is `orchestration/publication.py`'s."""

    config: Config
    choice: Choice = field(default_factory=Choice)
    began: datetime = field(default_factory=lambda: datetime.now(UTC))  # the run's one look at the clock (G2)
    watcher: Watcher = field(default_factory=Watcher)  # is told how far it is
    check_stop: Callable[[], None] = STOP.check
    state_moves: list[Move] = field(default_factory=list)  # what the publication puts into the state (G12)
    started_by: str | None = None  # who asked for the run; None: it is no run of the pipeline, and not put down as one
    run_id: str = field(default_factory=lambda: str(uuid4()))
    wanted: set[str] | None = None  # the tables that belong to this run; all if nobody has said ...
    made: dict[str, Made] = field(
        default_factory=dict
    )  # ... those it has brought up to as_of: all, or it does not publish
    dated: Mapping[str, TableSpec] = field(default_factory=dict)  # the tables that are read by day
    daily: dict[str, pl.DataFrame] = field(
        default_factory=dict
    )  # tables about the work by day, as this run leaves them
    planned: dict[str, dict[date | None, str]] = field(
        default_factory=dict
    )  # which days each table reads again, and why
    touched: dict[str, Touched | None] = field(default_factory=dict)  # table -> its rows this run has to look at again
    release_cpu_seconds: float = 0.0  # what writing the release took, for the log of runs ...
    making_cpu_seconds: float = 0.0  # ... and all steps: the rest of a run is imports and Dagster's own

    def __enter__(self) -> "MillRun":
        self._stack = contextlib.ExitStack()
        self.record = RunRecord(self.config.home, self.run_id, self.started_by, self.began)
        self._as_of: datetime | None = None
        self.as_of_choice = ""
        try:
            self._open()
        except BaseException as error:
            self._leave(error)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave(error)

    def _leave(self, error: BaseException | None) -> None:
        """Let go of everything, the home last: what came of the run is put down before the next one begins."""
        with self._stack:
            daily = {}
            if self.record.outcome in GOOD and not self.is_in_the_past:
                daily = {ROWS_READ_DAILY.name: rows_read_daily(self.lake.published), **self.daily}
            entry = self.record.end(error, daily, **self.facts())
        if entry and self.record.outcome not in GOOD:
            self._tell(entry)
        elif entry and (new := [alert for alert in self.record.alerts if alert["is_new"]]):
            self._call("on_alert", unusual_days(self.config.home.absolute(), entry, new))

    def _tell(self, entry: Mapping[str, Any]) -> None:
        """Whoever wants to know of runs that did not go well; the home is not held meanwhile, unless it was another's end."""
        self._call("on_failure", failed_run(self.config.home.absolute(), entry))

    def _call(self, setting: str, body: Mapping[str, Any]) -> None:
        target = getattr(self.config, setting)
        if target and (trouble := call(target, body, self.config.on_alert_format)):
            print(f"gristmill: {setting}: {trouble}", file=sys.stderr)

    def facts(self, publication: int | None = None) -> dict[str, Any]:
        """What the record has of it besides what it found. `publication` is the one it is about to make."""
        is_good = self.record.outcome in GOOD
        lake = self.lake if publication or is_good else None
        catalog = None if lake is None else lake.catalog if publication else lake.published
        return {
            "as_of": self._as_of,
            "as_of_choice": self.as_of_choice,
            "full": self.choice.full,
            "days": self.choice.days,
            "publication": publication or (catalog.publication if catalog else None),
            "release": catalog.release.get("name") if catalog else None,
            "missing_files": told(self.missing, catalog) if catalog else None,
            "release_cpu_seconds": self.release_cpu_seconds,
            "making_cpu_seconds": self.making_cpu_seconds,
        }

    def _leave_picture(self) -> None:
        """Last of all, while the home is still held: sweeping what was staged gives published files, which were linked from
        there, another time of change."""
        if self.record.outcome in GOOD and not self.is_in_the_past:
            nothing_new.remember(self.lake.home, self._picture())

    def _picture(self) -> nothing_new.Picture | None:
        """By which the next run can tell that there is nothing new; None where it could not be sure."""
        if self.missing or self._looked is None or self._looked != nothing_new.look_at_inputs(self._configured):
            return None
        state = nothing_new.look_at_state(self.lake.home)
        if not nothing_new.is_own_work(self._state, state, self.state_moves):
            return None
        held = [day for seen in self._seen.values() for day in seen.dates]
        later = min((day for day in held if day >= self.as_of.date()), default=None)
        if not held:  # as_of is the start of today, whichever day that is
            later = self.as_of.date()
        published, asked = self.lake.published, self.choice.as_of
        return nothing_new.Picture(
            inputs=self._looked,
            state=nothing_new.of_state(state),
            made=nothing_new.look_at_what_was_made(self.lake.home, published.snapshot),
            as_of=self.as_of.isoformat(),
            asked_as_of=asked.isoformat() if isinstance(asked, datetime) else asked,
            next_day=str(later) if later else None,
            publication=published.publication,
            snapshot=published.snapshot,
            release=published.release.get("name"),
        )

    def _open(self) -> None:
        home = self.config.home
        self._as_of, self.as_of_choice = self._asked_as_of()
        self._check_sources()
        self._stack.enter_context(home_lock(home, self.choice.wait_seconds))
        check_places(home, ["runs"], [])
        self.record.begin(full=self.choice.full, days=self.choice.days)
        for killed in self.record.killed:  # nobody else could tell of them
            self._tell(killed)
        self.lake = Lake(home)
        self._stack.callback(self._leave_picture)
        if not self.choice.is_dry:
            self.lake.recover()
        elif self.lake.journal.exists():
            raise GristmillError(f"a publication is half done in {home}: the next run finishes it before anything else")
        self._stack.callback(self.lake.sweep)
        self._looked, self._state = nothing_new.look_at_inputs(self.config), nothing_new.look_at_state(home)
        self._configured = self.config
        self.config = with_missing_defaults(self.config, self.lake.catalog)
        self.missing = missing_files(self.config, self.lake.catalog)
        self.fingerprint_cache = FingerprintCache(home, fingerprint_code())
        self._files: dict[str, list[OpenFile]] = {}
        self._seen: dict[str, Seen] = {}
        self.damage = set_aside(self.lake, self.choice.full)
        if self.damage.files and self.is_in_the_past:
            raise GristmillError(
                f"files of {self.lake.folder} are damaged: `gristmill run` comes first, it makes them again"
            )
        check_lost_rows(self.missing, self.damage.files, self.lake.published)
        files = [file for files in self.config.sources.values() for file in files if file.address is None]
        source_bytes = sum(size_of(file.path) for file in files)
        is_first = self.choice.full or not self.lake.catalog.publication
        check_free_space(home, self.config.min_free_mb * 2**20 + (FIRST_RUN_FACTOR * source_bytes if is_first else 0))

    def _check_sources(self) -> None:
        """Told before anything is made: there must be something to read, or to keep, or to take out."""
        home, catalog = self.config.home, Catalog.read(self.config.home / "lake" / "catalog.json")
        config = with_missing_defaults(self.config, catalog)
        missing = missing_files(config, catalog)
        is_emptied = self.config.taken_out and catalog.sources
        if not any(config.sources.values()) and not is_emptied:
            raise GristmillError(
                f"no source is configured and {home / 'sources'} has none: "
                f"set {next(iter(SOURCES.values())).variable} or write gristmill.toml, or try `gristmill demo`"
            )
        is_any_there = len(missing) < sum(map(len, config.sources.values()))
        if not is_any_there and not is_emptied and not any(found.is_held for found in missing):
            paths = ", ".join(str(found.file.path) for found in missing)
            raise GristmillError(
                f"none of the configured sources is there, and nothing was ever read from them: {paths}"
            )

    def missing_of(self, system: str) -> dict[str, int]:
        """The files of a system that are missing (G13), with their place among all of them."""
        return {found.file.label: found.file.order for found in self.missing if found.system == system}

    def check_whole(self) -> None:
        """G14: nothing is published in which a table's inputs are older than as_of."""
        if behind := sorted((set(TABLES) if self.wanted is None else self.wanted) - {*self.made}):
            others = f" and {len(behind) - 1} more" if len(behind) > 1 else ""
            raise GristmillError(
                f"{behind[0]}{others} did not take part in this run, so nothing was published: "
                "run everything (`gristmill run`, or the job `refresh`)"
            )

    def report(self, table: str, rows: int) -> None:
        """So many rows were just written to a table."""
        self.watcher.wrote(table, rows)

    # --- the sources ---------------------------------------------------------------------------------------------

    def files(self, system: str, table: str | None = None) -> list[OpenFile]:
        """The open databases of a system; with `table`, those that have this optional table."""
        if system not in self._files:
            self._files[system] = open_files(self.config, system, self.missing_of(system), self._stack)
        return [file for file in self._files[system] if table is None or table in file.database.tables]

    def files_with(self, spec: TableSpec) -> list[OpenFile]:
        """The open databases a table is read from."""
        return files_with(self.files(spec.system), spec)

    @property
    def accounts(self) -> dict[str, Account]:
        """What the run did with the tables that are read by day."""
        return {name: made.account for name, made in self.made.items() if name in self.dated and made.account}

    def seen(self, asset: str) -> Seen:
        """Fingerprints of a dated table, taken once in the run's own read transactions."""
        if asset not in self._seen:
            spec = self.dated[asset]
            seen = look(self.files_with(spec), spec, self.fingerprint_cache)
            stored = self.lake.catalog.sources.get(asset, {}).get("days", {})
            self._seen[asset] = remembered(seen, stored, self.missing_of(spec.system))
        return self._seen[asset]

    def close_sources(self) -> None:
        """Let go of the sources once they are read: a database that is not in WAL mode keeps its writers waiting."""
        _ = self.as_of  # looked up while the sources can still tell
        for files in self._files.values():
            for file in files:
                file.database.close()
        self._files = {system: [] for system in self._files}

    # --- as_of (G2) ------------------------------------------------------------------------------------------------

    @property
    def as_of(self) -> datetime:
        """As given, else the end of the newest day that is over; `as_of_choice` says how it was chosen."""
        if self._as_of is None:
            self._as_of, self.as_of_choice = self._default_as_of()
        return self._as_of

    def _asked_as_of(self) -> tuple[datetime | None, str]:
        """Nothing after the moment the run begins: a typo must not freeze days or release weeks early."""
        asked = self.choice.as_of
        if asked == "now":
            return self.began, "now"
        if asked and asked > self.began:
            raise Misused(
                f"as-of {asked:%Y-%m-%dT%H:%M:%SZ} has not come yet, it is {self.began:%Y-%m-%dT%H:%M:%SZ}: "
                "leave it out for the newest day that is over, or say `now`"
            )
        return asked, "as given"

    def _default_as_of(self) -> tuple[datetime, str]:
        """Today is not over: a nightly run never takes a piece of it for a whole day."""
        today = self.began.date()
        newest = max((day for asset in self.dated for day in self.seen(asset).dates if day < today), default=None)
        if newest is None:
            return datetime.combine(today, time(), UTC), "no source holds a day that is over, so the start of today"
        return datetime.combine(newest + timedelta(days=1), time(), UTC), "the end of the newest day that is over"

    @property
    def is_in_the_past(self) -> bool:
        """An older as_of than the published one: the run writes its release and touches nothing else (G2).

        But a run that was asked for nothing follows its sources: if their newest days are gone, they go here too. They are
        not gone where a piece of today was published and the sources still hold it.
        """
        if self.lake.published.as_of is None:
            return False
        published = datetime.fromisoformat(self.lake.published.as_of)
        if self.choice.as_of is not None or self.as_of >= published:
            return self.as_of < published
        days = (day for asset in self.dated for day in self.seen(asset).dates)
        return any(self.as_of.date() <= day and datetime.combine(day, time(), UTC) < published for day in days)

    @cached_property
    def makes_release(self) -> bool:
        """T5: whether this run makes a release. One in the past is asked for nothing else, so it always does.

        Weekly: unless one stands whose last day is in the ISO week before as_of's.
        """
        every = self.config.release_every
        if self.choice.release or self.is_in_the_past or every == "run":
            return True
        if every == "never":
            return False
        monday = self.as_of.date() - timedelta(days=self.as_of.weekday())
        return not any(monday - timedelta(days=7) <= name.day < monday for name in releases(self.lake.home))

    @property
    def release_date(self) -> date:
        """The last day as_of covers."""
        return (self.as_of - timedelta(microseconds=1)).date()

    @property
    def params(self) -> Mapping[str, Any]:
        """What SQL files may bind."""
        signalling = [system for system, facts in FACTS.items() if facts.has_signals]
        shares = self.config.satisfaction_shares or {system: 1 / len(signalling) for system in signalling}
        return {
            "as_of": self.as_of,
            "release_date": self.release_date,
            **self.config.sql_parameters(),
            "satisfaction_shares": json.dumps(shares, sort_keys=True),
            "spaces": SPACES,  # what "trimmed" means (G8), in every query the same
        }
