"""What a system says of itself: `systems/<name>/system.py` holds one `System`, `registry.py` finds it and joins it to the others."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from dagster_project.contracts.source_table import TableSpec
from dagster_project.intake.raw_tables import Account
from dagster_project.run.mill_run import MillRun


@dataclass(frozen=True)
class System:
    """One of the systems Gristmill reads, with everything that hangs on it."""

    name: str
    about: str  # what its source is, for people
    kinds: frozenset[str]  # of databases it is known to live in
    dated: Mapping[str, TableSpec]  # raw table -> the source's table, where it is kept by day ...
    bring_dated: Callable[[MillRun, str], Account]  # ... and what brings one up to date
    undated: Mapping[str, TableSpec] = field(default_factory=dict)  # likewise, where it is not kept by day
    bring_undated: Callable[[MillRun, str], Account] | None = None
    companions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # raw table -> tables made in its step
    judged_by: Mapping[str, str] = field(default_factory=dict)  # raw table -> the raw table that must be read before it
