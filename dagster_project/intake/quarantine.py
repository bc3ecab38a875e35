"""Which rows are kept, which are refused, and for what (G5, G11): what their schema fails, and what other rows decide."""

from collections.abc import Sequence

import polars as pl

from dagster_project.contracts.checks import READABLE, Schema, failure_cases
from dagster_project.intake.relations import Relation

# Kinds of reasons that say of a value that it could not be read. They stand whatever else its column is blamed for.
UNREADABLE = ("wrong_type", "bad_text", "not_finite")
_KIND = pl.col("reason").str.split(":").list.first()
_COLUMN = pl.col("reason").str.split(":").list.last()


def split(rows: pl.DataFrame, schema: Schema, relations: Sequence[Relation] = ()) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Kept rows and refused ones with all their `reasons`: what could not be read, what checks fail, what relations break.

    A column whose value could not even be read is blamed for that alone: a null put in place of a wrong type is not
    `missing` as well.
    """
    cases = failure_cases(schema, rows)
    judged = pl.concat(
        [cases.filter(pl.col("check") != READABLE).select("index", reason="check"), *_broken(rows, relations)]
    )
    read = rows.drop("problems")
    if cases.is_empty() and judged.is_empty():
        return read, read.clear().with_columns(pl.lit(None, dtype=pl.List(pl.String)).alias("reasons"))
    lists = pl.col("failure_case").str.json_decode(pl.List(pl.String))
    unread = cases.filter(pl.col("check") == READABLE).select("index", reason=lists).explode("reason")
    judged = judged.with_columns(_COLUMN.alias("column"))
    blameless = judged.join(unread.with_columns(_COLUMN.alias("column")), on=["index", "column"], how="semi")
    judged = judged.join(blameless.filter(~_KIND.is_in(UNREADABLE)), on=["index", "reason"], how="anti")
    order = pl.Enum([*(schema.metadata or {})["reasons"], *(relation.reason for relation in relations)])
    reasons = (
        pl.concat([unread, judged.select("index", "reason").sort(pl.col("reason").cast(order))])
        .unique(maintain_order=True)
        .group_by("index", maintain_order=True)
        .agg(pl.col("reason").alias("reasons"))
        .sort("index")
    )
    is_kept = pl.repeat(True, rows.height, dtype=pl.Boolean, eager=True).scatter(reasons["index"], False)
    return read.filter(is_kept), read[reasons["index"]].with_columns(reasons["reasons"])


def _broken(rows: pl.DataFrame, relations: Sequence[Relation]) -> list[pl.DataFrame]:
    """The same of the relations: index and reason of every row that breaks one."""
    found = rows.select(relation.is_broken.fill_null(False).alias(relation.reason) for relation in relations)
    return [
        pl.DataFrame({"index": found[reason].arg_true().cast(pl.Int32)}).with_columns(pl.lit(reason).alias("reason"))
        for reason in found.columns
    ]
