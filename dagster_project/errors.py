"""The one error a user is meant to read: a single line that names what is wrong and where."""


class GristmillError(Exception):
    """Something the user can put right. The command prints the line and exits with `exit_code`."""

    exit_code = 1


class Misused(GristmillError):
    """What was asked for cannot be meant; nothing was looked at."""

    exit_code = 2


class Stopped(GristmillError):
    """A signal arrived; the run ends between two assets, publishes nothing and exits as the signal would have it."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def one_line(error: BaseException) -> str:
    """What to tell a person about an error, in one line; of what we did not foresee also its kind."""
    if isinstance(error, KeyboardInterrupt):
        return "interrupted; nothing was published"
    if isinstance(error, GristmillError):
        return str(error)
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")
