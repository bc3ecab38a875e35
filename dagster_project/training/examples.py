"""The records of a release with their texts, in the order of their ids, in bounded memory.

Candidates lie by day, as the texts do; records leave by id, which is a hash. So the texts are joined day by day and
dropped into buckets by the first digits of the id, on disk; then each bucket is sorted and leaves.
"""

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import polars as pl
import pyarrow as pa

from dagster_project.lake import Lake
from dagster_project.training.templates import CONTEXT, RECORDS

BUCKET_ROWS = 24_000
MOST_BUCKETS = 128
GROUP_ROWS = 50_000
TEXTS = (
    "feedback_id", "original_query", "original_response", "conversation_context", "correction", "what_was_wrong",
    "preferred_response",
)  # fmt: skip
CANDIDATES, RIVALS, ENTRIES = "core__training_candidates", "core__candidate_rivals", "raw_feedback__entries"


class ExampleSpool:
    """Rendered examples of a release, bucketed by id. Fill it once, then read each format in order."""

    def __init__(self, lake: Lake, folder: Path) -> None:
        self.lake, self.folder = lake, folder
        rivals = pl.read_parquet(lake.files(RIVALS), columns=["id"])
        self._candidates = (
            pl.scan_parquet(lake.files(CANDIDATES), hive_partitioning=False)
            .filter(pl.col("early_reason").is_null() & pl.col("late_reason").is_null())
            .join(rivals.lazy(), on="id", how="anti", maintain_order="left")
            .select(
                "format", "id", "source", "feedback_id", "partner_id", "event_date", "partner_event_date", "prompt_key",
                "split", "quality_weight", "tier", "domain", "error_type", "label",
                pl.concat_list("feedback_id", "partner_id").list.drop_nulls().alias("origin_ids"),
            )
        )  # fmt: skip
        counts = self._candidates.group_by("format").len().collect(engine="streaming")
        self.rows: dict[str, int] = dict(counts.iter_rows())
        self._buckets = {format: _bucket_count(rows) for format, rows in self.rows.items()}
        self._writers: dict[Path, pa.ipc.RecordBatchStreamWriter] = {}

    def fill(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        pairs = (
            self._candidates.filter(pl.col("partner_id").is_not_null())
            .select("id", "partner_id", pl.col("partner_event_date").alias("event_date"))
            .collect(engine="streaming")
        )
        for days in _day_groups(self.lake):
            texts = pl.read_parquet(
                self.lake.files(ENTRIES, [f"event_date={day}" for day in days]),
                columns=list(TEXTS),
                hive_partitioning=False,
            )
            mine = self._candidates.filter(pl.col("event_date").is_between(min(days), max(days))).collect()
            examples = mine.join(texts, on="feedback_id", how="left", maintain_order="left")
            for (format,), rows in examples.partition_by("format", as_dict=True).items():
                self._spill(str(format), rows.select(
                    *RECORDS[str(format)], CONTEXT, "id", "source", "origin_ids", "prompt_key", "split",
                    "quality_weight", "tier", "domain", "partner_id",
                ))  # fmt: skip
            partners = pairs.filter(pl.col("event_date").is_in(list(days))).join(
                texts, left_on="partner_id", right_on="feedback_id"
            )
            if partners.height:
                self._spill(
                    "partners",
                    partners.select("id", pl.col("original_response").alias("partner_response")),
                    "preference",
                )
        for writer in self._writers.values():
            writer.close()

    def read(self, format: str) -> Iterator[pl.DataFrame]:
        """The examples of a format in ascending order of id."""
        for bucket in range(self._buckets.get(format, 0)):
            path = self.folder / f"{format}.{bucket}.arrow"
            if not path.exists():
                continue
            rows = pl.read_ipc_stream(path)
            partners = self.folder / f"partners.{bucket}.arrow"
            if format == "preference" and partners.exists():
                rows = rows.join(pl.read_ipc_stream(partners), on="id", how="left").with_columns(
                    pl.coalesce("partner_response", "chosen").alias("chosen")
                )
            path.unlink()
            yield rows.sort("id")

    def _spill(self, name: str, rows: pl.DataFrame, like: str | None = None) -> None:
        buckets = self._buckets[like or name]
        first_digits = pl.col("id").str.head(4).str.to_integer(base=16, dtype=pl.Int64)
        placed = rows.with_columns((first_digits * buckets // 65_536).alias("bucket"))
        for (bucket,), part in placed.partition_by("bucket", as_dict=True, include_key=False).items():
            path = self.folder / f"{name}.{bucket}.arrow"
            table = part.to_arrow()
            if path not in self._writers:
                self._writers[path] = pa.ipc.new_stream(str(path), table.schema)
            self._writers[path].write_table(table)


def _bucket_count(rows: int) -> int:
    """A power of two, from the number of examples alone, so that the same examples give the same files."""
    return min(MOST_BUCKETS, 1 << max(0, (rows - 1) // BUCKET_ROWS).bit_length())


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
