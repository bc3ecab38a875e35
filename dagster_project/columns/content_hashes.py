"""What a reviewer sees of an example, and that as one short hash: a verdict holds as long as it is the same.

Reviewers see every kind of secret and personal data masked, whatever leaves (T8), so that a verdict does not depend on settings.
"""

import polars as pl
import polars_hash

from dagster_project.columns.masked_conversations import masked_for_people

JUDGED = ("query", "attempt", "answer")
CONTENT_HASH_DIGITS = 16


def shown(rows: pl.DataFrame, *texts: str) -> pl.DataFrame:
    """Rows with these texts as people see them. What is judged comes first: its numbers do not depend on the rest."""
    return masked_for_people(rows, texts)


def content_hashes(rows: pl.DataFrame) -> pl.DataFrame:
    """`example_id` and `content_hash` of rows with id, query, answer and attempt: what a run compares verdicts with."""
    digests = shown(rows, *JUDGED).select(
        polars_hash.col(name).chash.sha2_256() for name in ("query", "answer", "attempt")
    )
    told = digests.select(pl.concat_str("query", "answer", "attempt", ignore_nulls=True).alias("told"))
    hashes = told.select(polars_hash.col("told").chash.sha2_256().str.head(CONTENT_HASH_DIGITS).alias("content_hash"))
    return rows.select(pl.col("id").alias("example_id")).hstack(hashes)
