"""What files that are missing now gave before (G13).

Their rows stay as they were: kept ones as the lake has them, refused ones in quarantine. They were judged when they were read
and are not judged again; but they meet the rows of the other files, of which some may be copies of theirs, or count instead
of them (F3). So that a row is there when the one that counted instead is gone, the lake holds beside each table where the
copies of kept rows lie (COPIES), and the valid rows that another one counts instead of (LOST); by day, like the quarantine.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from dagster_project.contracts import TABLES
from dagster_project.contracts.table import Table
from dagster_project.lake import parquet
from dagster_project.lake.lake import NO_DAY, Lake

QUARANTINE, COPIES, LOST = "quarantine__rows", "intake__copies", "intake__lost"
PLACE = ("source_file", "source_rowid")
OF_ITS_OWN = ("repairs", "is_written_back")  # in which copies may differ, as in what the source rewrites (F3)
# What stands in a column that must not be null where there is nothing to put there.
_NOTHING = {pl.String: "", pl.Boolean: False, pl.Int64: 0, pl.Float64: 0.0, pl.List: []}


@dataclass(frozen=True)
class Held:
    """Rows of missing files: valid ones as in the raw table with their `file_order`, refused ones, and how many are neither."""

    live: pl.DataFrame
    refused: pl.DataFrame
    left_over: int = 0  # copies that cannot be told any more, and rows that were not sampled


class HeldRows:
    """What the lake has of the missing files of one raw table. A partition is that of the table; '' where it has none."""

    def __init__(
        self, lake: Lake, asset: str, key: str, missing: Mapping[str, int], rewritten: Sequence[str] = ()
    ) -> None:
        """`missing` are the labels of files with their place in the configured order."""
        self.lake, self.asset, self.key, self.missing = lake, asset, key, missing
        self._is_mine = pl.col("source_file").is_in(list(missing))
        self._contract = TABLES[asset]
        of_their_own = {key, *PLACE, *OF_ITS_OWN, *rewritten}
        words = [word for word in self._contract.layout.split() if word.rstrip("?") in of_their_own]
        self._copies = replace(self._contract, layout=" ".join(words))

    def on(self, partition: str, rows: int) -> Held:
        """What a partition holds of missing files, which had this many rows in it when they were read."""
        kept = self._read(self.asset, partition, self._contract)
        copied = self._whole(self._read(COPIES, self._own(partition), self._copies).filter(self._is_mine), kept)
        lost = self._read(LOST, self._own(partition), self._contract).filter(self._is_mine)
        order = pl.col("source_file").replace_strict(self.missing, return_dtype=pl.Int32).alias("file_order")
        live = pl.concat([kept.filter(self._is_mine), copied, lost]).with_columns(order)
        refused = self._read(QUARANTINE, self._own(partition), TABLES[QUARANTINE]).filter(self._is_mine)
        refused = refused.join(lost, on=PLACE, how="anti")
        return Held(live, refused, rows - live.height - refused.height)

    def store(self, partition: str, copied: pl.DataFrame, lost: pl.DataFrame) -> None:
        """Note the copies of a partition's kept rows, and the valid rows of it that are neither kept nor such copies."""
        self._write(COPIES, partition, copied, self._copies)
        self._write(LOST, partition, lost, self._contract)

    def lose(self, partition: str, lost: pl.DataFrame) -> None:
        """Rows of a partition that were kept, and their copies with them, came to lose to a row of another one."""
        copies = self._read(COPIES, self._own(partition), self._copies)
        before = self._read(LOST, self._own(partition), self._contract)
        every = pl.concat([before, _fitted(lost, self._contract), self._whole(copies, lost)])
        self.store(partition, copies.join(lost, on=self.key, how="anti"), every)

    def _whole(self, copies: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
        """The copies of these rows with all their columns."""
        own = [name for name in copies.columns if name != self.key]
        return _fitted(copies.join(rows.drop(own, strict=False), on=self.key), self._contract)

    def drop(self, partition: str) -> None:
        for table in (COPIES, LOST):
            self.lake.drop(table, self._own(partition))

    def _own(self, partition: str) -> str:
        return f"{self.asset}/{partition or NO_DAY}"

    def _write(self, table: str, partition: str, rows: pl.DataFrame, contract: Table) -> None:
        if rows.is_empty():
            self.lake.drop(table, self._own(partition))
            return
        with self.lake.replacing(table, self._own(partition), contract.file_layout) as writer:
            writer.write(_fitted(rows, contract).sort(self.key, *PLACE).to_arrow())

    def _read(self, table: str, partition: str, contract: Table) -> pl.DataFrame:
        if partition not in self.lake.catalog.tables.get(table, {}):
            return contract.empty()
        return _fitted(parquet.read(self.lake.path(table, partition)), contract)


def _fitted(rows: pl.DataFrame, contract: Table) -> pl.DataFrame:
    """Rows that perhaps an earlier version read, which knew other columns, or before all their columns were made."""
    return rows.select(
        pl.col(name).cast(dtype)
        if name in rows.columns
        else pl.lit(None if contract.columns[name] else _NOTHING.get(dtype.base_type()), dtype=dtype).alias(name)
        for name, dtype in contract.polars_schema.items()
    )
