"""How a table becomes a Parquet file."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dagster_project.contracts.layout import FileLayout
from dagster_project.lake.parquet import TableWriter


@given(st.lists(st.integers(0, 40_000), max_size=6))
@example([7, 1_007, 30_000])
@settings(max_examples=10)
def test_the_bytes_of_a_file_do_not_depend_on_the_batches_it_came_in(cuts: list[int]) -> None:
    """G2: nor on the chunks its columns are in, which end a page of the file; two row groups, texts of some length."""
    rows = 40_000
    texts = pa.array([f"{number} " * (number % 50) for number in range(rows)])
    table = pa.table({"number": pa.array(range(rows)), "text": texts, "list": pa.array([[n % 3] for n in range(rows)])})
    layout = FileLayout(table.schema, [], ["number"], {"number": "zstd", "text": "zstd", "list.list.element": "zstd"})
    edges = [0, *sorted(cuts), rows]
    pieces = [table.slice(start, end - start) for start, end in pairwise(edges)]

    def written(batches: Sequence[pa.Table]) -> bytes:
        with TemporaryDirectory() as folder:
            file = Path(folder) / "part-0.parquet"
            with TableWriter(file, layout) as writer:
                for batch in batches:
                    writer.write(batch)
            return file.read_bytes()

    whole = written([table])
    assert written(pieces) == whole
    assert written([pa.concat_tables(pieces)]) == whole
