"""Transcripts of turns, `YYYYMMDD.jsonl`: which lines there are, and the texts of some of them.

A transcript may be larger than memory. It is read in blocks of whole lines; what is kept of it is an index without texts,
and the texts of the lines that turned out to be wanted are read again.
"""

import codecs
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import polars as pl

from dagster_project.columns.instants import epoch_seconds, repair_milliseconds
from dagster_project.columns.json_columns import strings_at
from dagster_project.databases.plain_files import open_plain

BLOCK_BYTES = 2**20  # each costs about 70 times as much memory while it is looked through
MOST_LINE_BYTES = 16 * 2**20  # no message of a user's; such a line counts as one that cannot be read
UNREADABLE = "?"  # stands for a line that is too long or no text: it is no JSON object either
INDEX = {"line": pl.UInt32, "turn_number": pl.Int64, "line_session": pl.String, "line_at": pl.Float64}
TEXTS = {"line": pl.UInt32, "transcript_query": pl.String, "turn_dir": pl.String}


def index_of(path: Path) -> tuple[pl.DataFrame, int]:
    """The lines of a transcript that can be read, as INDEX, and how many cannot."""
    frames, unreadable = [pl.DataFrame(schema=INDEX)], 0
    try:
        for first, lines in _blocks(path):
            found, bad = _indexed(first, lines)
            frames.append(found)
            unreadable += bad
    except OSError:  # a folder, a pipe, or a file we may not read: nothing of it can be read
        return frames[0], 1
    return pl.concat(frames), unreadable


def texts_of(path: Path, wanted: pl.Series) -> pl.DataFrame:
    """The texts of the lines with these numbers, as TEXTS."""
    frames = [pl.DataFrame(schema=TEXTS)]
    try:
        for first, lines in _blocks(path):
            here = wanted.filter(wanted.is_between(first, first + len(lines), closed="left"))
            if len(here):
                said = _filled(strings_at(lines.gather(here - first), ("query", "turn_dir")))
                frames.append(said.rename({"query": "transcript_query"}).insert_column(0, here.alias("line")))
    except OSError:  # gone since its index was made; the next run finds that it changed
        return frames[0]
    return pl.concat(frames)


def _indexed(first: int, lines: pl.Series) -> tuple[pl.DataFrame, int]:
    numbered = lines.alias("text").to_frame().with_row_index("line", offset=first)
    numbered = numbered.filter(pl.col("text").str.strip_chars() != "")
    # a NUL cannot be kept (G5), and DuckDB stumbles over its escape
    is_readable = ~pl.col("text").str.contains_any(["\0", "\\u0000"]) & (
        pl.col("text").str.len_bytes() <= MOST_LINE_BYTES
    )
    readable = numbered.filter(is_readable)
    said = _filled(strings_at(readable["text"], ("turn_number", "session_id", "timestamp")))
    seconds = repair_milliseconds(epoch_seconds(said["timestamp"]).alias("at").to_frame(), ("at",))["at"]
    found = pl.DataFrame(
        [
            readable["line"],
            said["turn_number"].cast(pl.Int64, strict=False),
            said["session_id"].alias("line_session"),
            seconds.alias("line_at"),
        ]
    ).drop_nulls("turn_number")
    return found, numbered.height - found.height


def _filled(said: pl.DataFrame) -> pl.DataFrame:
    """Empty texts are none."""
    return said.with_columns(pl.when(pl.all() != "").then(pl.all()))


def _blocks(path: Path) -> Iterator[tuple[int, pl.Series]]:
    """Blocks of whole lines, each with the number of its first one."""
    number = 0
    with open_plain(path) as file:
        rest = file.read(len(codecs.BOM_UTF8)).removeprefix(codecs.BOM_UTF8)
        while block := file.read(BLOCK_BYTES):
            whole, newline, rest = (rest + block).rpartition(b"\n")
            if newline:
                lines = _lines(whole)
                yield number, lines
                number += len(lines)
            elif len(rest) > MOST_LINE_BYTES:
                rest = UNREADABLE.encode() + _behind_line(file)
        yield number, _lines(rest)


def _behind_line(file: BinaryIO) -> bytes:
    """Skip the rest of a line that nobody wants in memory; what was read behind it, from its end on."""
    while block := file.read(BLOCK_BYTES):
        _, newline, behind = block.partition(b"\n")
        if newline:
            return newline + behind
    return b""


def _lines(block: bytes) -> pl.Series:
    try:
        return pl.Series("line", [block.decode()]).str.split("\n").explode()
    except UnicodeDecodeError:  # only the lines with bad bytes are lost
        return pl.Series("line", [_text_or_mark(line) for line in block.split(b"\n")])


def _text_or_mark(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return UNREADABLE
