"""What a system says of itself: `systems/<name>/system.py` holds one `System`, `registry.py` finds it and joins it to the others.

What must be known before its code is imported stands in `systems/<name>/system.toml` (`config/system_facts.py`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import polars as pl

from dagster_project.columns.instants import INSTANT
from dagster_project.contracts.source_table import TableSpec
from dagster_project.contracts.table import Table
from dagster_project.intake.marks import Marks
from dagster_project.lake.lake import Lake
from dagster_project.run.made import Made
from dagster_project.run.mill_run import MillRun

# What became of a row: active, superseded, duplicate or merged, by or into which; when it was given; an earlier one it silences.
FATE = {
    "origin_id": pl.String,
    "fate": pl.String,
    "fate_ref": pl.String,
    "given_at": INSTANT,
    "replaces": pl.String,
}


@dataclass(frozen=True)
class Why:
    """How `gristmill why` finds what an id means in a system, and tells it."""

    noun: str  # what the system's things are called
    key: str  # of what is known of them in the answer
    facts: Callable[[Lake, Sequence[str]], list[dict[str, Any]]]  # all there is to know of these ids
    tell: Callable[[dict[str, Any]], list[str]]  # one of them in words
    dated: Callable[[Lake, str], datetime | None]  # when a thing is dated that was read, but is not before as_of
    ids: Callable[[Lake, str], list[str]] = lambda lake, wanted: [wanted]  # of the things somebody may mean
    source_row: Callable[[str], tuple[str | None, str]] = lambda wanted: (None, wanted)  # table, if named, and key
    candidates: str | None = None  # the table of training candidates made of them
    fates: Callable[[Lake, pl.Series], pl.DataFrame] | None = None  # what became of the things behind records (`FATE`)
    queued_by: str | None = None  # the column by which a person may settle them (F12)


@dataclass(frozen=True)
class System:
    """One of the systems Gristmill reads, with everything that hangs on it."""

    name: str
    about: str  # what its source is, for people
    kinds: frozenset[str]  # of databases it is known to live in
    document: str  # what describes it, in docs/sources
    tables: Mapping[str, Table]  # the contracts of all tables that are its own
    dated: Mapping[str, TableSpec]  # raw table -> the source's table, where it is kept by day ...
    read_by_day: Callable[[MillRun, str], list[Made]]  # ... and what brings one up to date, with its companions
    figures: Callable[[Lake], dict[str, Any]]  # what `gristmill stats` shows of it
    undated: Mapping[str, TableSpec] = field(default_factory=dict)  # likewise, where it is not kept by day
    read_whole: Callable[[MillRun, str], list[Made]] | None = None
    companions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # raw table -> tables made in its step
    judged_by: Mapping[str, str] = field(default_factory=dict)  # raw table -> the raw table that must be read before it
    why: Why | None = None
    marks: Marks | None = None  # what a write-back writes into its source
    is_always_made: bool = False  # what is made of its raw tables is there without a source too, if only empty
    state: tuple[str, ...] = ()  # patterns of files in the state for whose sake its tables are made without a source
