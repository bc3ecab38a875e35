"""Who is looking at what just now, so that two people working at once do not judge the same item by accident.

A claim is the operating system's lock on one byte of an empty file, at a place the item's id decides. It is gone when its
process is, however that ends. Claims are a courtesy: where a file system has no locks, everything is free.
"""

import errno
import fcntl
import hashlib
import os
from pathlib import Path


class Claims:
    """One claim at a time. Use as a context manager."""

    def __init__(self, home: Path) -> None:
        self._file = os.open(home / "review.lock", os.O_RDWR | os.O_CREAT, 0o600)
        self._held: int | None = None

    def __enter__(self) -> "Claims":
        return self

    def __exit__(self, *failure: object) -> None:
        os.close(self._file)

    def take(self, example_id: str) -> bool:
        """Claim an item in place of the one held before; false if another process has it."""
        place = int(hashlib.sha256(example_id.encode()).hexdigest()[:14], 16)
        if place == self._held:
            return True
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
        except OSError as error:
            return error.errno not in (errno.EACCES, errno.EAGAIN)
        self.release()
        self._held = place
        return True

    def release(self) -> None:
        if self._held is not None:
            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, self._held)
            self._held = None
