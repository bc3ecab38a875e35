"""The demo of all systems: what `gristmill demo` writes, and what it says about it, one line a system."""

import sqlite3
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

from dagster_project import demo
from dagster_project.config import SYSTEMS, Config
from dagster_project.demo.asked import Asked
from dagster_project.demo.own_files import OwnFiles
from dagster_project.errors import GristmillError
from dagster_project.lake.lock import home_lock

FOLDER = Path(__file__).parent


def is_wanted(config: Config) -> bool:
    """Whether there is nothing to run on: no source configured, none in the usual place, nothing read before."""
    folder = config.home / "sources"
    if any(file.address or file.path.parent != folder for files in config.sources.values() for file in files):
        return False
    own_files = OwnFiles(folder)
    return own_files.is_half_done or not (own_files.has_sources() or _holds_a_lake(config.home))


def write_demo(config: Config, rows: int, seed: int, force: bool, say: Callable[[str], None]) -> None:
    """Write the demo under `<home>/sources`, over an earlier demo at most."""
    folder = config.home / "sources"
    with home_lock(config.home):
        own_files = OwnFiles(folder)
        changed = own_files.check(force)
        if _holds_a_lake(config.home) and not (own_files.is_recorded or own_files.has_sources() or force):
            raise GristmillError(
                f"{config.home} holds what was read from other sources; nothing was touched: choose another --home, or use --force"
            )
        for path in changed:
            say(f"replacing {path}, which was changed since the demo was written")
        try:
            with own_files.staging() as staging:
                told = list(_write_systems(staging, rows, seed))
                own_files.replace(staging, {"rows": rows, "seed": seed}, force)
        except (OSError, sqlite3.Error) as error:
            reason = getattr(error, "strerror", None) or error
            raise GristmillError(f"cannot write the demo to {folder}: {reason}") from error
    for system, what in told:
        say(f"{folder / f'{system}.db'}: {what}")


def _write_systems(folder: Path, rows: int, seed: int) -> Iterator[tuple[str, str]]:
    """Write one system after the other and tell of each: how much, from when, and what is in it to be found."""
    asked = Asked(folder, rows, seed)
    for system in SYSTEMS:
        if (FOLDER / system).is_dir():
            yield system, import_module(f"{demo.__name__}.{system}.demo").write(asked)


def _holds_a_lake(home: Path) -> bool:
    lake = home / "lake"
    return lake.is_dir() and any(lake.iterdir())
