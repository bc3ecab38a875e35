"""One run at a time on a home, and room enough for it.

The lock is the operating system's (flock), so a dead holder's lock is free the moment it dies; what is written in the
file only tells a second run who holds it.
"""

import fcntl
import os
import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dagster_project.errors import GristmillError

POLL_SECONDS = 0.2
LOOK_SECONDS = 0.1  # longer than it takes somebody to look whether the home is held


class HomeHeld(GristmillError):
    """Another run is on it."""


@contextmanager
def home_lock(home: Path, wait_seconds: float = 0.0) -> Iterator[None]:
    """Hold the home for this process, waiting at most `wait_seconds` for whoever has it."""
    make_home(home)
    deadline = time.monotonic() + max(wait_seconds, LOOK_SECONDS)
    with (home / "lock").open("a+", encoding="utf-8") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                if time.monotonic() >= deadline:
                    file.seek(0)
                    holder = file.read().strip() or "another process"
                    raise HomeHeld(f"{home} is in use by {holder}; wait for it, or use --wait SECONDS") from error
                time.sleep(POLL_SECONDS)
        file.seek(0)
        file.truncate()
        file.write(f"process {os.getpid()} on {socket.gethostname()}")
        file.flush()
        try:
            yield
        finally:
            file.seek(0)
            file.truncate()


def is_held(home: Path) -> bool:
    """Whether a process holds the home now. Asks for nothing but to read."""
    try:
        with (home / "lock").open(encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return False
    return False


def keep_private() -> None:
    """Whatever this process makes from here on is its owner's alone: what users wrote to an assistant is in it."""
    os.umask(0o077)


def make_home(home: Path) -> None:
    """Make the home if it is not there. One that is there stays as open or closed as its owner made it."""
    if found := sorted(set(str(home.absolute())) & set("?\\")):
        raise GristmillError(
            f"cannot use {home} as home: DuckDB cannot keep a database under a path with {' '.join(found)}"
        )
    try:
        home.mkdir(parents=True, exist_ok=True)
        if not os.access(home, os.W_OK | os.X_OK):
            raise PermissionError(13, "not writable")
    except OSError as error:
        raise GristmillError(f"cannot use {home} as home: {error.strerror or error}") from error


def check_free_space(home: Path, needed_bytes: int) -> None:
    free = shutil.disk_usage(home).free
    if free < needed_bytes:
        raise GristmillError(
            f"{home} has {free // 2**20:,} MB free, a run needs about {needed_bytes // 2**20:,} MB; nothing was changed"
        )
