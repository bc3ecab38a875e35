"""Dagster's history of a home: its runs, materialisations and checks, shared by the command line and `gristmill dev`.

It lies under `<home>/runs/dagster`, or where DAGSTER_HOME says. It is no output: removed, it begins anew.
"""

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import dagster as dg
import sqlalchemy.exc
from dagster._core.instance.ref import InstanceRef
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage
from dagster._core.storage.sql import create_engine
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS
from dagster._serdes import ConfigurableClassData
from sqlalchemy.engine import Connection
from sqlalchemy.pool import StaticPool

from dagster_project.errors import GristmillError
from dagster_project.run.mill_run import MillRun
from dagster_project.run.record import runs

HOME_TAG, RUN_TAG = "gristmill/home", "gristmill/run"
READY = ".gristmill"
ENDED = (dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED)
UNDER_WAY = [status for status in dg.DagsterRunStatus if status not in ENDED]
SETTINGS = "telemetry:\n  enabled: false\n"
SILENT = {"module": "dagster._core.storage.noop_compute_log_manager", "class": "NoOpComputeLogManager"}


class OpenEventLog(SqliteEventLogStorage):
    """Dagster's own event log with its connections kept open: it opens a database anew for each of a run's 1,500 events,
    which is most of what a small run costs. A power cut may lose the last events, never the file."""

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        self._open: dict[str, Connection] = {}
        super().__init__(base_dir, inst_data)

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]) -> Self:
        return cls(inst_data=inst_data, **config_value)

    @contextmanager
    def _connect(self, shard: str) -> Iterator[Connection]:
        with self._db_lock:
            connection = self._open.get(shard)
            if connection is None:
                engine = create_engine(
                    self.conn_string_for_shard(shard),
                    poolclass=StaticPool,
                    connect_args={"timeout": SQLITE_BUSY_TIMEOUT_SECONDS, "check_same_thread": False},
                )
                if shard not in self._initialized_dbs:
                    self._initdb(engine)
                    self._initialized_dbs.add(shard)
                connection = self._open[shard] = engine.connect()
                connection.execute(sqlalchemy.text("pragma synchronous = normal"))
                connection.commit()
            with connection.begin():
                yield connection

    def dispose(self) -> None:
        for connection in self._open.values():
            connection.close()
            connection.engine.dispose()
        self._open = {}
        super().dispose()


def history_folder(home: Path) -> Path:
    """Where the history lies. It is made ready first, by one process at a time: two that open a new one at once break it."""
    configured = os.environ.get("DAGSTER_HOME")
    folder = Path(configured) if configured else home.absolute() / "runs" / "dagster"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / READY).open("a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        if not file.read():
            if not configured and not (folder / "dagster.yaml").exists():
                (folder / "dagster.yaml").write_text(SETTINGS, encoding="utf-8")
            try:
                dg.DagsterInstance.from_config(str(folder)).dispose()
            except sqlalchemy.exc.DBAPIError as error:
                raise GristmillError(
                    f"Dagster's history in {folder} cannot be opened ({error.orig}): it is no output, remove it"
                ) from error
            file.write("ready")
    return folder


@contextmanager
def history(home: Path) -> Iterator[dg.DagsterInstance]:
    """The history, open for a run of the command line. What is printed stays on its terminal."""
    folder = history_folder(home)
    changes: dict[str, Any] = {"compute_logs": SILENT}
    if not os.environ.get("DAGSTER_HOME"):
        place = {"base_dir": str(folder / "history" / "runs")}
        changes["event_log_storage"] = {"module": __name__, "class": OpenEventLog.__name__, "config": place}
    with dg.DagsterInstance.from_ref(InstanceRef.from_dir(str(folder), overrides=changes)) as instance:
        yield instance


def run_tags(mill: MillRun) -> dict[str, str]:
    """By which a run of Dagster is found again: its home, and its entry in the record of runs."""
    return {HOME_TAG: str(mill.config.home.absolute()), RUN_TAG: mill.run_id}


def end_killed_runs(instance: dg.DagsterInstance, home: Path, is_mine: bool) -> None:
    """A killed run would be under way for ever; the record of runs knows better. `is_mine`: we hold the home."""
    tags = {HOME_TAG: str(home.absolute())}
    under_way = instance.get_runs(dg.RunsFilter(tags=tags, statuses=UNDER_WAY))
    if not under_way:
        return
    killed = {run["run"]: run["reason"] for run in runs(home, is_mine) if run["outcome"] == "killed"}
    for run in under_way:
        if run.tags.get(RUN_TAG) in killed:
            instance.report_run_failed(run, killed[run.tags[RUN_TAG]])
