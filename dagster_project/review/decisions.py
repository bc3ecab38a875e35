"""What people decided: an append-only log in the state, and the rule for what holds (D8, G12).

A line is one JSON object: example_id, verdict, reviewer, note, decided_at, content_hash, is_blind. The verdict is `approved`,
`rejected`, `undone` (this reviewer takes their verdict back) or `noted` (a note without a verdict; changes nothing).
Appending is one write under a lock, then fsync: a decision is on disk when `append` returns, and reviewers working at the
same time never lose each other's lines. A line cut short by a crash was never confirmed to anyone: it is ignored when read
and removed by the next append. A broken line elsewhere is left alone, left out and named.

What holds: per example, every reviewer has one voice, their latest verdict in the order of the log (not of their clocks)
unless taken back. The majority holds; a tie is `disputed`, which is neither approved nor rejected: nothing leaves for training
until somebody changes their mind or a third person decides. (Of three verdicts the one that most gave holds.) An approval is
of the texts that were seen and lapses when they change; a rejection stays until it is taken back, because an edit must not
bring back what a person refused.

Labels of turns (C7, `gristmill label`) are decided in the same way in a log of their own; there every verdict is of the texts that
were seen, and lapses with them.

The log of reviews says what became of safety flags and correction requests (F12): `settled`, with a note, by whoever took care of
it, and `reopened`. There is nothing to vote on: the latest line about a feedback row holds, whoever wrote it.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from dagster_project.errors import GristmillError
from dagster_project.review.decision_lines import (
    LOG_SCHEMA,
    REVIEWS,
    SETTLING,
    VERDICTS,
    Decision,
    Log,
    is_whole,
    parse_log,
)

__all__ = ["VERDICTS", "Decision", "Decisions"]

CURRENT_COLUMNS = ("example_id", "verdict", "reviewer", "note", "decided_at", "content_hash")


class Decisions:
    """A log of one home."""

    def __init__(self, home: Path, about: Log = REVIEWS) -> None:
        self.about = about
        self.path = home / "state" / about.file
        self._read_at: object = None
        self._log = pl.DataFrame(schema=LOG_SCHEMA)
        self._problems: list[str] = []

    # --- writing -------------------------------------------------------------------------------------------------

    def append(self, *decisions: Decision) -> None:
        """Put decisions at the end of the log, all or none; they are on disk when this returns."""
        if not decisions:
            return
        for decision in decisions:
            if decision.verdict not in self.about.words:
                raise GristmillError(f"a verdict is one of {', '.join(self.about.verdicts)}, not {decision.verdict!r}")
        lines = b"".join(decision.to_line() for decision in decisions)
        try:
            with self._locked_for_append() as file:
                size = _without_torn_line(file, self.about)
                lines = lines if _ends_whole(file, size) else b"\n" + lines
                try:
                    if os.write(file, lines) < len(lines):
                        raise OSError(28, "no space left for it")
                    os.fsync(file)
                except OSError:
                    os.ftruncate(file, size)
                    raise
        except OSError as error:
            raise GristmillError(f"not saved: cannot write {self.path}: {error.strerror or error}") from error

    @contextmanager
    def _locked_for_append(self) -> Iterator[int]:
        is_new = not self.path.exists()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                fcntl.flock(file, fcntl.LOCK_EX)
                # Whoever rewrites the log does so by renaming: then this is no longer the log, and we look again.
                if self.path.exists() and os.path.samestat(os.fstat(file), self.path.stat()):
                    yield file
                    break
            finally:
                os.close(file)
        if is_new:
            folder = os.open(self.path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    # --- reading -------------------------------------------------------------------------------------------------

    def log(self) -> pl.DataFrame:
        """Every valid line about a reviewed item in the order it was written, with its number."""
        self._refresh()
        return self._log.filter(~pl.col("verdict").is_in(SETTLING))

    def settled(self) -> pl.DataFrame:
        """The feedback rows that are settled (F12): feedback_id, reviewer, note, settled_at."""
        self._refresh()
        latest = self._log.filter(pl.col("verdict").is_in(SETTLING)).unique("example_id", keep="last")
        return (
            latest.filter(pl.col("verdict") == "settled")
            .select(feedback_id="example_id", reviewer="reviewer", note="note", settled_at="decided_at")
            .sort("feedback_id")
        )

    def problems(self) -> list[str]:
        """One sentence for each line that had to be left out."""
        self._refresh()
        return self._problems

    def version(self) -> object:
        """Changes when the log does."""
        try:
            seen = self.path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise GristmillError(f"cannot read {self.path}: {error.strerror or error}") from error
        return seen.st_ino, seen.st_size, seen.st_mtime_ns

    def _refresh(self) -> None:
        version = self.version()
        if version == self._read_at:
            return
        try:
            data = b""
            if version is not None:
                with self.path.open("rb") as file:
                    fcntl.flock(file, fcntl.LOCK_SH)
                    data = file.read()
        except OSError as error:
            raise GristmillError(f"cannot read {self.path}: {error.strerror or error}") from error
        self._log, self._problems = parse_log(data, str(self.path), self.about.words)
        self._read_at = version

    def latest_votes(self) -> pl.DataFrame:
        """The voice of every reviewer who has one, per example: lines of the log."""
        latest = self.log().filter(pl.col("verdict") != "noted").unique(["example_id", "reviewer"], keep="last")
        return latest.filter(pl.col("verdict").is_in(self.about.verdicts)).sort("line")

    def current(self, contents: pl.DataFrame | None = None) -> pl.DataFrame:
        """What holds, a row per example that has a verdict: that or `disputed`, and the latest line that says so.

        `contents` (example_id, content_hash) are the texts as they are now; verdicts that lapse do so where they are others. Examples not
        named there keep what they have.
        """
        voices = self.latest_votes()
        if contents is not None:
            now = contents.select("example_id", pl.col("content_hash").alias("hash_now"))
            voices = voices.join(now, on="example_id", how="left", maintain_order="left").filter(
                self._is_still_about("hash_now")
            )
        # of a tie there are several that most gave
        leading = voices.group_by("example_id").agg(pl.col("verdict").mode().alias("leading"))
        held = pl.when(pl.col("leading").list.len() == 1).then(pl.col("leading").list.first())
        return (
            voices.join(leading, on="example_id")
            .with_columns(held.otherwise(pl.lit("disputed")).alias("held"))
            .filter((pl.col("held") == "disputed") | (pl.col("held") == pl.col("verdict")))
            .sort("line")
            .unique("example_id", keep="last")
            .with_columns(pl.col("held").alias("verdict"))
            .select(CURRENT_COLUMNS)
            .sort("example_id")
        )

    def _is_still_about(self, hash_now: str) -> pl.Expr:
        """Whether a voice counts for the texts as they are now."""
        same = pl.col("content_hash") == pl.col(hash_now)
        return ~pl.col("verdict").is_in(self.about.lapsing) | same.fill_null(True)


def _without_torn_line(file: int, about: Log) -> int:
    """Cut off a last line that is not whole; the size that is left. A whole one that lacks only its end stays."""
    size = os.fstat(file).st_size
    if _ends_whole(file, size):
        return size
    data = os.pread(file, size, 0)
    start = data.rfind(b"\n") + 1
    if not is_whole(data[start:], about.words):
        os.ftruncate(file, start)
        return start
    return size


def _ends_whole(file: int, size: int) -> bool:
    return size == 0 or os.pread(file, 1, size - 1) == b"\n"
