"""The records of a release with their texts, in the order of their ids, in bounded memory.

Candidates lie by day, as the texts do; records leave by id. An id begins with the hash of the feedback row it came
from, so all records of a row are neighbours: candidates and texts are dropped into buckets by the first digits of that
hash, each text once whatever the number of its records; then each bucket is joined, sorted and leaves.
"""

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from dagster_project.lake import Lake
from dagster_project.training.templates import CONTEXT, RECORDS

BUCKET_RECORDS = 48_000
MOST_BUCKETS = 256
GROUP_ROWS = 50_000
TEXTS = (
    "original_query", "original_response", "conversation_context", "correction", "what_was_wrong", "preferred_response",
)  # fmt: skip
CARRIED = (
    "format", "id", "source", "feedback_id", "partner_id", "prompt_key", "split", "quality_weight", "tier", "domain",
    "error_type", "label",
)  # fmt: skip
IDENTITY = ("id", "source", "origin_ids", "prompt_key", "split", "quality_weight", "tier", "domain")
CANDIDATES, RIVALS, ENTRIES = "core__training_candidates", "core__candidate_rivals", "raw_feedback__entries"
LEAVES = pl.col("early_reason").is_null() & pl.col("late_reason").is_null()


class ExampleSpool:
    """Examples of a release on disk, bucketed by id. Fill it once, then read the buckets in order."""

    def __init__(self, lake: Lake, folder: Path) -> None:
        self.lake, self.folder = lake, folder
        self._buckets = _bucket_count(lake.rows(CANDIDATES))
        self._writers: dict[Path, pa.ipc.RecordBatchStreamWriter] = {}

    def fill(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._spool_candidates()
        pairs = (
            self._scan().filter(LEAVES & pl.col("partner_id").is_not_null())
            .select("id", "partner_id", pl.col("partner_event_date").alias("event_date"))
            .collect(engine="streaming")
        )  # fmt: skip
        for days in _day_groups(self.lake):
            self._spool_texts(days, pairs)
        for writer in self._writers.values():
            writer.close()

    def _scan(self) -> pl.LazyFrame:
        return pl.scan_parquet(self.lake.files(CANDIDATES), hive_partitioning=False)

    def _spool_candidates(self) -> None:
        rivals = pl.read_parquet(self.lake.files(RIVALS), columns=["id"])
        columns = [*CARRIED, "early_reason", "late_reason"]
        for path in self.lake.files(CANDIDATES):
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(GROUP_ROWS, columns=columns):
                    rows = pl.DataFrame(batch).filter(LEAVES)
                    self._spill("examples", rows.join(rivals, on="id", how="anti").select(CARRIED))

    def _spool_texts(self, days: list[date], pairs: pl.DataFrame) -> None:
        """The texts of the rows that have a record, and the answers that are another row's better half of a pair."""
        files = self.lake.files(ENTRIES, [f"event_date={day}" for day in days])
        texts = pl.read_parquet(files, columns=["feedback_id", *TEXTS], hive_partitioning=False)
        needed = (
            self._scan().filter(LEAVES & pl.col("event_date").is_between(min(days), max(days)))
            .select("feedback_id", "id").collect().unique("feedback_id", maintain_order=True)
        )  # fmt: skip
        self._spill("texts", needed.join(texts, on="feedback_id", maintain_order="left"), drop_id=True)
        partners = pairs.filter(pl.col("event_date").is_in(days)).join(
            texts, left_on="partner_id", right_on="feedback_id", maintain_order="left"
        )
        self._spill("partners", partners.select("id", pl.col("original_response").alias("partner_response")))

    def read(self) -> Iterator[tuple[str, pl.DataFrame]]:
        """Per format the examples in ascending order of id, some at a time."""
        for bucket in range(self._buckets):
            examples, texts, partners = (
                self._take(f"{name}.{bucket}.arrow") for name in ("examples", "texts", "partners")
            )
            if examples is None or texts is None:
                continue
            for (format,), mine in examples.partition_by("format", as_dict=True).items():
                rows = mine.sort("id").join(texts, on="feedback_id", how="left", maintain_order="left")
                answers = pl.lit(None, dtype=pl.String).alias("partner_response")
                if format == "preference" and partners is not None:
                    rows = rows.join(partners, on="id", how="left", maintain_order="left")
                else:
                    rows = rows.with_columns(answers)
                origins = pl.concat_list("feedback_id", "partner_id").list.drop_nulls().alias("origin_ids")
                yield str(format), rows.with_columns(origins).select(*RECORDS[str(format)], CONTEXT, *IDENTITY)

    def _take(self, name: str) -> pl.DataFrame | None:
        path = self.folder / name
        if not path.exists():
            return None
        rows = pl.read_ipc_stream(path).rechunk()  # else its many small batches are put together at every join
        path.unlink()
        return rows

    def _spill(self, name: str, rows: pl.DataFrame, drop_id: bool = False) -> None:
        first_digits = pl.col("id").str.head(4).str.to_integer(base=16, dtype=pl.Int64)
        placed = rows.with_columns((first_digits * self._buckets // 65_536).alias("bucket")).sort("bucket")
        table = placed.drop("bucket", *["id"] if drop_id else []).to_arrow()
        start = 0
        for bucket, count in placed["bucket"].rle().struct.unnest().select("value", "len").iter_rows():
            path = self.folder / f"{name}.{bucket}.arrow"
            if path not in self._writers:
                self._writers[path] = pa.ipc.new_stream(str(path), table.schema)
            self._writers[path].write_table(table.slice(start, count))
            start += count


def _bucket_count(candidates: int) -> int:
    """A power of two, from the number of candidates alone."""
    return min(MOST_BUCKETS, 1 << max(0, (candidates - 1) // BUCKET_RECORDS).bit_length())


def _day_groups(lake: Lake) -> Iterator[list[date]]:
    """Neighbouring days, about GROUP_ROWS rows together."""
    group: list[date] = []
    rows = 0
    for partition, stored in lake.partitions(ENTRIES).items():
        group.append(date.fromisoformat(partition.removeprefix("event_date=")))
        rows += stored.rows
        if rows >= GROUP_ROWS:
            yield group
            group, rows = [], 0
    if group:
        yield group
