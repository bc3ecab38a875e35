"""How valuable a distilled example is (D5) and whether it may leave for training (D6): expressions over its columns."""

import polars as pl

from dagster_project.signals.text_keys import SPACES

BASE = 50
MIN_STEPS = 2
MIN_COMPLEXITY = 5
SHORT_ANSWER = 100
# A pending example with one of these waits for a person, whatever its score.
BLOCKING_FLAGS = ("repetition", "incomplete", "refusal")


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
    # Polars divides by a constant by multiplying with its reciprocal (35 / 100 is 0.35000000000000003); rounding mends it.
    return (hundredths.clip(0, 100) / 100).round(6).alias("quality_score")


def is_ready(min_score: float, auto_ready: bool) -> pl.Expr:
    """Whether a person approved it, or nobody judged it and, if that is allowed, its score and flags speak for it (D6).

    Reads review_status (after our own decisions; a machine's review is pending), quality_score and quality_flags.
    """
    status = _word(pl.col("review_status"))
    speaks_for_itself = (
        pl.lit(auto_ready)
        & (status == "pending")
        & (pl.col("quality_score") >= round(min_score, 6))
        & ~pl.any_horizontal(_has_flag(flag) for flag in BLOCKING_FLAGS)
    )
    return ((status == "approved") | speaks_for_itself).fill_null(False).alias("is_ready")


def _has_flag(flag: str) -> pl.Expr:
    return pl.col("quality_flags").list.eval(_word(pl.element())).list.contains(pl.lit(flag)).fill_null(False)


def _word(text: pl.Expr) -> pl.Expr:
    """A vocabulary's word as it is compared (G8)."""
    return text.str.strip_chars(SPACES).str.to_lowercase()
