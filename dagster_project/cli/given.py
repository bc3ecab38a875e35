"""What the command is told before its verb, for whichever verb follows: the file with settings, the home, whether to show tracebacks."""

from dataclasses import dataclass
from pathlib import Path

from dagster_project import config as configuration


@dataclass
class Given:
    """Put here by the root command, which runs before any verb."""

    config: Path | None = None
    home: Path | None = None
    debug: bool = False


GIVEN = Given()


def settings() -> configuration.Config:
    """The settings in force for the verb."""
    return configuration.load(GIVEN.config, GIVEN.home)
