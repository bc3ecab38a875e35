"""The lines of a release's files: each written once, where its texts are at hand, then put in order of id on the way out (T4).

Records come by day and leave by id, which is a hash, so every line has to move. Lines of one group of days and one file are a
*run*: in order of id, one after the other on disk. A file is its runs merged: of each the next stretch is read, as many lines
together as fit in memory, and they are written and hashed in their order.
"""

import hashlib
import io
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa

LINES_AT_ONCE = 32_768
BLOCK = 1 << 18  # looked through for ends of lines at once, so that it stays in the processor's cache
LINE_ENDS = "\u0085\u2028\u2029"
LF = 10


def json_lines(records: pl.DataFrame) -> bytes:
    """One line a record, for readers, too, that end a line at more characters than LF: those are escaped (T4)."""
    lines = io.BytesIO()
    records.write_ndjson(lines)
    written = lines.getvalue()
    if _has_line_ends(records):
        for character in LINE_ENDS:
            written = written.replace(character.encode(), f"\\u{ord(character):04x}".encode())
    return written


def _has_line_ends(records: pl.DataFrame) -> bool:
    """Hardly ever: and looking at the texts takes a twentieth of replacing in the lines."""
    texts = [pl.col(name) for name, dtype in records.schema.items() if dtype == pl.String]
    lists = [pl.col(name).list.join("") for name, dtype in records.schema.items() if dtype == pl.List(pl.String)]
    found = records.select(text.str.contains(f"[{LINE_ENDS}]").any() for text in [*texts, *lists])
    return any(found.row(0)) if found.width else False


@dataclass(frozen=True)
class Run:
    """Lines of one file in order of id, on disk: the lines, then how long each is, then the ids."""

    path: Path
    start: int
    rows: int
    bytes: int
    id_bytes: int

    def lengths(self) -> "np.ndarray":
        return np.fromfile(self.path, np.int32, self.rows, offset=self.start + self.bytes)

    def ids(self) -> "np.ndarray":
        offset = self.start + self.bytes + 4 * self.rows
        return np.fromfile(self.path, f"S{self.id_bytes}", self.rows, offset=offset)

    def read_into(self, target: memoryview, offset: int) -> None:
        with self.path.open("rb", buffering=0) as file:
            while target:
                count = os.preadv(file.fileno(), [target], self.start + offset)
                if not count:
                    raise OSError(f"{self.path} is shorter than it was written")
                target, offset = target[count:], offset + count


class RunWriter:
    """The runs of one group of days, in one file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> "RunWriter":
        self._file = self.path.open("wb", buffering=0)
        return self

    def __exit__(self, *failure: object) -> None:
        self._file.close()

    def write(self, records: pl.DataFrame) -> Run:
        """The records must be in order of id."""
        return self.write_lines(json_lines(records), records["id"])

    def write_lines(self, lines: bytes, keys: pl.Series) -> Run:
        """One line for each key; they must be in order of it."""
        start = self._file.tell()
        lengths = np.diff(_ends(lines), prepend=0).astype(np.int32)
        ids = np.array(keys.to_list(), "S")
        for part in (lines, lengths.tobytes(), ids.tobytes()):
            _write(self._file, memoryview(part))
        return Run(self.path, start, keys.len(), len(lines), ids.itemsize)


def _write(file: io.RawIOBase, part: memoryview) -> None:
    while part:
        part = part[file.write(part) :]


def _ends(lines: bytes) -> "np.ndarray":
    """Where each line ends."""
    characters = np.frombuffer(lines, np.uint8)
    blocks = (np.flatnonzero(characters[start : start + BLOCK] == LF) + start for start in range(0, len(lines), BLOCK))
    return np.concatenate([np.empty(0, np.int64), *blocks]) + 1


@dataclass(frozen=True)
class WrittenFile:
    """What the manifest says of a file."""

    rows: int
    bytes: int
    sha256: str


def merge(runs: Sequence[Run], path: Path) -> WrittenFile:
    """Write the lines of all runs in order of id, and hash them on the way."""
    digest, size = hashlib.sha256(), 0
    with path.open("wb", buffering=0) as file:
        for lines in _in_order(runs):
            digest.update(lines)
            _write(file, memoryview(lines))
            size += len(lines)
    return WrittenFile(sum(run.rows for run in runs), size, digest.hexdigest())


def _in_order(runs: Sequence[Run]) -> Iterator[memoryview]:
    lengths = np.concatenate([run.lengths() for run in runs])
    order = np.argsort(np.concatenate([run.ids() for run in runs]), kind="stable")
    firsts = np.cumsum([0, *(run.rows for run in runs)])
    read = [0] * len(runs)  # of each run, how far it has been read
    for start in range(0, len(order), LINES_AT_ONCE):
        wanted = order[start : start + LINES_AT_ONCE]
        places = np.sort(wanted)  # a stretch of every run, because runs are in order themselves
        ends = np.cumsum(lengths[places], dtype=np.int64)
        data = memoryview(bytearray(ends[-1]))
        cuts = np.searchsorted(places, firsts)
        for number, run in enumerate(runs):
            first, last = cuts[number], cuts[number + 1]
            if first < last:
                piece = data[ends[first - 1] if first else 0 : ends[last - 1]]
                run.read_into(piece, read[number])
                read[number] += len(piece)
        offsets = np.concatenate([np.zeros(1, np.int64), ends])
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
        lines = pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(places), buffers)
        yield memoryview(lines.take(pa.array(np.searchsorted(places, wanted))).buffers()[2])[: ends[-1]]
