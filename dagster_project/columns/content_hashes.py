"""What a reviewed example says, as one short hash: a verdict holds as long as it is the same."""

import polars as pl
import polars_hash

CONTENT_HASH_DIGITS = 16


def content_hashes(rows: pl.DataFrame) -> pl.DataFrame:
    """`example_id` and `content_hash` of rows with id, query, answer and attempt: what a run compares verdicts with."""
    digests = rows.select(polars_hash.col(name).chash.sha2_256() for name in ("query", "answer", "attempt"))
    told = digests.select(pl.concat_str("query", "answer", "attempt", ignore_nulls=True).alias("told"))
    hashes = told.select(polars_hash.col("told").chash.sha2_256().str.head(CONTENT_HASH_DIGITS).alias("content_hash"))
    return rows.select(pl.col("id").alias("example_id")).hstack(hashes)
