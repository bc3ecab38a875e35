"""Refusals that other rows or tables decide. Set logic, beside the schemas, which judge one row at a time (G5).

conflict:<key>        in every table: another row with this key counts instead (F3)
orphan:response_id    feedback on a response the source does not know (F1)
orphan:session_id     feedback on no session at all (S1)
mismatch:tenant_id    feedback by another tenant than its session's (S1)
"""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from dagster_project.contracts.source_table import TableSpec

ORPHAN_RESPONSE, ORPHAN_SESSION, OTHER_TENANT = "orphan:response_id", "orphan:session_id", "mismatch:tenant_id"


@dataclass(frozen=True)
class Relation:
    """A reason, `<kind>:<column>`, and the expression that is true where a row is refused for it."""

    reason: str
    is_broken: pl.Expr


def to_responses(known: pl.Series | None) -> list[Relation]:
    """Feedback to the ids of the `responses` table; null where there is no such table."""
    if known is None:
        return []
    is_told = pl.col("response_id").is_not_null() & (pl.col("response_id") != "")
    return [Relation(ORPHAN_RESPONSE, is_told & ~pl.col("response_id").is_in(known.implode()))]


# A session's feedback to the session: whether it is known, whose it is, and whether a sample would have it (S7).
TO_SESSIONS = (
    Relation(ORPHAN_SESSION, (pl.col("session_id") != "") & ~pl.col("is_known") & pl.col("is_in_sample")),
    Relation(OTHER_TENANT, (pl.col("tenant_id") != "") & (pl.col("tenant_id") != pl.col("session_tenant_id"))),
)


def resolve_copies(
    rows: pl.DataFrame, spec: TableSpec, rewritten: Sequence[str], compared: Sequence[str] | None = None
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Kept rows, conflicting ones (with `reasons`), exact copies (`is_of_kept`: of a row that is kept): one row per key (F3).

    Rows that agree in everything the source does not rewrite are one. Else the latest counts, then the later file.
    Rows just read and rows of the lake (G13) are compared in what both have, `compared`.
    """
    key = spec.key
    conflict = pl.lit([spec.conflict], dtype=pl.List(pl.String)).alias("reasons")
    is_repeated = rows[key].is_duplicated()
    if not is_repeated.any():
        none = rows.clear()
        return rows, none.with_columns(conflict), none.with_columns(pl.lit(None, dtype=pl.Boolean).alias("is_of_kept"))
    where_from = {
        "source_file",
        "source_rowid",
        "file_order",
        "repairs",
        "is_written_back",
        "filled_from",
        *rewritten,
    }
    content = [name for name in rows.columns if name not in where_from and (compared is None or name in compared)]
    repeated = rows.filter(is_repeated).with_columns(pl.struct(content).hash().alias("content"))
    repeated = repeated.sort("occurred_at", "file_order", "source_rowid", descending=True, nulls_last=True)
    repeated = repeated.with_columns((pl.col("content") == pl.col("content").first().over(key)).alias("is_of_kept"))
    is_first_copy = pl.struct(key, "content").is_first_distinct()
    distinct, copies = repeated.drop("is_of_kept").filter(is_first_copy), repeated.filter(~is_first_copy)
    is_latest = pl.col(key).is_first_distinct()
    kept = pl.concat([rows.filter(~is_repeated), distinct.filter(is_latest).drop("content")])
    return kept, distinct.filter(~is_latest).drop("content").with_columns(conflict), copies.drop("content")
