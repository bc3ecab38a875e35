"""(a) The floor: stream the table by ADBC, write it once as Parquet, write the records that leave, given their ids.

No rule, no check, no order: the least anybody could do to end up with the same records.
"""

import contextlib
import sys
from pathlib import Path

import adbc_driver_sqlite.dbapi as adbc
import polars as pl
import pyarrow.parquet as pq

COLUMNS = {
    "feedback_id": "''",
    "response_id": "''",
    "session_id": "''",
    "user_id": "''",
    "timestamp": "0.0",
    "response_timestamp": "0.0",
    "feedback_type": "''",
    "rating": "0",
    "correction": "''",
    "correction_type": "''",
    "what_was_wrong": "''",
    "preferred_response": "''",
    "comparison_basis": "''",
    "flag_type": "''",
    "flag_details": "''",
    "original_query": "''",
    "original_response": "''",
    "conversation_context": "''",
    "domain": "''",
    "response_confidence": "0.0",
    "escalated_to_claude": "0",
    "processed": "0",
    "training_format": "''",
    "quality_weight": "0.0",
    "processed_at": "0.0",
    "created_at": "0.0",
}
LONG = (
    "correction",
    "what_was_wrong",
    "preferred_response",
    "original_query",
    "original_response",
    "conversation_context",
)
IDENTITY = ("context", "id", "source", "quality_weight", "tier", "domain", "origin_ids")
BATCH_ROWS = 8192


def copy_table(source: str, target: Path) -> None:
    typed = ", ".join(f"{value} as {name}" for name, value in COLUMNS.items())
    numbers = f"with recursive n(i) as (select 1 union all select i + 1 from n where i < {BATCH_ROWS})"
    with adbc.connect(f"file:{source}?mode=ro") as connection, connection.cursor() as cursor:
        cursor.adbc_statement.set_options(**{"adbc.sqlite.query.batch_rows": str(BATCH_ROWS)})
        cursor.execute(f"{numbers} select {typed} from n union all select {', '.join(COLUMNS)} from feedback")
        reader = cursor.fetch_record_batch()
        next(reader)
        dictionary = [name for name in COLUMNS if name not in LONG]
        with pq.ParquetWriter(
            target, reader.schema, compression="zstd", compression_level=1, use_dictionary=dictionary
        ) as writer:
            for batch in reader:
                writer.write_batch(batch)


def records(format: str, rows: pl.DataFrame) -> pl.DataFrame:
    query, answer = pl.col("original_query"), pl.col("original_response")
    fields = {
        "instruction": (query.alias("instruction"), pl.lit("").alias("input"), answer.alias("output")),
        "correction": (
            pl.format("SAM said: '{}'\n\nWhat was the issue and how should it be corrected?", answer).alias(
                "instruction"
            ),
            query.alias("input"),
            pl.format(
                "The issue was: {}\n\nCorrected answer: {}", pl.col("what_was_wrong"), pl.col("correction")
            ).alias("output"),
            pl.col("error_type"),
        ),
        "preference": (
            query.alias("prompt"),
            pl.coalesce("preferred_response", "correction", "original_response").alias("chosen"),
            answer.alias("rejected"),
        ),
        "unpaired": (query.alias("prompt"), answer.alias("completion"), pl.col("label")),
    }[format]
    return rows.select(*fields, pl.col("conversation_context").alias("context"), *IDENTITY[1:])


def write_records(table: Path, home: Path, folder: Path) -> None:
    texts = (
        "feedback_id",
        "original_query",
        "original_response",
        "conversation_context",
        "correction",
        "what_was_wrong",
        "preferred_response",
    )
    identities = {
        format: pl.read_parquet(
            sorted((home / "lake" / f"train__{format}").rglob("*.parquet")),
            hive_partitioning=False,
            columns=["id", "source", "quality_weight", "tier", "domain", "origin_ids", *extra],
        ).with_columns(pl.col("origin_ids").list.first().alias("feedback_id"))
        for format, extra in (
            ("instruction", ()),
            ("correction", ("error_type",)),
            ("preference", ()),
            ("unpaired", ("label",)),
        )
    }
    with contextlib.ExitStack() as stack:
        lines = {format: stack.enter_context((folder / f"{format}.jsonl").open("wb")) for format in identities}
        writers: dict[str, pq.ParquetWriter] = {}
        for batch in pq.ParquetFile(table).iter_batches(50_000, columns=list(texts)):
            rows = pl.DataFrame(batch)
            for format, identity in identities.items():
                part = records(format, rows.join(identity, on="feedback_id"))
                part.write_ndjson(lines[format])
                arrow = part.to_arrow()
                if format not in writers:
                    short = [
                        name for name in arrow.schema.names if name in ("source", "tier", "domain", "quality_weight")
                    ]
                    writers[format] = stack.enter_context(
                        pq.ParquetWriter(
                            folder / f"{format}.parquet",
                            arrow.schema,
                            compression="zstd",
                            compression_level=1,
                            use_dictionary=short,
                        )
                    )
                writers[format].write_table(arrow)


def main() -> None:
    source, home, folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    folder.mkdir(exist_ok=True)
    copy_table(source, folder / "feedback.parquet")
    write_records(folder / "feedback.parquet", home, folder)


if __name__ == "__main__":
    main()
