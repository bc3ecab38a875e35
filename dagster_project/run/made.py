"""What making a table comes to, in one shape for all tables: what is told of it, and which claims about it hold.

A maker takes the run and returns one `Made` for each table it makes. It declares its claims beside itself, as data; who runs
makers (`orchestration/steps.py`) stops and tries again, reports, and keeps a run with a broken claim from publishing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from dagster_project.intake.account import Account

SHOWN_ROWS = 5  # of those that break a claim
DRIFT_CLAIM = "no_drift"  # what it finds, the record of the work has in a table of its own


@dataclass(frozen=True)
class Claim:
    """What must hold of a table. Where it does not, nothing is published; or, if it does not block, it is only told."""

    name: str
    says: str
    blocks: bool = True


@dataclass(frozen=True)
class Outcome:
    """Whether a claim held, and what was found."""

    claim: Claim
    holds: bool
    found: Mapping[str, Any] = field(default_factory=dict)
    offending_rows: int | None = None  # of a claim about rows: how many break it ...
    first: list[Any] = field(default_factory=list)  # ... and the first of them

    @classmethod
    def of_rows(cls, claim: Claim, offending: pl.DataFrame | None) -> "Outcome":
        """None may break the claim. Without a table nobody looked: what is unchanged held when it was made."""
        if offending is None:
            return cls(claim, holds=True, offending_rows=0)
        first = offending.head(SHOWN_ROWS).rows(named=True)
        return cls(claim, offending.is_empty(), offending_rows=offending.height, first=first)


@dataclass(frozen=True)
class Made:
    """A table that is up to date now."""

    table: str
    is_current: bool = False  # it was up to date before
    told: Mapping[str, Any] = field(default_factory=dict)
    outcomes: tuple[Outcome, ...] = ()
    account: Account | None = None  # of a source's table: where its rows went
