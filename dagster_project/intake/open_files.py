"""The databases of a system, open for a run: which they are, in which order they count, whether they are what they should be."""

import contextlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from dagster_project.config import Config
from dagster_project.contracts.source_table import TableSpec
from dagster_project.databases.opening import open_database
from dagster_project.databases.source_database import SourceDatabase
from dagster_project.errors import GristmillError


@dataclass(frozen=True)
class OpenFile:
    """One database of a source, open in its read transaction. `order` is its place in the configuration."""

    label: str
    order: int
    database: SourceDatabase
    options: Mapping[str, str | None] = field(default_factory=dict)


def open_files(config: Config, system: str, missing: Collection[str], stack: contextlib.ExitStack) -> list[OpenFile]:
    """The configured files of a system, but for those that are missing. The stack closes them."""
    return [
        OpenFile(
            label=file.label,
            order=file.order,
            database=stack.enter_context(contextlib.closing(open_database(file, config.busy_timeout_seconds))),
            options=file.options,
        )
        for file in config.sources[system]
        if file.label not in missing
    ]


def files_with(files: Sequence[OpenFile], spec: TableSpec) -> list[OpenFile]:
    """Those a table is read from: an optional one may be absent."""
    return [file for file in files if not spec.is_optional or spec.name in file.database.tables]


def check_has_any(files: Iterable[OpenFile], specs: Iterable[TableSpec]) -> None:
    """Any of these tables may be absent, but a file without all of them is not what it is configured to be."""
    names = [spec.name for spec in specs]
    for file in files:
        if not file.database.tables & set(names):
            raise GristmillError(f"{file.database.path} has none of the tables {', '.join(names)}")


def order_of(files: Sequence[OpenFile], missing: Mapping[str, int]) -> list[str]:
    """The labels of a table's files as they are configured, those that are missing now among them."""
    places = {file.label: file.order for file in files} | dict(missing)
    return sorted(places, key=lambda label: (places[label], label))


def keeps_order(before: Sequence[str], now: Sequence[str]) -> bool:
    """Whether the files that are in both are in the same order: it decides which of two rows is kept (F3)."""
    return [label for label in before if label in now] == [label for label in now if label in before]
