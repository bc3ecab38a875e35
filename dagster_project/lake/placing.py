"""Putting finished files where they belong, on whatever file system that is, so that a kill at any moment loses nothing.

What is to be published is first brought *near* its place: to `staging/next`, or, where its place is on another file system than
the home, as a copy to `.next` beside it. Putting it in its place is then one rename that always works; and because names say
what belongs where, whoever finds them can finish what somebody else began.
"""

import ctypes
import errno
import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote, unquote

from dagster_project.errors import GristmillError

NEXT = ".next"
AT_FDCWD, RENAME_EXCHANGE = -100, 2  # Linux: exchange two paths atomically
CANNOT_EXCHANGE = (errno.EXDEV, errno.EBUSY, errno.EINVAL)  # a mount point, or a folder of an image's lower layer

Move = tuple[Path, Path]


def next_folder(home: Path) -> Path:
    return home / "staging" / "next"


def near(home: Path, target: Path) -> Path:
    """Where a file or folder waits whose place is `target`; the folder it belongs to must be there."""
    if _mount(target.parent) == _mount(home):
        return next_folder(home) / quote(str(target.relative_to(home)), safe="")
    return target.parent / NEXT / target.name


def target_of(home: Path, waiting: Path) -> Path:
    """The place of what waits."""
    if waiting.parent == next_folder(home):
        return home / unquote(waiting.name)
    return waiting.parent.parent / waiting.name


def bring_near(home: Path, source: Path, target: Path) -> None:
    """A finished file or folder to where only a rename is left to do. `source` may stay behind as a copy."""
    target.parent.mkdir(parents=True, exist_ok=True)
    waiting = near(home, target)
    waiting.parent.mkdir(parents=True, exist_ok=True)
    remove(waiting)
    try:
        source.replace(waiting)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        part = waiting.with_name(waiting.name + ".tmp")
        remove(part)
        if source.is_dir():
            shutil.copytree(source, part)
        else:
            shutil.copy(source, part)
        part.replace(waiting)
    sync(waiting)
    sync_folder(waiting.parent)


def put(home: Path, waiting: Path) -> None:
    """What is near its place, into it."""
    target = target_of(home, waiting)
    if target.suffix == ".duckdb":
        discard_log(target)
    waiting.replace(target)
    sync_folder(target.parent)


def discard_log(database: Path) -> bool:
    """DuckDB finds a write-ahead log by name: one that a client left would be replayed into the next file of that name."""
    log = database.with_name(database.name + ".wal")
    is_there = log.is_symlink() or log.is_file()
    if is_there:
        log.unlink(missing_ok=True)
    return is_there


def move_file(source: Path, target: Path) -> None:
    """One file into its place in one step, from wherever it is."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        source.replace(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        temporary = target.with_name(target.name + ".tmp")
        shutil.copy(source, temporary)
        sync(temporary)
        temporary.replace(target)


def write_atomically(path: Path, text: str) -> None:
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(text, encoding="utf-8")
    sync(temporary)
    temporary.replace(path)
    sync_folder(path.parent)


def exchange(new: Path, old: Path) -> None:
    """Put folder `new` in the place of `old` in one step where the system can, so that there is always one."""
    if not old.exists():
        new.replace(old)
        return
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if renameat2 is None or renameat2(AT_FDCWD, os.fsencode(new), AT_FDCWD, os.fsencode(old), RENAME_EXCHANGE):
        old.replace(new.with_name(f"{old.name}.old"))
        new.replace(old)


def is_of_its_own(folder: Path) -> bool:
    """Whether a folder is a link, or something is mounted there: then it cannot be renamed."""
    if folder.is_symlink():
        return True
    return folder.exists() and _mount(folder) != _mount(folder.parent)


def _mount(folder: Path) -> object:
    """The mount a folder is on; a device number would not tell a bind mount from what it shows."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        told = Path(f"/proc/self/fdinfo/{handle}").read_text(encoding="utf-8").split()
        return told[told.index("mnt_id:") + 1]
    except (OSError, ValueError):
        return os.fstat(handle).st_dev
    finally:
        os.close(handle)


def check_places(home: Path, places: Iterable[str], own: Iterable[str]) -> None:
    """`places` below a home may be links or mounts if they are there; its `own` folders may not. Says so before anything is written."""
    for folder in (home / name for name in own):
        if is_of_its_own(folder):
            raise GristmillError(
                f"{folder} is a link or a mount point, but runs make and remove it: take it away; nothing was changed"
            )
    for folder in (home / name for name in places):
        if folder.is_symlink() and not folder.exists():
            raise GristmillError(
                f"{folder} is a link to {folder.readlink()}, which is not there: bring it back or remove the link; nothing was changed"
            )
        if folder.exists() and not (folder.is_dir() and os.access(folder, os.R_OK | os.W_OK | os.X_OK)):
            raise GristmillError(f"{folder} is not a folder that can be written to; nothing was changed")


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def sync(path: Path) -> None:
    for part in [path, *path.rglob("*")] if path.is_dir() else [path]:
        sync_folder(part)


def sync_folder(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
