"""Parquet files: read by their exact names, wherever a home lies, and written so that equal rows give equal bytes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from dagster_project.contracts.layout import FileLayout

ROW_GROUP_ROWS = 32_768

Files = Path | Sequence[Path]


def scan(files: Files, **options: Any) -> pl.LazyFrame:
    """No path is taken for a pattern, no folder becomes a column."""
    return pl.scan_parquet(files, glob=False, hive_partitioning=False, **options)  # pyright: ignore[reportArgumentType]


def read(files: Files, columns: Sequence[str] | None = None) -> pl.DataFrame:
    names = None if columns is None else list(columns)
    return pl.read_parquet(files, columns=names, glob=False, hive_partitioning=False)  # pyright: ignore[reportArgumentType]


def as_pattern(path: Path) -> str:
    """A path for DuckDB's readers, which take every path for a pattern: this one matches itself and nothing else."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in str(path))


class TableWriter:
    """Writes Arrow tables to one Parquet file in row groups of a fixed size, so bytes do not depend on batching."""

    def __init__(self, path: Path, layout: FileLayout) -> None:
        self.path, self.schema = path, layout.schema
        self.rows = 0
        self._waiting: list[pa.Table] = []
        self._waiting_rows = 0
        self._writer = pq.ParquetWriter(
            path,
            layout.schema,
            compression=layout.compression,  # pyright: ignore[reportArgumentType]
            compression_level={path: 1 for path, codec in layout.compression.items() if codec == "zstd"},
            use_dictionary=layout.with_dictionary,  # pyright: ignore[reportArgumentType]
            write_statistics=layout.with_statistics,  # pyright: ignore[reportArgumentType]
        )

    def __enter__(self) -> "TableWriter":
        return self

    def write(self, table: pa.Table) -> None:
        self._waiting.append(table.cast(self.schema) if table.schema != self.schema else table)
        self._waiting_rows += table.num_rows
        self.rows += table.num_rows
        if self._waiting_rows >= ROW_GROUP_ROWS:
            self._flush(keep=self._waiting_rows % ROW_GROUP_ROWS)

    def _flush(self, keep: int = 0) -> None:
        if not self._waiting_rows:
            return
        table = pa.concat_tables(self._waiting)
        whole = table.num_rows - keep
        for start in range(0, whole, ROW_GROUP_ROWS):
            # in one piece: where a column's pages end depends on where its chunks do
            group = table.slice(start, min(ROW_GROUP_ROWS, whole - start)).combine_chunks()
            self._writer.write_table(group, row_group_size=ROW_GROUP_ROWS)
        self._waiting = [table.slice(whole)] if keep else []
        self._waiting_rows = keep

    def __exit__(self, *failure: object) -> None:
        if failure[0] is None:
            self._flush()
        self._writer.close()
