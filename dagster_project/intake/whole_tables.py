"""A source table read whole in bounded memory: rows go to the file as they come, only their keys wait for the last one.

Which of two rows with the same key counts is known when all are read; what then has to go is left out in a second pass
over the file, which most tables never need.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from dagster_project.contracts import TABLES
from dagster_project.contracts.checks import Schema
from dagster_project.contracts.source_table import TableSpec
from dagster_project.engines.stored_tables import fit
from dagster_project.intake import days as intake
from dagster_project.intake.days import OpenFile
from dagster_project.intake.quarantine import split
from dagster_project.intake.relations import resolve_copies
from dagster_project.lake.lake import Lake
from dagster_project.lake.parquet import TableWriter

GROUP_ROWS = 50_000  # rows judged together
WHERE_FROM = ("source_file", "source_rowid", "file_order")


@dataclass(frozen=True)
class WholeTable:
    """What became of the rows of a table: refused ones (as in quarantine__rows), and how many were left out and why."""

    refused: pl.DataFrame
    copies: int
    not_sampled: int


def store_whole(
    lake: Lake, asset: str, spec: TableSpec, schema: Schema, is_united: bool, batches: Iterable[pl.DataFrame],
    files: Mapping[str, OpenFile],
) -> WholeTable:  # fmt: skip
    """Write what is kept, in the order of files and rows. `is_united`: one row per key, whatever file it is from."""
    contract = TABLES[asset]
    spool = lake.staging / f"{asset}.parquet"
    spool.parent.mkdir(parents=True, exist_ok=True)
    refused, keys = [TABLES["quarantine__rows"].empty()], []
    with TableWriter(spool, contract.file_layout) as writer:
        for rows in _grouped(batches):
            kept, bad = split(rows, schema)
            refused.append(intake.refusals(bad, spec, files))
            keys.append(_key_columns(kept, spec))
            writer.write(fit(asset, kept).to_arrow())
    found = pl.concat(keys).with_row_index("place")
    counted, conflicts, same = found, found.clear(), found.clear()
    if is_united:
        counted, conflicts, same = resolve_copies(found, spec, ["place"])
        refused.append(intake.refusals(conflicts, spec, files))
    counted, left_out = intake.sampled(counted)
    if counted.height == found.height:
        target = lake.staged_file(asset, "")
        spool.replace(target)
        lake.adopt(asset, "", target, writer.rows)
    else:
        is_kept = pl.Series([False]).new_from_index(0, found.height).scatter(counted["place"], True)
        with lake.replacing(asset, "", contract.file_layout) as writer:
            for table in _row_groups(spool, is_kept.to_arrow()):
                writer.write(table)
        spool.unlink()
    return WholeTable(pl.concat(refused).sort("source_file", "source_rowid"), same.height, left_out.height)


def _grouped(batches: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Several batches together: judging rows costs something each time."""
    waiting: list[pl.DataFrame] = []
    for batch in batches:
        waiting.append(batch)
        if sum(rows.height for rows in waiting) >= GROUP_ROWS:
            yield pl.concat(waiting)
            waiting = []
    if waiting:
        yield pl.concat(waiting)


def _key_columns(rows: pl.DataFrame, spec: TableSpec) -> pl.DataFrame:
    """What decides between two rows of the same key: where they are from, when they are from, and a hash of the rest."""
    said = pl.struct(pl.exclude(*WHERE_FROM, "repairs")).hash().alias("said")
    is_sampled = ["is_sampled"] if "is_sampled" in rows.columns else []
    return rows.select(spec.key, "occurred_at", *WHERE_FROM, said, *is_sampled)


def _row_groups(path: Path, is_kept: pa.Array) -> Iterator[pa.Table]:
    start = 0
    with pq.ParquetFile(path) as file:
        for number in range(file.num_row_groups):
            table = file.read_row_group(number)
            yield table.filter(is_kept.slice(start, table.num_rows))
            start += table.num_rows
