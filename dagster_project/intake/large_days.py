"""A day too large for memory, sorted out in pieces: the same rows, in the same files, byte for byte.

Each piece is judged, put in the order of its keys and written to disk as a run. What needs the whole day, which row of a key
counts and the order of all keys, is found over narrow columns: the key, when, where from, and a hash of the rest. Then the
day is read back from the runs in that order, a stretch at a time, and written.
"""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import polars as pl
import pyarrow as pa

from dagster_project.columns.own_memory import of_its_own
from dagster_project.contracts.source_table import TableSpec
from dagster_project.engines.stored_tables import WrittenFile, fit, writer
from dagster_project.engines.workers import in_order
from dagster_project.intake.day_buffer import PIECE_ROWS, LargeDay
from dagster_project.intake.day_reading import DatedTable, JudgedDays, lost_rows, sampled
from dagster_project.intake.quarantine import split
from dagster_project.intake.relations import content_columns, resolve_copies
from dagster_project.lake.lake import Lake

RUN_BATCH_ROWS = 1_024  # of a run that are read at once: a stretch of the day needs a few of each run
SAID = "content_said"

Make = Callable[[pl.DataFrame], pl.DataFrame]


@dataclass(frozen=True)
class Piece:
    """A judged piece: its kept rows on disk in the order of their keys, what is narrow of them, and its refused rows."""

    path: Path
    narrow: pl.DataFrame
    refused: pl.DataFrame


def settle(
    lake: Lake,
    table: DatedTable,
    large: LargeDay,
    made: Mapping[str, Make],
    folder: Path,
    workers: int,
    check: Callable[[], None],
) -> tuple[JudgedDays, int, list[WrittenFile]]:
    """The day but for its kept rows, how many those are, and the files they are in."""
    spec = table.spec
    folder.mkdir(parents=True, exist_ok=True)

    def judge(numbered: tuple[int, pl.DataFrame]) -> Piece:
        number, rows = numbered
        return _judged(table, rows, number, folder / f"{large.day}.run{number}.arrow")

    runs = list(in_order(judge, enumerate(large.pieces()), workers, check))
    narrow = pl.concat([run.narrow for run in runs])
    kept, conflicts, copies = resolve_copies(narrow, spec, (), [SAID])
    kept, left_out = sampled(kept)
    kept = kept.sort(spec.key).select("run", "place")
    lost = lost_rows(conflicts, copies)
    files = _write(lake, runs, kept, made, large.day, workers, check)
    group = JudgedDays(
        kept=pl.DataFrame(),
        refused=[pl.concat([run.refused for run in runs]), _whole(runs, conflicts).with_columns(conflicts["reasons"])],
        copies={large.day: copies.height} if copies.height else {},
        days=[large.day],
        not_sampled={large.day: left_out.height} if left_out.height else {},
        copied=_whole(runs, copies.filter("is_of_kept")).rename(table.stored_as, strict=False),
        lost=_whole(runs, lost).rename(table.stored_as, strict=False),
    )
    for run in runs:
        run.path.unlink()
    return group, kept.height, files


def _judged(table: DatedTable, rows: pl.DataFrame, number: int, path: Path) -> Piece:
    spec = table.spec
    kept, refused = split(rows, table.schema, table.relations)
    kept = kept.sort(spec.key)
    narrow = kept.select(
        *dict.fromkeys((spec.key, "occurred_at", "file_order", "source_rowid", "event_date")),
        *(["is_sampled"] if "is_sampled" in kept.columns else []),
        pl.struct(content_columns(kept, table.rewritten)).hash().alias(SAID),
        pl.lit(number, dtype=pl.Int32).alias("run"),
        pl.int_range(pl.len(), dtype=pl.Int32).alias("place"),
    )
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, (told := kept.to_arrow()).schema) as run:
        run.write_table(told, max_chunksize=RUN_BATCH_ROWS)
    return Piece(path, of_its_own(narrow), of_its_own(refused.select(_told_of_refused(spec))))


def _told_of_refused(spec: TableSpec) -> list[str]:
    """All that is needed of a refused row: the source still has the rest."""
    return list(dict.fromkeys((spec.key, "source_rowid", "source_file", "event_date", "reasons")))


def _write(
    lake: Lake,
    runs: list[Piece],
    kept: pl.DataFrame,
    made: Mapping[str, Make],
    day: date,
    workers: int,
    check: Callable[[], None],
) -> list[WrittenFile]:
    """The day's file of each table, if it has any row, a stretch of its rows at a time."""
    if kept.is_empty():
        return []

    def stretch(places: pl.DataFrame) -> dict[str, pa.Table]:
        rows = _whole(runs, places).drop("file_order")
        return {name: fit(name, make(rows)).to_arrow() for name, make in made.items()}

    partition = f"event_date={day}"
    with ExitStack() as stack:
        writers = {name: stack.enter_context(writer(lake, name, partition)) for name in made}
        for tables in in_order(stretch, kept.iter_slices(PIECE_ROWS), workers, check):
            for name, rows in tables.items():
                writers[name].write(rows)
    return [WrittenFile(name, partition, file.path, file.rows) for name, file in writers.items()]


def _whole(runs: list[Piece], wanted: pl.DataFrame) -> pl.DataFrame:
    """The rows at these places, with all their columns, in this order."""
    numbered = wanted.select("run", "place").with_row_index("position").sort("run", "place")
    parts = [
        _at(runs[run].path, mine["place"])
        for (run,), mine in numbered.partition_by("run", as_dict=True, maintain_order=True).items()
    ]
    if not parts:
        return _at(runs[0].path, pl.Series([], dtype=pl.Int32))
    return pl.concat(parts)[numbered["position"].arg_sort()]


def _at(path: Path, places: pl.Series) -> pl.DataFrame:
    """Rows of a run at ascending places; reads only the batches they are in."""
    numbers = (places // RUN_BATCH_ROWS).unique().sort()
    with pa.OSFile(str(path)) as file, pa.ipc.open_file(file) as run:
        rows = pl.from_arrow(pa.Table.from_batches([run.get_batch(n) for n in numbers.to_list()], schema=run.schema))
    assert isinstance(rows, pl.DataFrame)
    return rows[
        numbers.search_sorted(places // RUN_BATCH_ROWS).cast(pl.Int64) * RUN_BATCH_ROWS + places % RUN_BATCH_ROWS
    ]
