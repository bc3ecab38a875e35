"""Open a configured source, a SQLite file or a Postgres schema; what is read from it reads the same way from both."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

import polars as pl

from dagster_project.config import SourceFile
from dagster_project.extract import SqliteDatabase
from dagster_project.looks import Look, LookCache
from dagster_project.sqlite_values import TableShape, TableSpec


class SourceDatabase(Protocol):
    """One database inside one read-only transaction (G4)."""

    path: Path
    tables: set[str]

    def close(self) -> None: ...
    def shape(self, spec: TableSpec) -> TableShape: ...
    def look(self, spec: TableSpec, cache: LookCache) -> Look: ...
    def undated_rowids(self, spec: TableSpec) -> list[int]: ...
    def read_days(self, spec: TableSpec, days: Sequence[int], lowest: int, highest: int) -> Iterator[pl.DataFrame]: ...
    def read_all(self, spec: TableSpec) -> Iterator[pl.DataFrame]: ...
    def read_rows(self, spec: TableSpec, rowids: Sequence[int]) -> Iterator[pl.DataFrame]: ...
    def repeated_numbers(self, spec: TableSpec, column: str) -> list[int]: ...
    def originals(self, spec: TableSpec, rowids: Sequence[int]) -> pl.DataFrame: ...


def open_database(file: SourceFile, busy_timeout_seconds: float) -> SourceDatabase:
    if file.address is None:
        return SqliteDatabase(file.path, busy_timeout_seconds)
    from dagster_project.postgres import PostgresDatabase  # noqa: PLC0415  most runs have no need of the driver

    return PostgresDatabase(file.address, file.schema, busy_timeout_seconds)
