"""A Parquet file of an export: a row group for each of the release's, so that equal rows give equal bytes."""

import hashlib
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq

from dagster_project.training.record_lines import WrittenFile


class ParquetFile:
    """Opened with the first rows, whose columns it takes."""

    def __init__(self, path: Path) -> None:
        self.path, self.rows = path, 0
        self._writer: pq.ParquetWriter | None = None

    def __enter__(self) -> "ParquetFile":
        return self

    def write(self, rows: pl.DataFrame) -> None:
        table = rows.to_arrow(compat_level=pl.CompatLevel.oldest())  # a string view is not yet read by every reader
        if self._writer is None:
            self._writer = pq.ParquetWriter(self.path, table.schema, compression="zstd", compression_level=1)
        self._writer.write_table(table)
        self.rows += rows.height

    def __exit__(self, *failure: object) -> None:
        if self._writer is not None:
            self._writer.close()

    def written(self) -> WrittenFile:
        with self.path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return WrittenFile(self.rows, self.path.stat().st_size, digest)
