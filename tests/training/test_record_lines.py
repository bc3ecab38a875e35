"""Lines are written by day and leave by id (T4): merged on disk, hashed on the way, the same whatever the pieces were."""

import hashlib
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagster_project.training import record_lines
from dagster_project.training.record_lines import RunWriter, WrittenFile, json_lines, merge


def frame(ids: list[str], text: str = "é") -> pl.DataFrame:
    return pl.DataFrame({"prompt": [f"{text} {id}" * (1 + len(id) % 3) for id in ids], "id": ids})


def test_runs_are_merged_by_id(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "lines.0") as first, RunWriter(tmp_path / "lines.1") as second:
        runs = [first.write(frame(["b", "d"])), first.write(frame(["c"])), second.write(frame(["a", "e"]))]
    told = merge(runs, tmp_path / "out.jsonl")
    expected = json_lines(frame(["a", "b", "c", "d", "e"]))
    assert (tmp_path / "out.jsonl").read_bytes() == expected
    assert told == WrittenFile(5, len(expected), hashlib.sha256(expected).hexdigest())


@given(st.sets(st.text("0123456789abcdef", min_size=4, max_size=4)), st.integers(1, 5), st.integers(1, 7))
def test_pieces_do_not_matter(ids: set[str], pieces: int, at_once: int) -> None:
    """G2: neither how many runs there are, nor how many lines are in memory together."""
    whole = sorted(ids)
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as folder:
        patch.setattr(record_lines, "LINES_AT_ONCE", at_once)
        patch.setattr(record_lines, "BLOCK", 16)
        with RunWriter(Path(folder, "lines")) as lines:
            runs = [lines.write(frame(part)) for place in range(pieces) if (part := whole[place::pieces])]
        if runs:
            merge(runs, Path(folder, "out"))
            assert Path(folder, "out").read_bytes() == json_lines(frame(whole))


def test_characters_that_end_a_line_for_some_readers_are_escaped() -> None:
    """T4: in a text or in the id of a row; others are as they are."""
    rows = pl.DataFrame({"prompt": ["a\u2028b", "\u0085\u2029", "é\n"], "origin_ids": [["x\u2029"], ["y"], ["z"]]})
    lines = json_lines(rows)
    assert lines.decode().split("\n") == [
        '{"prompt":"a\\u2028b","origin_ids":["x\\u2029"]}',
        '{"prompt":"\\u0085\\u2029","origin_ids":["y"]}',
        '{"prompt":"é\\n","origin_ids":["z"]}',
        "",
    ]
    assert [json.loads(line) for line in lines.splitlines()] == rows.to_dicts()
    only_an_id = rows.with_columns(pl.lit("plain").alias("prompt"))
    assert json_lines(only_an_id).decode().count("\\u2029") == 1


def test_a_run_that_was_cut_short_is_no_file(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "lines") as lines:
        run = lines.write(frame(["a", "b"]))
    with pytest.raises(OSError, match="shorter than it was written"):
        run.read_into(memoryview(bytearray(10)), run.path.stat().st_size)
