"""Homes for tests that run the real command: small demo sources, published once, copied for every test that wants one."""

import fcntl
import io
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from dagster_project import (
    cli,
    registry,  # noqa: F401  puts the systems' tables among the contracts
)
from dagster_project.engines.warehouse_file import PLACE, build_warehouse, put_warehouse_back
from dagster_project.lake.lake import WAREHOUSE, Lake
from tests.orchestration import first_day  # noqa: F401  before anything else loads the definitions

# How long an example takes says more about the machine than about the code.
settings.register_profile("gristmill", deadline=None)
settings.load_profile("gristmill")

GRISTMILL = Path(sys.executable).with_name("gristmill")
DEMO_ROWS = 1500
FIRST_SECOND_KEPT = 1_768_867_200  # 2026-01-20: twelve days stay, which keeps every run short
UNPUBLISHED = ("runs", "lock", "sources", "staging")  # what a failed run may touch


def environment(**more: str) -> dict[str, str]:
    """The environment without anything that would configure a run, plus `more`."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("GRISTMILL_", "DAGSTER_"))}
    return {**inherited, "DAGSTER_DISABLE_TELEMETRY": "yes", "NO_COLOR": "1", **more}


def start(home: Path, *arguments: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    """The command as a process of its own, in a folder without configuration."""
    return subprocess.Popen(
        [str(GRISTMILL), "--home", str(home), *arguments],
        cwd=home.parent,
        env=environment(**(env or {})),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> subprocess.CompletedProcess[str]:
    """Wait for a command that was started."""
    output, errors = process.communicate()
    return subprocess.CompletedProcess(process.args, process.returncode, output, errors)


@contextmanager
def as_a_command(home: Path, arguments: Iterable[str], env: Mapping[str, str]) -> Iterator[None]:
    """Make this process look like one that was started for a command; put everything back afterwards."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    umask = os.umask(0o022)
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ.keys() - environment().keys():
            patch.delenv(name)
        for name, value in environment(**env).items():
            patch.setenv(name, value)
        patch.chdir(home.parent)
        patch.setattr(sys, "argv", ["gristmill", "--home", str(home), *arguments])
        try:
            yield
        finally:
            os.umask(umask)
            for number, handler in handlers.items():
                signal.signal(number, handler)


def gristmill(home: Path, *arguments: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """The command, run to its end in this process: a new one would spend most of its time on importing Dagster."""
    output, errors = io.StringIO(), io.StringIO()
    code: Any = 0
    with as_a_command(home, arguments, env or {}), redirect_stdout(output), redirect_stderr(errors):
        try:
            cli.main()
        except SystemExit as end:
            code = end.code or 0
    return subprocess.CompletedProcess(arguments, code, output.getvalue(), errors.getvalue())


def run(home: Path, *arguments: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """A run that must go well."""
    done = gristmill(home, "run", *arguments, env=env)
    assert done.returncode == 0, done.stderr
    return done


def complaint(done: subprocess.CompletedProcess[str]) -> str:
    """The one line on stderr with which a command must have failed."""
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    assert done.returncode == 1, done.stderr
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("gristmill: ")
    for trace in ("Traceback", "Stack Trace", 'File "'):
        assert trace not in lines[0]
    return lines[0]


def content(folder: Path, leave_out: Iterable[str] = ()) -> dict[str, bytes]:
    """Every file below a folder by its path, but for those below the named entries."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.relative_to(folder).parts[0] not in leave_out
    }


def published_content(home: Path) -> dict[str, bytes]:
    return content(home, UNPUBLISHED)


def catalog(home: Path) -> dict[str, Any]:
    return json.loads((home / "lake" / "catalog.json").read_text(encoding="utf-8"))


def main_source(home: Path) -> Path:
    return home / "sources" / "feedback.db"


def change(source: Path, *statements: str) -> None:
    """Edit a source as its owner would, in one transaction."""
    with closing(sqlite3.connect(source)) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()


def ask(source: Path, sql: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(source)) as database:
        return database.execute(sql).fetchall()


def copy_home(home: Path, target: Path) -> Path:
    """A home elsewhere, as if it had been made there: the warehouse names its snapshot by absolute path."""
    shutil.copytree(home, target)
    if (target / "warehouse.duckdb").exists():
        lake = Lake(target)
        snapshot = target / "snapshots" / str(lake.published.snapshot)
        (snapshot / PLACE).write_text(str(lake.home), encoding="utf-8")
        build_warehouse(lake, snapshot, snapshot / WAREHOUSE)
        put_warehouse_back(lake)
        lake.sweep()
    return target


@contextmanager
def made_once(tmp_path_factory: pytest.TempPathFactory, name: str) -> Iterator[tuple[Path, bool]]:
    """A folder that all worker processes of a test session share, and whether it has to be filled."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base
    with (base / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = base / f"{name}.done"
        yield base / name, not done.exists()
        done.touch()


@pytest.fixture(scope="session")
def demo_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sources of feedback and distillation, and nothing else: the other systems have tests of their own. Not to be changed."""
    with made_once(tmp_path_factory, "demo_home") as (home, is_new):
        if is_new:
            done = gristmill(home, "demo", "--rows", str(DEMO_ROWS))
            assert done.returncode == 0, done.stderr
            for path in (home / "sources").iterdir():
                if path.is_dir():
                    shutil.rmtree(path)
                elif not path.name.startswith(("feedback", "distillation")):
                    path.unlink()
            for source in (home / "sources").glob("feedback*.db"):
                change(source, f"delete from feedback where timestamp between 0 and {FIRST_SECOND_KEPT}")
        return home


@pytest.fixture(scope="session")
def published_home(demo_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo home after one run. Not to be changed."""
    with made_once(tmp_path_factory, "published_home") as (home, is_new):
        if is_new:
            run(copy_home(demo_home, home))
        return home


@pytest.fixture
def fresh(demo_home: Path, tmp_path: Path) -> Path:
    """A home with sources in which nothing ran yet."""
    return copy_home(demo_home, tmp_path / "home")


@pytest.fixture
def published(published_home: Path, tmp_path: Path) -> Path:
    """A home after one run."""
    return copy_home(published_home, tmp_path / "home")
