"""What reading a source needs to know of the run it is part of: what was asked for, as_of, the open files, the lake."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, Protocol

from dagster_project.config import Config
from dagster_project.contracts.source_table import TableSpec
from dagster_project.databases.fingerprint_cache import FingerprintCache
from dagster_project.intake.fingerprints import Seen
from dagster_project.intake.open_files import OpenFile
from dagster_project.lake.damage import Damage
from dagster_project.lake.lake import Lake


@dataclass(frozen=True)
class Choice:
    """What the user asked of this run. Without days, G7 decides what is read again."""

    as_of: datetime | Literal["now"] | None = None
    full: bool = False
    days: tuple[date, date] | None = None
    wait_seconds: float = 0.0
    release: bool = False  # make a release, also where runs do not (T5)
    is_dry: bool = False  # only say which days would be read again

    def includes(self, day: date) -> bool:
        """Whether this day was asked for."""
        return self.days is not None and self.days[0] <= day <= self.days[1]


class Stage(Protocol):
    """A run as its intake sees it; `run.mill_run.MillRun` is one."""

    config: Config
    choice: Choice
    lake: Lake
    fingerprint_cache: FingerprintCache
    damage: Damage
    planned: dict[str, dict[date | None, str]]  # table -> the days it reads again (None: all of it), each with why
    check_stop: Callable[[], None]  # raises where somebody asked the run to stop

    def report(self, table: str, rows: int) -> None: ...

    @property
    def as_of(self) -> datetime: ...

    @property
    def release_date(self) -> date: ...

    def files(self, system: str, table: str | None = None) -> list[OpenFile]: ...

    def files_with(self, spec: TableSpec) -> list[OpenFile]: ...

    def seen(self, asset: str) -> Seen: ...

    def missing_of(self, system: str) -> dict[str, int]: ...
