"""A table's contract: its columns come from the glossary; they make a Pandera schema, a Parquet layout and quick counts.

The counts answer the only question asked of good rows, "does any value break a rule?", in one pass. Pandera is asked
when one does: it says which value of which row broke which rule. So millions of good rows do not pay for the report.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pyarrow
import pyarrow.parquet as pq

from dagster_project.contracts.columns import GLOSSARY
from dagster_project.contracts.meaning import Meaning
from dagster_project.lake import FileLayout

if TYPE_CHECKING:
    import pandera.polars as pa

DUCKDB_TYPES = {
    pl.String: "varchar", pl.Int64: "bigint", pl.UInt64: "ubigint", pl.Float64: "double", pl.Boolean: "boolean",
    pl.Date: "date", pl.Datetime: "timestamptz",
}  # fmt: skip


@dataclass(frozen=True)
class Table:
    """What one row is, which columns identify it, and every column in order (`name?` may be null)."""

    name: str
    description: str
    grain: tuple[str, ...]
    layout: str
    is_by_day: bool = False
    unchecked: tuple[str, ...] = ()  # columns whose values are kept as the source has them, whatever the glossary says
    own: Mapping[str, Meaning] = field(default_factory=dict)  # columns that mean something else here than elsewhere

    @cached_property
    def columns(self) -> dict[str, bool]:
        """Column -> may be null."""
        return {word.rstrip("?"): word.endswith("?") for word in self.layout.split()}

    @cached_property
    def meanings(self) -> dict[str, Meaning]:
        return {name: self.own.get(name) or GLOSSARY[name] for name in self.columns}

    @cached_property
    def checked(self) -> dict[str, Meaning]:
        """The columns whose values must satisfy something."""
        meanings = {name: meaning for name, meaning in self.meanings.items() if name not in self.unchecked}
        return {name: m for name, m in meanings.items() if m.words or m.least is not None or m.most is not None}

    @cached_property
    def schema(self) -> "pa.DataFrameSchema":
        import pandera.polars as pa  # half a second, and good rows never need it

        def checks(meaning: Meaning) -> "list[pa.Check]":
            found = [pa.Check.isin(list(meaning.words))] if meaning.words else []
            found += [pa.Check.ge(meaning.least)] if meaning.least is not None else []
            return found + ([pa.Check.le(meaning.most)] if meaning.most is not None else [])

        return pa.DataFrameSchema(
            {
                name: pa.Column(
                    self.meanings[name].dtype,
                    checks=checks(self.checked[name]) if name in self.checked else [],
                    nullable=nullable,
                    description=self.meanings[name].description,
                )
                for name, nullable in self.columns.items()
            },
            name=self.name,
            description=self.description,
            strict=True,
            ordered=True,
        )

    @cached_property
    def polars_schema(self) -> pl.Schema:
        return pl.Schema({name: meaning.dtype for name, meaning in self.meanings.items()})

    @cached_property
    def select_list(self) -> str:
        """Its columns with their types, as DuckDB writes them."""
        return ", ".join(f'"{name}"::{_duckdb_type(dtype)} as "{name}"' for name, dtype in self.polars_schema.items())

    @cached_property
    def arrow_schema(self) -> pyarrow.Schema:
        """What is written to Parquet. Plain strings and lists, so that every reader understands them."""
        arrow = self.empty().to_arrow().schema
        return pyarrow.schema([pyarrow.field(f.name, _plain(f.type), f.nullable) for f in arrow])

    @cached_property
    def file_layout(self) -> "FileLayout":
        """How its Parquet files are laid out."""
        return FileLayout(
            self.arrow_schema,
            [path for path in _leaves(self.arrow_schema) if self.meanings[path.split(".")[0]].is_repetitive],
            [name for name in self.columns if not self.meanings[name].is_long_text],
            {
                path: "none" if self.meanings[path.split(".")[0]].dtype == pl.UInt64 else "zstd"
                for path in _leaves(self.arrow_schema)
            },
        )

    def empty(self) -> pl.DataFrame:
        return pl.DataFrame(schema=self.polars_schema)

    # --- validation ----------------------------------------------------------------------------------------------

    @cached_property
    def _broken_values(self) -> list[pl.Expr]:
        """How many values break each rule; a null breaks none of these."""
        return [(~_holds(name, meaning)).sum().alias(name) for name, meaning in self.checked.items()]

    def _nulls(self, columns: list[str]) -> list[pl.Expr]:
        return [pl.col(name).null_count().alias(f"{name} is null") for name in columns if not self.columns[name]]

    def validate(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows, or a `pandera.errors.SchemaErrors` that lists every violation."""
        is_shaped = rows.schema == self.polars_schema
        counts = [*self._nulls(list(self.columns)), *self._broken_values]
        if is_shaped and (not counts or not any(rows.select(counts).row(0))):
            return rows
        return self.schema.validate(rows, lazy=True)

    def validate_file(self, path: Path) -> None:
        """The same for a Parquet file DuckDB wrote with our `select_list`. Nulls are counted in its footer already."""
        nested = [name for name, dtype in self.polars_schema.items() if dtype.is_nested()]
        counts = [*self._nulls(nested), *self._broken_values]
        is_good = not _has_nulls(path, {name for name, nullable in self.columns.items() if not nullable} - {*nested})
        if is_good and counts:
            found = pl.scan_parquet(path, hive_partitioning=False).select(counts).collect(engine="streaming")
            is_good = not any(found.row(0))
        if not is_good:
            self.schema.validate(pl.read_parquet(path, hive_partitioning=False), lazy=True)


def _holds(name: str, meaning: Meaning) -> pl.Expr:
    values = pl.col(name)
    if meaning.words:
        return values.is_in(list(meaning.words))
    if meaning.least is not None and meaning.most is not None:
        return values.is_between(meaning.least, meaning.most)
    return values >= meaning.least if meaning.least is not None else values <= meaning.most


def _has_nulls(path: Path, columns: set[str]) -> bool:
    footer = pq.read_metadata(path)
    for number in range(footer.num_row_groups):
        group = footer.row_group(number)
        for index in range(group.num_columns):
            column = group.column(index)
            if column.path_in_schema in columns and column.statistics.null_count:
                return True
    return False


def _duckdb_type(dtype: pl.DataType) -> str:
    if isinstance(dtype, pl.List):
        return f"{_duckdb_type(dtype.inner)}[]"  # pyright: ignore[reportArgumentType]
    if isinstance(dtype, pl.Struct):
        return f"struct({', '.join(f'{f.name} {_duckdb_type(f.dtype)}' for f in dtype.fields)})"  # pyright: ignore[reportArgumentType]
    return DUCKDB_TYPES[dtype.base_type()]


def _leaves(schema: pyarrow.Schema) -> list[str]:
    """Columns as Parquet counts them: a struct is its fields, a list its elements."""
    paths = []
    for column in schema:
        if pyarrow.types.is_struct(column.type):
            paths += [f"{column.name}.{child.name}" for child in column.type]
        else:
            paths.append(f"{column.name}.list.element" if pyarrow.types.is_list(column.type) else column.name)
    return paths


def _plain(kind: pyarrow.DataType) -> pyarrow.DataType:
    if pyarrow.types.is_large_string(kind) or pyarrow.types.is_string_view(kind):
        return pyarrow.string()
    if pyarrow.types.is_large_list(kind):
        return pyarrow.list_(_plain(kind.value_type))
    return kind
