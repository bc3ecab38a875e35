"""Dagster's history of a home: its runs, materialisations and checks, shared by the command line and `gristmill dev`.

It lies under `<home>/runs/dagster`, or where DAGSTER_HOME says. It is no output: removed, it begins anew.
"""

import fcntl
import logging
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

import dagster as dg
import sqlalchemy.exc
from sqlalchemy.engine import Connection
from sqlalchemy.pool import StaticPool

from dagster_project.errors import GristmillError
from dagster_project.run.mill_run import MillRun
from dagster_project.run.run_log import runs

HOME_TAG, RUN_TAG = "gristmill/home", "gristmill/run"
READY = ".gristmill"
ENDED = (dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED)
UNDER_WAY = [status for status in dg.DagsterRunStatus if status not in ENDED]
SETTINGS = "telemetry:\n  enabled: false\n"
BUSY_SECONDS = 30  # as long as Dagster itself waits for another process
# Dagster has no public name for it: its own settings name the classes of its storage by these modules too
SILENT = {"module": "dagster._core.storage.noop_compute_log_manager", "class": "NoOpComputeLogManager"}


@contextmanager
def kept_open(log: Any) -> Iterator[None]:
    """Dagster's own event log in SQLite, its connections kept open meanwhile: it opens a database three times for each of a
    run's 600 events, and once more to see whether it has a table, which is most of what a small run costs. A power cut may lose
    the last events, never the file.

    Dagster has no setting for it. The log's ways to a connection and to its tables are replaced for as long as a run of ours takes; should
    another version of Dagster go other ways, a run costs more and does the same.
    """
    ready, held, lock = log.run_connection, dict[str, Connection](), Lock()

    @contextmanager
    def connection(shard: str) -> Iterator[Connection]:
        with lock:
            if shard not in held:
                with ready(shard):  # Dagster makes a new file's tables
                    pass
                engine = sqlalchemy.create_engine(
                    log.conn_string_for_shard(shard),
                    poolclass=StaticPool,
                    connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False},
                )
                held[shard] = engine.connect()
                held[shard].execute(sqlalchemy.text("pragma synchronous = normal"))
                held[shard].commit()
            with held[shard].begin():
                yield held[shard]

    log.run_connection, log.index_connection = connection, lambda: connection("index")
    log.has_table = cache(log.has_table)  # 0.2 s a run: it makes an engine of its own for each of a hundred questions
    try:
        yield
    finally:
        del log.run_connection, log.index_connection, log.has_table  # which were put before those of its class
        for one in held.values():
            one.close()
            one.engine.dispose()


def kept_open_if_it_can(log: Any) -> AbstractContextManager[None]:
    """For many events at once in a history that somebody else opened: it may be none of SQLite's, or kept open already."""
    is_of_files = hasattr(log, "conn_string_for_shard")
    return kept_open(log) if is_of_files and "run_connection" not in vars(log) else nullcontext()


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
    logging.getLogger("alembic").setLevel(logging.WARNING)  # making its tables is nobody's news
    folder = history_folder(home)
    # "temp" is only where it lies if nobody says; this is Dagster's public way to a history with settings of one's own
    with (
        dg.DagsterInstance.local_temp(str(folder), overrides={"compute_logs": SILENT}) as instance,
        ExitStack() as kept,
    ):
        if not os.environ.get("DAGSTER_HOME"):
            kept.enter_context(kept_open(instance.event_log_storage))
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
