"""The schemas of our own tables, made from their contracts. What breaks one is our own mistake: it ends the run."""

from functools import cache
from pathlib import Path

import polars as pl

from dagster_project.contracts.checks import Schema, failure_cases
from dagster_project.contracts.meaning import Meaning
from dagster_project.contracts.pandera import pa
from dagster_project.contracts.table import Table
from dagster_project.errors import GristmillError
from dagster_project.lake import parquet

FILE_ROWS = 131_072  # of a file's narrow columns, checked at once


@cache
def table_schema(table: Table) -> Schema:
    """Exactly its columns in order, their types, which may be null, and the glossary's words and ranges."""
    return Schema(
        {
            name: pa.Column(
                meaning.dtype,
                checks=[] if name in table.unchecked else _checks(meaning),
                nullable=table.columns[name],
                description=meaning.description,
            )
            for name, meaning in table.meanings.items()
        },
        name=table.name,
        description=table.description,
        strict=True,
        ordered=True,
    )


def _checks(meaning: Meaning) -> list[pa.Check]:
    if meaning.words:
        return [pa.Check.isin(list(meaning.words))]
    if meaning.least is not None and meaning.most is not None:
        return [pa.Check.in_range(meaning.least, meaning.most)]
    if meaning.least is not None:
        return [pa.Check.ge(meaning.least)]
    return [pa.Check.le(meaning.most)] if meaning.most is not None else []


@cache
def _rules_alone(table: Table) -> Schema:
    """The same of the columns whose values must satisfy something."""
    schema = table_schema(table)
    columns = [name for name, column in schema.columns.items() if column.checks or not column.nullable]
    return schema.select_columns(columns)


def checked(table: Table, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows, if they meet the table's contract."""
    _refuse(table, [failure_cases(table_schema(table), rows)])
    return rows


def check_file(table: Table, path: Path) -> None:
    """The same for a Parquet file that DuckDB wrote with our `select_list`: only columns with rules are read."""
    schema = _rules_alone(table)
    rows = parquet.scan(path).select(*schema.columns)
    starts = range(0, rows.select(pl.len()).collect().item(), FILE_ROWS)
    _refuse(table, [failure_cases(schema, rows.slice(start, FILE_ROWS).collect()) for start in starts])


def _refuse(table: Table, found: list[pl.DataFrame]) -> None:
    """What Pandera found, in one line."""
    cases = pl.concat(found) if found else pl.DataFrame()
    if cases.height:
        first = cases.row(0, named=True)
        raise GristmillError(
            f"{table.name} does not meet its contract: column {first['column']!r}, check {first['check']!r}, "
            f"value {first['failure_case']!r} ({cases.height} violations); nothing was published"
        )
