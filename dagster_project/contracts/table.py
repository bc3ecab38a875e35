"""A table's contract: its columns come from the glossary; they make a Parquet layout and, in `engines/checked_tables.py`, a schema."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import polars as pl
import pyarrow

from dagster_project.contracts.columns import AS_STORED, GLOSSARY
from dagster_project.contracts.layout import FileLayout
from dagster_project.contracts.meaning import Meaning

DUCKDB_TYPES = {
    pl.String: "varchar",
    pl.Int64: "bigint",
    pl.Float64: "double",
    pl.Boolean: "boolean",
    pl.Date: "date",
    pl.Datetime: "timestamptz",
    pl.Binary: "blob",
}


@dataclass(frozen=True, eq=False)
class Table:
    """What one row is, which columns identify it, and every column in order (`name?` may be null)."""

    name: str
    description: str
    grain: tuple[str, ...]
    layout: str
    is_by_day: bool = False
    is_view: bool = (
        False  # its query is kept instead of its rows: what depends on as_of alone is computed where it is read
    )
    links: tuple[str, ...] = ()  # keys: rows that share one of them may decide about each other
    kept_by: str | None = (
        None  # a key: where a run touched some keys, the rows of all others stay (`engines/touched_rows.py`)
    )
    is_of_release: bool = False  # made only by runs that make a release, and as the last one of those left it (T5)
    view: str | None = None  # what analysts call it in the warehouse, beside its name
    is_in_warehouse: bool = False  # its rows lie in the warehouse's own file, as those of all metrics do
    empty_without: tuple[str, ...] = ()  # where none of these inputs has a row, its query would look for nothing
    unchecked: tuple[str, ...] = ()  # columns whose values are kept as the source has them, whatever the glossary says
    own: Mapping[str, Meaning] = field(
        default_factory=dict
    )  # columns only its system has, or that are something else here
    said: Mapping[str, str] = field(default_factory=dict)  # what a column means here, where it only says something else
    days_of: str = ""  # of a daily table: the system whose days it counts; what changes of a published one is put down
    passing: tuple[str, ...] = ()  # its counts that change with the mere passing of time
    is_for_analysts: bool = False  # of a core table: people ask it themselves; the others are plumbing

    @cached_property
    def columns(self) -> dict[str, bool]:
        """Column -> may be null."""
        return {word.rstrip("?"): word.endswith("?") for word in self.layout.split()}

    @cached_property
    def meanings(self) -> dict[str, Meaning]:
        """What each column is: this table's own words for it, else its system's, else everybody's. A raw table holds what the
        source says, whatever others make of a column of that name."""
        return {name: self._meaning(name) for name in self.columns}

    def _meaning(self, name: str) -> Meaning:
        meaning, said = self.own.get(name) or GLOSSARY[name], self.said.get(name)
        if said:
            return replace(meaning, description=meaning.among_words(said))
        if self.name.startswith("raw_") and meaning == GLOSSARY.get(name) and name in AS_STORED:
            return replace(meaning, description=AS_STORED[name])
        return meaning

    @cached_property
    def schema(self) -> str:
        """Where it stands in the warehouse: `main` has what people ask, the others what that is made of."""
        layer = self.name.split("_")[0]
        if layer in ("metric", "quarantine") or self.is_for_analysts or "__" not in self.name:
            return "main"
        return layer if layer in ("raw", "train") else "core"

    @cached_property
    def polars_schema(self) -> pl.Schema:
        return pl.Schema({name: meaning.dtype for name, meaning in self.meanings.items()})

    @cached_property
    def select_list(self) -> str:
        """Its columns with their types, as DuckDB writes them."""
        return ", ".join(
            f'"{name}"::{_duckdb_type(dtype)}{" + 0.0" if dtype == pl.Float64 else ""} as "{name}"'  # no -0.0 (G2)
            for name, dtype in self.polars_schema.items()
        )

    @cached_property
    def duckdb_columns(self) -> str:
        """Its columns as DuckDB declares them."""
        return ", ".join(f'"{name}" {_duckdb_type(dtype)}' for name, dtype in self.polars_schema.items())

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
                path: "none" if self.meanings[path.split(".")[0]].is_hash else "zstd"
                for path in _leaves(self.arrow_schema)
            },
        )

    @cached_property
    def digest(self) -> str:
        """Its identity: another one, and whatever was made to it is made again (G12)."""
        said = (
            self.name,
            self.description,
            self.grain,
            self.layout,
            self.is_by_day,
            self.is_view,
            self.kept_by,
            self.is_of_release,
            self.empty_without,
            self.unchecked,
            self.meanings,
        )
        return hashlib.sha256(repr(said).encode()).hexdigest()[:16]

    def empty(self) -> pl.DataFrame:
        return pl.DataFrame(schema=self.polars_schema)


def by_name(columns: Mapping[str, Meaning], *tables: Table) -> dict[str, Table]:
    """A system's tables, which look a column up among the system's own before they do in the glossary."""
    return {table.name: replace(table, own={**columns, **table.own}) for table in tables}


def _duckdb_type(dtype: pl.DataType) -> str:
    if isinstance(dtype, pl.List):
        return f"{_duckdb_type(dtype.inner)}[]"  # pyright: ignore[reportArgumentType]
    if isinstance(dtype, pl.Struct):
        return f"struct({', '.join(f'{f.name} {_duckdb_type(f.dtype)}' for f in dtype.fields)})"  # pyright: ignore[reportArgumentType]
    return DUCKDB_TYPES[dtype.base_type()]


def _leaves(schema: pyarrow.Schema) -> list[str]:
    """Columns as Parquet counts them: a struct is its fields, a list its elements."""
    return [path for column in schema for path in _leaves_of(column.name, column.type)]


def _leaves_of(path: str, kind: pyarrow.DataType) -> list[str]:
    if pyarrow.types.is_struct(kind):
        return [leaf for child in kind for leaf in _leaves_of(f"{path}.{child.name}", child.type)]
    return _leaves_of(f"{path}.list.element", kind.value_type) if pyarrow.types.is_list(kind) else [path]


def _plain(kind: pyarrow.DataType) -> pyarrow.DataType:
    if pyarrow.types.is_large_string(kind) or pyarrow.types.is_string_view(kind):
        return pyarrow.string()
    if pyarrow.types.is_large_list(kind):
        return pyarrow.list_(_plain(kind.value_type))
    if pyarrow.types.is_large_binary(kind) or pyarrow.types.is_binary_view(kind):
        return pyarrow.binary()
    if pyarrow.types.is_struct(kind):
        return pyarrow.struct([pyarrow.field(f.name, _plain(f.type), f.nullable) for f in kind])
    return kind
