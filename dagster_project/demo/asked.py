"""What a system's demo is asked for, and how it tells of what it wrote. `demo/<system>/demo.py` has its `write`."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from dagster_project.demo.timeline import LAST_DAY


@dataclass(frozen=True)
class Asked:
    """So much of it, drawn from this seed, into this folder. Systems are written in their order."""

    folder: Path
    rows: int
    seed: int
    left: dict[str, Any] = field(default_factory=dict)  # what a system leaves for those that come after it

    def database(self, system: str) -> Path:
        return self.folder / f"{system}.db"


def since(days: int) -> str:
    return f"{LAST_DAY - timedelta(days=days - 1)} to {LAST_DAY}"


def bad(counts: Mapping[str, int], names: Iterable[str]) -> str:
    found = [counts[name] for name in set(names) if counts.get(name)]
    return f"{sum(found)} bad rows of {len(found)} kinds"
