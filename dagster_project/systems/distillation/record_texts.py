"""How valuable a distilled example is (D5), as an expression over its columns; whether it may leave is SQL (D6)."""

import polars as pl

from dagster_project.columns.rounding import divided
from dagster_project.columns.text_keys import SPACES

BASE = 50
MIN_STEPS = 2
MIN_COMPLEXITY = 5
SHORT_ANSWER = 100


def quality_score() -> pl.Expr:
    """Seed 2's `calculate_quality_score`, in 0..1. Never null: what is missing earns nothing.

    Reads step_count, has_sam_errors, principle_count, stored_complexity, claude_response, reasoning_type and
    quality_flags. Added up in whole hundredths, because 0.5 + 0.1 + 0.15 + 0.1 + 0.05 is not 0.9 in floating point.
    """
    parts = (
        (pl.col("step_count") >= MIN_STEPS, 10),
        (pl.col("has_sam_errors"), 15),
        (pl.col("principle_count") >= 1, 10),
        (pl.col("stored_complexity") >= MIN_COMPLEXITY, 5),
        (pl.col("claude_response").fill_null("").str.len_chars() < SHORT_ANSWER, -20),
        (_word(pl.col("reasoning_type")) == "direct", -10),
        (_has_flag("repetition"), -30),
        (_has_flag("incomplete"), -20),
    )
    hundredths = pl.sum_horizontal(BASE, *(applies.fill_null(False).cast(pl.Int64) * worth for applies, worth in parts))
    return divided(hundredths.clip(0, 100), 100.0).alias("quality_score")


def _has_flag(flag: str) -> pl.Expr:
    return pl.col("quality_flags").list.eval(_word(pl.element())).list.contains(pl.lit(flag)).fill_null(False)


def _word(text: pl.Expr) -> pl.Expr:
    """A vocabulary's word as it is compared (G8)."""
    return text.str.strip_chars(SPACES).str.to_lowercase()
