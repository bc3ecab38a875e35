"""What makes a table, as Dagster shows it: a version of its code, and links to the code and to the page of its system.

The version is of all that decides what is in the table but its inputs: its query's text and its checks', or the code its maker
reaches by imports (`code_identity`), and its contract.
"""

import hashlib
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg

from dagster_project.code_identity import code_identity
from dagster_project.contracts import TABLES
from dagster_project.engines import queries
from dagster_project.registry import SYSTEMS

PROJECT = Path(__file__).parents[2]  # in a wheel, where it was installed: there are no docs then
SYSTEM_OF = {table: system for system in SYSTEMS.values() for table in system.tables}
RULES = "docs/rules.md"
Maker = Callable[..., Any]


def code_version(table: str, maker: Maker | None) -> str:
    """Without a maker, of the query of its name and the checks on it."""
    parts = [TABLES[table].digest] if table in TABLES else []
    if maker:
        parts += [f"{maker.__module__}.{maker.__qualname__}", code_identity(maker.__module__)]
    else:
        parts += [queries.query(name).hash for name in (table, *queries.checks_of(table))]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def code_links(table: str, maker: Maker | None) -> dg.CodeReferencesMetadataValue:
    """The query or the maker, and the page of the table's system where the project has its docs with it."""
    if maker:
        file, line = _file_of(maker), maker.__code__.co_firstlineno
    else:
        file, line = queries.file_of(table), 1
    page = PROJECT / document_of(table)
    with (
        warnings.catch_warnings()
    ):  # links are beta: where they change, `make check` tells, not everyone who loads this
        warnings.simplefilter("ignore", dg.BetaWarning)
        links = [_link(file, line), *([_link(page, 1)] if page.is_file() else [])]
        return dg.CodeReferencesMetadataValue(code_references=[*links])


def document_of(table: str) -> str:
    """Where the docs tell of a table: the page of its system, or the rules."""
    return page_of(SYSTEM_OF[table].document) if table in SYSTEM_OF else RULES


def page_of(document: str) -> str:
    return f"docs/sources/{document}"


def tags_of(table: str) -> dict[str, str]:
    """By which tables are chosen in the UI: their layer is their group already."""
    return {"gristmill/system": SYSTEM_OF[table].name} if table in SYSTEM_OF else {}


def _link(file: Path, line: int) -> dg.LocalFileCodeReference:
    label = file.relative_to(PROJECT).as_posix() if file.is_relative_to(PROJECT) else file.name
    return dg.LocalFileCodeReference(file_path=str(file), line_number=line, label=label)


def _file_of(maker: Maker) -> Path:
    return Path(str(sys.modules[maker.__module__].__file__))
