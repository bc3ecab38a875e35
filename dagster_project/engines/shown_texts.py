"""What readers of the warehouse see of long texts: secrets and personal data masked (T8), while the lake's own tables keep them.

Few rows hold an item, so a table is not written a second time: what is kept beside it are the rows that have one, with the texts
that are shown instead, by the file they lie in and their place in it. The warehouse's view of a table puts both together. A file
is searched once, and again when it, the rules or the settings changed.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import polars as pl
import pyarrow.parquet as pq

from dagster_project.columns.masked_conversations import masked_for_people, may_be_masked
from dagster_project.columns.own_memory import of_its_own
from dagster_project.contracts import TABLES
from dagster_project.contracts.layout import FileLayout
from dagster_project.engines.kept_days import grouped
from dagster_project.engines.warehouse_folder import FolderSql
from dagster_project.engines.workers import in_order
from dagster_project.lake import parquet
from dagster_project.lake.lake import PART, Lake

TABLE = "warehouse__masked"  # a partition for each table of the lake that has any
MASKED_ALREADY = "train__"  # what leaves was masked as a record
PLACE = {"in_file": pl.String, "in_place": pl.Int64}
TOGETHER = 20_000  # rows: what costs the same whatever the rows would take seconds where 90 days went one by one


@dataclass(frozen=True)
class Masks:
    """Which kinds of items are masked, what is none of any, and the identity of the code that finds them (G12)."""

    kinds: Sequence[str]
    allow: Sequence[str]
    code: str

    @property
    def identity(self) -> str:
        return f"{self.code} {','.join(self.kinds)} {','.join(self.allow)}"


def masked_columns(table: str) -> list[str]:
    """The columns whose texts are shown masked: none of a table that was masked before it was made, or that is a query."""
    if table.startswith(MASKED_ALREADY) or TABLES[table].is_view:
        return []
    return [name for name, meaning in TABLES[table].meanings.items() if meaning.is_long_text]


def keep_masked_texts(lake: Lake, masks: Masks, workers: int) -> None:
    """Search what changed since it was searched last; what is gone from a table goes here, too."""
    for table in TABLES:
        if columns := masked_columns(table):
            _keep_table(lake, table, columns, masks, workers)


def _keep_table(lake: Lake, table: str, columns: list[str], masks: Masks, workers: int) -> None:
    key = f"{TABLE}/{table}/"
    wanted = {f"{key}{name}": f"{masks.identity} {file.version}" for name, file in lake.partitions(table).items()}
    held = lake.partitions(TABLE).get(f"of={table}")
    own = f"{TABLE}/{table}"
    known = {name: told for name, told in lake.catalog.inputs.items() if name.startswith(key)}
    if lake.catalog.inputs.get(own) != str(held.rows if held else 0):
        known = {}  # never looked at, or what was found is gone
    if known == wanted:
        return
    stale = [name.removeprefix(key) for name, told in wanted.items() if known.get(name) != told]
    old = {*stale, *(name.removeprefix(key) for name in known.keys() - wanted.keys())}
    files = grouped(stale, lambda name: lake.partitions(table)[name].rows, TOGETHER)
    suspects = in_order(partial(_suspects, lake, table, columns), files, workers)
    # few rows may have an item: those of many files are searched together
    together = grouped(suspects, lambda rows: rows.height, TOGETHER)
    found = [pl.DataFrame(schema=_schema(columns)), *in_order(partial(_found, columns, masks), together, workers)]
    if held and known:
        kept = parquet.read(lake.path(TABLE, f"of={table}"))
        found.append(kept.select(*_schema(columns)).filter(~pl.col("in_file").is_in(sorted(old))))
    rows = pl.concat(found).sort(*PLACE)
    if rows.height:
        arrow = rows.to_arrow(compat_level=pl.CompatLevel.oldest())
        layout = FileLayout(arrow.schema, ["in_file"], [*PLACE], dict.fromkeys(arrow.schema.names, "zstd"))
        with lake.replacing(TABLE, f"of={table}", layout) as writer:
            writer.write(arrow)
    else:
        lake.drop(TABLE, f"of={table}")
    others = {name: told for name, told in lake.catalog.inputs.items() if not name.startswith(key)}
    lake.catalog.inputs = others | wanted | {own: str(rows.height)}


def _schema(columns: Iterable[str]) -> pl.Schema:
    return pl.Schema({**PLACE, **dict.fromkeys(columns, pl.String)})


def _suspects(lake: Lake, table: str, columns: list[str], partitions: Sequence[str]) -> pl.DataFrame:
    """The rows of some files that may have an item."""
    pieces = (piece for partition in partitions for piece in _pieces(lake, table, columns, partition))
    found = [pl.DataFrame(schema=_schema(columns))]
    for group in grouped(pieces, lambda piece: piece.height, TOGETHER):
        rows = pl.concat(group)
        found.append(of_its_own(rows.filter(may_be_masked(rows, columns))))
    return pl.concat(found)


def _found(columns: list[str], masks: Masks, suspects: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Those of the rows that have an item; a text that has none is null."""
    rows = pl.concat(suspects)
    shown = masked_for_people(rows.select(columns), columns, masks.kinds, masks.allow)
    is_other = [pl.when(shown[name].ne_missing(rows[name])).then(shown[name]).alias(name) for name in columns]
    told = rows.select(*PLACE).with_columns(*is_other)
    return of_its_own(told.filter(pl.any_horizontal(pl.col(columns).is_not_null())))


def _pieces(lake: Lake, table: str, columns: list[str], partition: str) -> Iterator[pl.DataFrame]:
    """The texts of a file with their places, a group of rows of the file at a time."""
    with pq.ParquetFile(lake.path(table, partition)) as file:
        start = 0
        for number in range(file.num_row_groups):
            rows = pl.DataFrame(pl.from_arrow(file.read_row_group(number, columns)))
            place = pl.int_range(start, start + rows.height, dtype=pl.Int64).alias("in_place")
            yield rows.select(pl.lit(partition).alias("in_file"), place, *columns)
            start += rows.height


def shown_query(lake: Lake, table: str, files: str, folder: FolderSql) -> str:
    """The rows of a table, which lie in `files`, as readers see them; `folder` is the lake or a snapshot of it."""
    if f"of={table}" not in lake.partitions(TABLE):
        return f"select * from read_parquet({files}, hive_partitioning = false)"
    columns = masked_columns(table)
    shown = ", ".join(f'coalesce(shown."{name}", kept."{name}") as "{name}"' for name in columns)
    partitions = [*lake.partitions(table)]
    plain, same = "file_row_number", "kept.file_row_number = shown.in_place"
    if partitions != [""]:
        if all(partition.startswith("event_date=") for partition in partitions):
            day = "try_cast(replace(shown.in_file, 'event_date=', '') as date)"
            same += f" and kept.event_date is not distinct from {day}"
        else:
            plain += ", filename"
            same += f" and kept.filename = {folder.file(f'{table}/')} || shown.in_file || '/{PART}'"
    options = "hive_partitioning = false, file_row_number = true" + (", filename = true" if "filename" in plain else "")
    masked_file = folder.matching(f"{TABLE}/of={table}/{PART}")
    return (
        f"select kept.* exclude ({plain}) replace ({shown})"
        f" from read_parquet({files}, {options}) as kept"
        f" left join read_parquet({masked_file}, hive_partitioning = false) as shown on {same}"
    )
