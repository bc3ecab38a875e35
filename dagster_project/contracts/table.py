"""A table's contract: a Pandera schema whose columns come from the glossary, and the Arrow schema it is written with."""

from dataclasses import dataclass, field
from functools import cached_property

import pandera.polars as pa
import polars as pl
import pyarrow

from dagster_project.contracts.columns import GLOSSARY
from dagster_project.lake import FileLayout


@dataclass(frozen=True)
class Table:
    """What one row is, which columns identify it, and every column in order (`name?` may be null)."""

    name: str
    description: str
    grain: tuple[str, ...]
    layout: str
    is_by_day: bool = False
    narrowed: dict[str, tuple[pa.Check, ...]] = field(default_factory=dict)  # further checks for this table only

    @cached_property
    def columns(self) -> dict[str, bool]:
        """Column -> may be null."""
        return {word.rstrip("?"): word.endswith("?") for word in self.layout.split()}

    @cached_property
    def schema(self) -> pa.DataFrameSchema:
        return pa.DataFrameSchema(
            {
                name: pa.Column(
                    GLOSSARY[name].dtype,
                    checks=[*self.narrowed.get(name, GLOSSARY[name].checks)],
                    nullable=nullable,
                    description=GLOSSARY[name].description,
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
        return pl.Schema({name: GLOSSARY[name].dtype for name in self.columns})

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
            [path for path in _leaves(self.arrow_schema) if GLOSSARY[path.split(".")[0]].is_repetitive],
            [name for name in self.columns if not GLOSSARY[name].is_long_text],
            {
                path: "none" if GLOSSARY[path.split(".")[0]].dtype == pl.UInt64 else "zstd"
                for path in _leaves(self.arrow_schema)
            },
        )

    def empty(self) -> pl.DataFrame:
        return pl.DataFrame(schema=self.polars_schema)

    def validate(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows, or a `pandera.errors.SchemaErrors` that lists every violation. Eager: lazy frames skip checks."""
        return self.schema.validate(rows, lazy=True)


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
