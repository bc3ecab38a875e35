"""Whether a file the configuration names is there."""

import errno
from pathlib import Path

# What the system says of a file on a disk that was pulled, or behind a mount whose other end is gone.
UNREACHABLE = frozenset(
    {
        errno.ENOENT,
        errno.ENOTDIR,
        errno.ENODEV,
        errno.ENXIO,
        errno.EIO,
        errno.ESTALE,
        errno.ENOTCONN,
        errno.ETIMEDOUT,
        errno.EHOSTDOWN,
        errno.EHOSTUNREACH,
        errno.ENETUNREACH,
    }
)


def is_there(path: Path) -> bool:
    """Whether there is anything at a path, links followed. What we may not look at is there: reading it will tell why."""
    try:
        path.stat()
    except OSError as error:
        return error.errno not in UNREACHABLE
    return True
