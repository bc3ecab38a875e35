"""Transcripts are read in blocks of whole lines: what is read does not depend on where a block ends."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dagster_project.systems.conversations import transcripts

GOOD = json.dumps({"turn_number": 7, "session_id": "s", "query": "ü?", "turn_dir": "turn_7", "timestamp": 5}).encode()
LINES = st.lists(st.sampled_from([GOOD, b"", b"  ", b"broken", b"[1]", b'{"turn_number": 1, "query": "\xff"}', b"\0"]))


def read(data: bytes, block_bytes: int, most_bytes: int = 2**20) -> tuple[list[int], int, list[str | None]]:
    """The numbers of the lines that can be read, how many cannot, and the queries."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(transcripts, "BLOCK_BYTES", block_bytes)
        patch.setattr(transcripts, "MOST_LINE_BYTES", most_bytes)
        path = Path(folder) / "20260110.jsonl"
        path.write_bytes(data)
        index, unreadable = transcripts.index_of(path)
        texts = transcripts.texts_of(path, index["line"])
    assert texts["line"].to_list() == index["line"].to_list()
    return index["line"].to_list(), unreadable, texts["transcript_query"].to_list()


@given(
    lines=LINES, block_bytes=st.integers(1, 300), ends=st.sampled_from([b"", b"\n", b"\r\n"]), has_mark=st.booleans()
)
@example(lines=[GOOD], block_bytes=1, ends=b"", has_mark=True)
@example(lines=[], block_bytes=1, ends=b"", has_mark=False)
def test_blocks_of_any_size_give_the_same(
    lines: Sequence[bytes], block_bytes: int, ends: bytes, has_mark: bool
) -> None:
    data = (b"\xef\xbb\xbf" if has_mark else b"") + b"\n".join(lines) + ends
    good = [number for number, line in enumerate(lines) if line == GOOD]
    bad = len([line for line in lines if line.strip() and line != GOOD])
    assert read(data, block_bytes) == (good, bad, ["ü?"] * len(good))


@given(
    lengths=st.lists(st.integers(0, 400), max_size=6), block_bytes=st.integers(1, 300), most_bytes=st.integers(110, 300)
)
@example(lengths=[400], block_bytes=7, most_bytes=110)
def test_a_line_of_enormous_length_is_one_that_cannot_be_read(
    lengths: list[int], block_bytes: int, most_bytes: int
) -> None:
    """It never is in memory as a whole, and the lines around it are read."""
    lines = [GOOD[:-1] + b" " * length + b"}" for length in lengths]
    good = [number for number, line in enumerate(lines) if len(line) <= most_bytes]
    expected = good, len(lines) - len(good), ["ü?"] * len(good)
    assert read(b"\n".join(lines), block_bytes, most_bytes) == expected


def test_a_pipe_is_one_line_that_cannot_be_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "20260110.jsonl")
    index, unreadable = transcripts.index_of(tmp_path / "20260110.jsonl")
    assert (index.height, unreadable) == (0, 1)
    assert transcripts.texts_of(tmp_path / "20260110.jsonl", pl.Series([0], dtype=pl.UInt32)).is_empty()
