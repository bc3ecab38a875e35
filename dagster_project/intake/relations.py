"""Refusals that other rows or tables decide. Set logic, beside the schemas, which judge one row at a time (G5).

In every table another row with the same key may count instead: `conflict:<key>` (F3). What else a row must be to other tables, a
system's `schema.py` lists as relations.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from dagster_project.contracts.source_table import TableSpec


@dataclass(frozen=True)
class Relation:
    """A reason, `<kind>:<column>`, and the expression that is true where a row is refused for it."""

    reason: str
    is_broken: pl.Expr


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
    content = [name for name in content_columns(rows, rewritten) if compared is None or name in compared]
    repeated = rows.filter(is_repeated).with_columns(pl.struct(content).hash().alias("content"))
    repeated = repeated.sort("occurred_at", "file_order", "source_rowid", descending=True, nulls_last=True)
    repeated = repeated.with_columns((pl.col("content") == pl.col("content").first().over(key)).alias("is_of_kept"))
    is_first_copy = pl.struct(key, "content").is_first_distinct()
    distinct, copies = repeated.drop("is_of_kept").filter(is_first_copy), repeated.filter(~is_first_copy)
    is_latest = pl.col(key).is_first_distinct()
    kept = pl.concat([rows.filter(~is_repeated), distinct.filter(is_latest).drop("content")])
    return kept, distinct.filter(~is_latest).drop("content").with_columns(conflict), copies.drop("content")


def content_columns(rows: pl.DataFrame, rewritten: Sequence[str]) -> list[str]:
    """The columns in which two rows must agree to be one: all but where they are from and what the source rewrites (F3)."""
    where_from = {"source_file", "source_rowid", "file_order", "repairs", "is_written_back", "filled_from", *rewritten}
    return [name for name in rows.columns if name not in where_from]
