"""The files of one format of a release while it is written: a Parquet file and the runs of JSON lines, for each split that has records."""

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from dagster_project.columns.templates import SPLITS
from dagster_project.contracts import TABLES
from dagster_project.engines.stored_tables import CheckedTogether
from dagster_project.lake.lake import Lake
from dagster_project.lake.parquet import TableWriter
from dagster_project.lake.releases import ReleaseName
from dagster_project.training.record_lines import Run


@dataclass(frozen=True)
class Part:
    """The records of one group that go to one file: as a table, and as lines on disk."""

    format: str
    split: str
    table: pa.Table
    lines: Run


class FormatFiles:
    """The `train__` partitions of one format, and the runs of its lines.

    Records carry the name of their release, which is known only when all lines are written: it depends on whether they differ
    from what the day has. `expected` is the name they are written with, `adopt` mends it if it was another.
    """

    def __init__(self, lake: Lake, format: str, expected: ReleaseName) -> None:
        self.lake, self.expected = lake, expected
        self.table = TABLES[f"train__{format}"]
        self.check = CheckedTogether(self.table.name)
        self.runs: dict[str, list[Run]] = {}
        self._files: dict[str, TableWriter] = {}

    def write(self, part: Part) -> None:
        if part.split not in self._files:
            path = self.lake.staged_file(self.table.name, self._partition(part.split))
            self._files[part.split] = TableWriter(path, self.table.file_layout)
        self._files[part.split].write(part.table)
        self.runs.setdefault(part.split, []).append(part.lines)

    def close(self) -> None:
        for file in self._files.values():
            file.__exit__(None)

    def adopt(self, name: ReleaseName) -> None:
        """Take what was written for the day's newest release, under this name."""
        for split in SPLITS:
            if split in self._files:
                file = self._files[split]
                if name != self.expected:
                    self._rename(file.path, name)
                self.lake.adopt(self.table.name, self._partition(split), file.path, file.rows)
            else:
                self.lake.drop(self.table.name, self._partition(split))

    def _partition(self, split: str) -> str:
        return f"{self.expected.partition}/split={split}"

    def _rename(self, path: Path, name: ReleaseName) -> None:
        """The same rows with another `release`, a row group at a time: the bytes are those of a file written with it at once."""
        other = path.with_name(f"{path.name}.renamed")
        with pq.ParquetFile(path) as written, TableWriter(other, self.table.file_layout) as renamed:
            place = written.schema_arrow.get_field_index("release")
            for group in range(written.num_row_groups):
                rows = written.read_row_group(group)
                column = pa.repeat(pa.scalar(str(name), pa.string()), rows.num_rows)
                renamed.write(rows.set_column(place, "release", column))
        other.replace(path)
