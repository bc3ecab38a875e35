"""How a table lies in a Parquet file."""

from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True)
class FileLayout:
    """Columns of a Parquet file, and what each is worth: a dictionary, statistics, compression (hashes have no pattern)."""

    schema: pa.Schema
    with_dictionary: list[str]
    with_statistics: list[str]
    compression: dict[str, str]
