"""What a source database is to those who read it, whichever engine it lives in."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

import polars as pl

from dagster_project.config import OF_A_RUN
from dagster_project.contracts.source_table import TableSpec
from dagster_project.databases.fingerprint_cache import FingerprintCache, Fingerprints
from dagster_project.databases.sqlite_values import TableShape

BUSY_TIMEOUT_SECONDS: float = OF_A_RUN["busy_timeout_seconds"].default


class SourceDatabase(Protocol):
    """One database inside one read transaction: `SqliteDatabase` or `PostgresDatabase`."""

    tables: set[str]  # in lower case

    @property
    def path(self) -> Path | str:
        """What messages call it; never with a password."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def close(self) -> None: ...

    def shape(self, spec: TableSpec) -> TableShape: ...

    def fingerprints(self, spec: TableSpec) -> pl.DataFrame: ...

    def look(self, spec: TableSpec, cache: FingerprintCache) -> Fingerprints: ...

    def undated_rowids(self, spec: TableSpec) -> list[int]: ...

    def read_days(self, spec: TableSpec, days: Sequence[int], lowest: int, highest: int) -> Iterator[pl.DataFrame]: ...

    def read_all(self, spec: TableSpec) -> Iterator[pl.DataFrame]: ...

    def read_rows(self, spec: TableSpec, rowids: Sequence[int]) -> Iterator[pl.DataFrame]: ...

    def originals(self, spec: TableSpec, rowids: Sequence[int]) -> pl.DataFrame: ...
