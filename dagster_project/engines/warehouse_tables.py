"""What is in the file of a warehouse: every table of the pipeline under its own name, views in an analyst's words, a dictionary.

`main` holds all of it, so that a name needs no schema; what people do not ask is marked as plumbing there and stands in `raw`, `core`
and `train`, too. Instants are written as UTC without a zone: what day they are on is then the same for every client, whatever
its own time zone. Small tables lie in the file, large ones are views on the files of the publication, or (in a warehouse to be
carried away) lie in it as well.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType

import duckdb
import polars as pl

from dagster_project.contracts import TABLES
from dagster_project.contracts.analysts import ANALYSTS, DICTIONARY, unit_of
from dagster_project.contracts.table import Table
from dagster_project.contracts.work import WORK
from dagster_project.engines import queries
from dagster_project.engines.shown_texts import shown_query
from dagster_project.engines.warehouse_folder import HOME, FolderSql, is_right_home, quoted
from dagster_project.lake.lake import Lake

STORAGE = "v1.4.0"  # since then a file and its log know each other: DuckDB refuses a log of another file's
MOST_ROWS_IN_FILE = 50_000
SCHEMAS = {
    "main": "What people ask. Names with two underscores are the pipeline's own tables, the others are for analysts.",
    "raw": "What the sources hold, valid rows as they were read.",
    "core": "What analysts' tables are made of.",
    "train": "The records of training releases, and the candidates that did not leave.",
}
ZONED, NAIVE = "timestamptz", "timestamp"
NO_WORK: Mapping[str, pl.DataFrame] = MappingProxyType({})


def fill(
    path: Path, lake: Lake, snapshot: Path, work: Mapping[str, pl.DataFrame] = NO_WORK, is_portable: bool = False
) -> None:
    """Make the file; whoever calls sees to its place and mode. `work` are the tables about the work itself, by name."""
    with duckdb.connect(str(path), config={"storage_compatibility_version": STORAGE}) as connection:
        connection.execute("set TimeZone = 'UTC'")
        connection.execute(f"set variable {HOME} = {quoted(lake.home)}")  # a view is tried when it is made
        connection.execute("set parquet_metadata_cache = true")
        connection.execute("begin")  # a commit for each of a thousand comments would take longer than everything else
        _Filling(connection, lake, snapshot, work, is_portable).all()
        connection.execute("commit")
        connection.execute("checkpoint")


def work_in(warehouse: Path) -> dict[str, pl.DataFrame]:
    """The tables about the work as a warehouse has them."""
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        return {name: connection.table(name).pl() for name in WORK}


@dataclass
class _Filling:
    connection: duckdb.DuckDBPyConnection
    lake: Lake
    snapshot: Path
    work: Mapping[str, pl.DataFrame]
    is_portable: bool
    told: list[tuple[str, Table]] = field(default_factory=list)  # schema and table, as the dictionary lists them

    def all(self) -> None:
        for schema in SCHEMAS:
            if schema != "main":
                self.connection.execute(f"create schema {schema}")
        for name in [name for name in TABLES if name not in self.lake.catalog.views]:
            self._add_table(name)
        for name in queries.views_behind(self.lake, self.lake.catalog.views):
            sql = in_naive_utc(queries.view_query(self.lake, name))
            self._add_view(TABLES[name], in_naive_utc(f"select {TABLES[name].select_list} from ({sql})"))
        for table in TABLES.values():
            if table.schema != "main":
                self._add_view(table, f'from main."{table.name}"', schema=table.schema)
            if table.view:
                self._add_view(table, f'from "{table.name}"', name=table.view)
        for name, table in ANALYSTS.items():
            if table is not DICTIONARY:
                columns = in_naive_utc(table.select_list)
                self._add_view(table, f"select {columns} from ({in_naive_utc(queries.query(name).sql)})")
        for name, table in WORK.items():
            self._add_rows(table, self.work.get(name, table.empty()))
        self._add_dictionary()

    def _add_table(self, name: str) -> None:
        """A table of the lake: in the file if it is small, else a view on its files."""
        table = TABLES[name]
        parts = [f"{name}/{partition}/part-0.parquet".replace("//", "/") for partition in self.lake.partitions(name)]
        is_small = (name.startswith("metric__") or table.is_in_warehouse) and self.lake.rows(name) <= MOST_ROWS_IN_FILE
        if not parts:
            self.connection.execute(f'create table "{name}" ({in_naive_utc(table.duckdb_columns)})')
            self._comment("table", table, "main", name)
        elif is_small or self.is_portable:
            folder = FolderSql.of(self.snapshot)
            files = f"[{', '.join(folder.matching(part) for part in parts)}]"
            self.connection.execute(
                f'create table "{name}" as {_naive(table, shown_query(self.lake, name, files, folder))}'
            )
            self._comment("table", table, "main", name)
        else:
            folder = FolderSql.in_home(self.lake.home, self.snapshot)
            shown = _naive(table, shown_query(self.lake, name, folder.matching(f"{name}/**/*.parquet"), folder))
            self._add_view(table, f"{shown} where {is_right_home(self.lake.home, self.snapshot)}")

    def _add_view(self, table: Table, sql: str, schema: str = "main", name: str | None = None) -> None:
        self.connection.execute(f'create view {schema}."{name or table.name}" as {sql}')
        self._comment("view", table, schema, name or table.name)

    def _add_rows(self, table: Table, rows: pl.DataFrame) -> None:
        """A table of rows that are in memory."""
        self.connection.register("rows_to_add", rows.to_arrow())
        self.connection.execute(
            f'create table "{table.name}" as select {in_naive_utc(table.select_list)} from rows_to_add'
        )
        self.connection.unregister("rows_to_add")
        self._comment("table", table, "main", table.name)

    def _comment(self, kind: str, table: Table, schema: str, name: str) -> None:
        """Of a table and all its columns at once: one by one they take twice as long, 0.2 s of every run that finds something new."""
        place = f'{schema}."{name}"'
        is_plumbing = schema == "main" and table.schema != "main"
        description = f"Plumbing, also in {table.schema}. {table.description}" if is_plumbing else table.description
        said = [f"comment on {kind} {place} is {quoted(description)}"]
        said += [
            f'comment on column {place}."{column}" is {quoted(meaning.description)}'
            for column, meaning in table.meanings.items()
        ]
        self.connection.execute("; ".join(said))
        if not is_plumbing:
            self.told.append((schema, table if name == table.name else _renamed(table, name)))

    def _add_dictionary(self) -> None:
        """Last, because it tells of all others; and of itself."""
        told = sorted([*self.told, ("main", DICTIONARY)], key=_place_in_dictionary)
        examples = examples_by_table()
        rows = [row for schema, table in told for row in _entries(schema, table, examples)]
        self._add_rows(DICTIONARY, pl.DataFrame(rows, schema=DICTIONARY.polars_schema, orient="row"))


def _place_in_dictionary(told: tuple[str, Table]) -> tuple[object, ...]:
    """What people ask comes first, and of that what is called in their words."""
    schema, table = told
    return schema != "main", schema, "__" in table.name, table.name


def _renamed(table: Table, name: str) -> Table:
    """The same table by the name analysts call it."""
    return Table(name, table.description, table.grain, table.layout, own=table.meanings)


def _entries(schema: str, table: Table, examples: Mapping[str, str]) -> Iterable[tuple[object, ...]]:
    yield schema, table.name, None, 0, None, table.description, None, ", ".join(table.grain), examples.get(table.name)
    types = in_naive_utc(table.duckdb_columns).removeprefix('"').split(', "')
    for place, (column, meaning) in enumerate(table.meanings.items(), 1):
        kind = next(text.split('" ', 1)[1] for text in types if text.startswith(f'{column}" '))
        yield schema, table.name, column, place, kind, meaning.description, unit_of(column, meaning), None, None


def in_naive_utc(sql: str) -> str:
    """The same query on instants that are UTC without a zone, where no client's time zone can move them."""
    sql = re.sub(r"timestamptz '([^']*?)(?:\+00:00)?'", r"timestamp '\1'", sql)
    return re.sub(r" at time zone 'UTC'", "", sql).replace(ZONED, NAIVE)


def _naive(table: Table, sql: str) -> str:
    """Rows of the lake with their instants as UTC without a zone."""
    zoned = [name for name, dtype in table.polars_schema.items() if dtype.base_type() == pl.Datetime]
    instead = ", ".join(f'make_timestamp(epoch_us("{name}")) as "{name}"' for name in zoned)
    return f"select *{f' replace ({instead})' if instead else ''} from ({sql})"


# --- examples ----------------------------------------------------------------------------------------------------


EXAMPLES = queries.SQL_FOLDER / "examples"


@cache
def examples_by_table() -> Mapping[str, str]:
    """For each table the first example that asks it."""
    found: dict[str, str] = {}
    for path in sorted(EXAMPLES.glob("*.sql")):
        text = path.read_text(encoding="utf-8").strip()
        for name in re.findall(r"\b(?:from|join) ([a-z_]+)\b", text):
            found.setdefault(name, text)
    return found
