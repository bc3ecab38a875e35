"""Files of others: how large one is, and opening what lies in somebody else's folder.

There only plain files are opened, never a link, a pipe or a device. A pipe would keep a reader waiting for ever, a device may
do anything when it is opened, and a link may lead out of the folder.
"""

import os
import stat
from pathlib import Path
from typing import BinaryIO


def size_of(path: Path) -> int:
    """A file's bytes; of what is not there, or we may not look at, none."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


class NotPlain(OSError):
    """There is something of that name, and it is no plain file."""


def open_plain(path: Path) -> BinaryIO:
    """Open a plain file for reading; raises FileNotFoundError, NotPlain or another OSError, and never waits."""
    _check(path, path.lstat())
    # between the look and the opening somebody may put something else there
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        _check(path, os.fstat(handle))
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def _check(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise NotPlain(f"{path} is not a plain file")
