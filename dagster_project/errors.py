"""The one error a user is meant to read: a single line that names what is wrong and where."""


class GristmillError(Exception):
    """Something the user can put right. The command prints the line and exits with code 1."""


class Stopped(GristmillError):
    """A termination signal arrived; the run ends between two assets and publishes nothing."""
