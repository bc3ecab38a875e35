"""The records of a release with their texts, in the order of their ids, in bounded memory.

Candidates lie by day, as the texts do; records leave by id. An id begins with the hash of the feedback row or distilled
example it came from, so all records of one are neighbours: candidates and texts are dropped into buckets by the first digits of that
hash, each text once whatever the number of its records; then each bucket is joined, sorted and leaves.
"""

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from dagster_project.columns.templates import DISTILLATION, FEEDBACK, context
from dagster_project.lake import parquet
from dagster_project.lake.lake import Lake
from dagster_project.systems.distillation.answers import merged

BUCKET_RECORDS = 48_000
MOST_BUCKETS = 256
GROUP_ROWS = 40_000
TEXTS = tuple(
    """
    original_query original_response conversation_context correction what_was_wrong preferred_response
""".split()
)
CARRIED = tuple(
    """
    format id source origin_id partner_id prompt_key split quality_weight base_weight tier domain error_type
    label
""".split()
)
IDENTITY = ("id", "source", "origin_ids", "prompt_key", "split", "quality_weight", "base_weight", "tier", "domain")
PAIR = ("thread_key", "side_a", "side_b")  # what votes are about
EXPLICIT_PAIRS = ("feedback_preference", "feedback_correction_pair")
FROM_FEEDBACK, FROM_DISTILLATION = "core__feedback_candidates", "core__distillation_candidates"
CANDIDATES = (FROM_FEEDBACK, FROM_DISTILLATION)
RIVALS, VOTES, ENTRIES, SOURCES = (
    "core__candidate_rivals",
    "core__pair_votes",
    "raw_feedback__entries",
    "core__distillation_sources",
)
DISTILLED_TEXTS = ("query", "query_context", "sam_attempt", "claude_response")
DAYS_AT_ONCE = 10
NO_PARTNER = pl.lit(None, dtype=pl.String).alias("partner_response")
LEAVES = pl.col("early_reason").is_null() & pl.col("late_reason").is_null()


class ExampleSpool:
    """Examples of a release on disk, bucketed by id. Fill it once, then read the buckets in order."""

    def __init__(self, lake: Lake, folder: Path) -> None:
        self.lake, self.folder = lake, folder
        self._buckets = _bucket_count(sum(lake.rows(table) for table in CANDIDATES))
        self._writers: dict[Path, pa.ipc.RecordBatchStreamWriter] = {}

    def fill(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._spool_candidates()
        pairs = (
            self._scan(FROM_FEEDBACK)
            .filter(LEAVES & pl.col("partner_id").is_not_null())
            .select("id", "partner_id", pl.col("partner_event_date").alias("event_date"))
            .collect(engine="streaming")
        )
        for days in _day_groups(self.lake):
            self._spool_texts(days, pairs)
        self._spool_distilled()
        for writer in self._writers.values():
            writer.close()

    def _scan(self, table: str) -> pl.LazyFrame:
        return parquet.scan(self.lake.files(table))

    def _spool_candidates(self) -> None:
        rivals = parquet.read(self.lake.files(RIVALS), columns=["id"])
        votes = parquet.read(self.lake.files(VOTES)).with_columns(pl.lit("preference").alias("format"))
        is_explicit = pl.col("source").is_in(EXPLICIT_PAIRS)
        counted = [pl.when(is_explicit).then(name).alias(name) for name in ("votes_for", "votes_against")]
        columns = [*CARRIED, *PAIR, "early_reason", "late_reason"]
        for path in [path for table in CANDIDATES for path in self.lake.files(table)]:
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(GROUP_ROWS, columns=columns):
                    rows = pl.DataFrame(batch).filter(LEAVES)
                    leaving = rows.join(rivals, on="id", how="anti").join(votes, on=["format", *PAIR], how="left")
                    self._spill("examples", leaving.select(*CARRIED, *counted))

    def _spool_texts(self, days: list[date], pairs: pl.DataFrame) -> None:
        """The texts of the rows that have a record, and the answers that are another row's better half of a pair."""
        files = self.lake.files(ENTRIES, [f"event_date={day}" for day in days])
        texts = parquet.read(files, columns=["feedback_id", *TEXTS])
        texts = texts.rename({"feedback_id": "origin_id"})
        needed = (
            self._scan(FROM_FEEDBACK)
            .filter(LEAVES & pl.col("event_date").is_between(min(days), max(days)))
            .select("origin_id", "id")
            .collect()
            .unique("origin_id", maintain_order=True)
        )
        self._spill("texts", needed.join(texts, on="origin_id", maintain_order="left"), drop_id=True)
        partners = pairs.filter(pl.col("event_date").is_in(days)).join(
            texts, left_on="partner_id", right_on="origin_id", maintain_order="left"
        )
        self._spill("partners", partners.select("id", pl.col("original_response").alias("partner_response")))

    def _spool_distilled(self) -> None:
        """The texts of the distilled examples that have a record, merged over the generations again."""
        needed = (
            self._scan(FROM_DISTILLATION)
            .filter(LEAVES)
            .select("origin_id", "id", "event_date")
            .collect(engine="streaming")
            .unique("origin_id", maintain_order=True)
        )
        sources = parquet.scan(self.lake.files(SOURCES))
        days = needed["event_date"].unique().sort().to_list()
        for start in range(0, len(days), DAYS_AT_ONCE):
            mine = needed.filter(pl.col("event_date").is_in(days[start : start + DAYS_AT_ONCE]))
            rows = sources.join(mine.lazy().select(example_id="origin_id"), on="example_id", how="semi").collect()
            texts = merged(self.lake, rows, DISTILLED_TEXTS).select(
                pl.col("example_id").alias("origin_id"), "query", "query_context", "claude_response", "attempt"
            )
            self._spill("distilled", mine.drop("event_date").join(texts, on="origin_id"), drop_id=True)

    def read(self) -> Iterator[tuple[str, pl.DataFrame]]:
        """Per format the examples in ascending order of id, some at a time."""
        for bucket in range(self._buckets):
            examples, texts, partners, distilled = (
                self._take(f"{name}.{bucket}.arrow") for name in ("examples", "texts", "partners", "distilled")
            )
            if examples is None:
                continue
            origins = pl.concat_list("origin_id", "partner_id").list.drop_nulls().alias("origin_ids")
            for (format,), mine in examples.with_columns(origins).partition_by("format", as_dict=True).items():
                is_users = pl.col("source").str.starts_with("feedback_")  # ids of the two systems may be the same
                told = []
                if texts is not None and format in FEEDBACK:
                    rows = mine.filter(is_users).join(texts, on="origin_id")
                    rows = (
                        rows.with_columns(NO_PARTNER) if partners is None else rows.join(partners, on="id", how="left")
                    )
                    told.append(rows.select(*FEEDBACK[str(format)], context("conversation_context"), *IDENTITY))
                if distilled is not None and format in DISTILLATION:
                    rows = mine.filter(~is_users).join(distilled, on="origin_id")
                    told.append(rows.select(*DISTILLATION[str(format)], context("query_context"), *IDENTITY))
                yield str(format), pl.concat(told).sort("id")

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
