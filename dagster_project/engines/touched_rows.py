"""Which rows a run has to look at again, and which keys: what is kept by key is made again for those alone.

Voices, votes and partners are decided among rows that share a response or a prompt with its context (`links` of a contract). Rows
that came, went or changed since the publication touch the groups they belong to, and those the groups that these are linked with;
a row outside sees nothing of it. So a table `kept_by` a key keeps the rows of untouched keys, and asks its query about the
touched rows only. Where too much is touched to be worth it, everything is made again: the rows are the same.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from dagster_project.contracts import TABLES
from dagster_project.lake import parquet
from dagster_project.lake.lake import PART, Lake, partition_day

MOST_TOUCHED = 4  # where a quarter of the rows is touched, to make everything again costs little more


@dataclass(frozen=True)
class Touched:
    """The touched rows of a table as they are now, and all touched keys, also of rows that are gone; both are files."""

    table: str
    rows: Path
    keys: Path

    @property
    def instead(self) -> dict[str, Path]:
        """What a query reads instead of the table."""
        return {self.table: self.rows}

    def kept(self, lake: Lake, table: str) -> dict[str, Any]:
        """How `queries.write` makes a table that is kept by key: about the touched rows, beside what is published of others."""
        columns = ", ".join(f'before."{name}"' for name in TABLES[table].columns)
        before, keys = (_quoted(file) for file in (lake.folder / table / PART, self.keys))
        same = f'before."{TABLES[table].kept_by}" = touched."{TABLES[table].kept_by}"'
        untouched = f"select {columns} from read_parquet({before}) as before anti join read_parquet({keys}) as touched on {same}"
        return {"instead": self.instead, "untouched": untouched}


def touched_rows(lake: Lake, table: str, beside: Iterable[str], since: datetime, as_of: datetime) -> Touched | None:
    """What the run touched of a table by day, the publication being of `since`; None: everything, as far as it is worth.

    `beside` are small tables that link rows, too. What is dated between the two instants has come to count.
    """
    links = TABLES[table].links
    keys = sorted({one.kept_by for one in TABLES.values() if one.kept_by} & {*TABLES[table].columns})
    now, before = lake.catalog.tables.get(table, {}), lake.published.tables.get(table, {})
    if not before or not now or as_of < since:
        return None
    changed = {partition for partition in {*now, *before} if now.get(partition) != before.get(partition)}
    counting = {partition for partition in now if since.date() <= partition_day(partition) <= as_of.date()}
    was = _rows(lake.folder, table, sorted(changed & {*before}), {*links, *keys})
    comes = _read(lake.files(table, changed | counting), table, links)
    every = [_read(lake.files(table), table, links)]
    starts = [was.select(links), comes]
    for name in beside:
        old, new = (
            _rows(lake.folder, name, lake.published.tables.get(name, {}), links),
            _read(lake.files(name), name, links),
        )
        every += [old, new]
        starts += [
            old.join(new, on=links, how="anti", nulls_equal=True),
            new.join(old, on=links, how="anti", nulls_equal=True),
        ]
    linked, start = pl.concat(every), pl.concat(starts)
    touched = {link: start[link].drop_nulls().unique() for link in links}
    while True:
        found = linked.filter(_is_touched(touched))
        if MOST_TOUCHED * found.height > linked.height:
            return None
        wider = {link: pl.concat([touched[link], found[link]]).drop_nulls().unique() for link in links}
        if all(len(wider[link]) == len(touched[link]) for link in links):
            break
        touched = wider
    folder = lake.staging / "touched"
    folder.mkdir(parents=True, exist_ok=True)
    files = Touched(table, folder / f"{table}.parquet", folder / f"{table}_keys.parquet")
    parquet.scan(lake.files(table)).filter(_is_touched(touched)).sink_parquet(files.rows, compression="lz4")
    is_now = parquet.scan(files.rows).select(keys).collect()
    pl.concat([is_now, was.select(keys)]).write_parquet(files.keys, compression="lz4")
    return files


def _quoted(file: Path) -> str:
    return "'{}'".format(parquet.as_pattern(file).replace("'", "''"))


def _is_touched(touched: Mapping[str, pl.Series]) -> pl.Expr:
    return pl.any_horizontal(pl.col(link).is_in(values.implode()) for link, values in touched.items()).fill_null(False)


def _rows(folder: Path, table: str, partitions: Iterable[str], columns: Iterable[str]) -> pl.DataFrame:
    """Rows of a table as they are published."""
    return _read([folder / table / partition / PART for partition in partitions], table, columns)


def _read(files: list[Path], table: str, columns: Iterable[str]) -> pl.DataFrame:
    names = sorted(columns)
    return parquet.read(files, columns=names).select(names) if files else TABLES[table].empty().select(names)
