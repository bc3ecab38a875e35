"""Named row rules: which rows are kept, which are refused, and for what (G5, G11). Nothing is dropped in silence."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True)
class Rule:
    """A reason, `<kind>:<column>`, and the expression that is true where a row must be refused for it."""

    reason: str
    violated: pl.Expr


def split(rows: pl.DataFrame, rules: Sequence[Rule]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Kept rows and refused ones with all their `reasons`.

    A column whose value could not even be read (`problems`) is blamed for that alone: a null put in place of a wrong
    type is not `missing` as well.
    """
    marked = rows.with_columns(rule.violated.fill_null(False).alias(rule.reason) for rule in rules)
    names = [rule.reason for rule in rules]
    is_refused = (pl.col("problems").list.len() > 0) | pl.any_horizontal(names)
    kept = marked.filter(~is_refused).drop(*names, "problems")
    refused = marked.filter(is_refused)
    if refused.is_empty():
        return kept, refused.with_columns(pl.col("problems").alias("reasons")).drop(*names, "problems")
    unreadable = pl.col("problems").list.eval(pl.element().str.split(":").list.last())
    found = [
        pl.when(pl.col(rule.reason) & ~unreadable.list.contains(rule.reason.split(":")[1])).then(pl.lit(rule.reason))
        for rule in rules
    ]
    reasons = pl.concat_list("problems", *found).list.drop_nulls().list.unique(maintain_order=True)
    return kept, refused.with_columns(reasons.alias("reasons")).drop(*names, "problems")
