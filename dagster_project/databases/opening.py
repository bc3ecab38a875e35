"""Open a configured source, a SQLite file or a Postgres schema; what is read from it reads the same way from both."""

from dagster_project.config import SourceFile
from dagster_project.databases.source_database import SourceDatabase
from dagster_project.databases.sqlite import SqliteDatabase


def open_database(file: SourceFile, busy_timeout_seconds: float) -> SourceDatabase:
    if file.address is None:
        return SqliteDatabase(file.path, busy_timeout_seconds)
    from dagster_project.databases.postgres import PostgresDatabase  # noqa: PLC0415  most runs have no need of the driver

    return PostgresDatabase(file.address, file.schema, busy_timeout_seconds)
