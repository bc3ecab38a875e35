"""The one error a user is meant to read: a single line that names what is wrong and where."""


class GristmillError(Exception):
    """Something the user can put right. The command prints the line and exits with code 1."""


class Stopped(GristmillError):
    """A signal arrived; the run ends between two assets, publishes nothing and exits as the signal would have it."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code
