"""How valuable a distilled example is (D5), as an expression over its columns; whether it may leave is SQL (D6)."""

from dataclasses import dataclass

import polars as pl

from dagster_project.columns.rounding import divided
from dagster_project.columns.words import word

BASE = 50
MIN_STEPS = 2
MIN_COMPLEXITY = 5
SHORT_ANSWER = 100


@dataclass(frozen=True)
class Factor:
    """Something that makes an example better or worse, in hundredths of the score."""

    name: str  # for people
    worth: int
    applies: pl.Expr


def _has_flag(flag: str) -> pl.Expr:
    return pl.col("quality_flags").list.eval(word(pl.element())).list.contains(pl.lit(flag)).fill_null(False)


FACTORS = (  # seed 2's, in its order
    Factor(f"{MIN_STEPS} or more reasoning steps", 10, pl.col("step_count") >= MIN_STEPS),
    Factor("names SAM's errors", 15, pl.col("has_sam_errors")),
    Factor("has principles", 10, pl.col("principle_count") >= 1),
    Factor(f"stored complexity {MIN_COMPLEXITY} or more", 5, pl.col("stored_complexity") >= MIN_COMPLEXITY),
    Factor(
        f"answer under {SHORT_ANSWER} characters",
        -20,
        pl.col("claude_response").fill_null("").str.len_chars() < SHORT_ANSWER,
    ),
    Factor("direct answer", -10, word("reasoning_type") == "direct"),
    Factor("repetition", -30, _has_flag("repetition")),
    Factor("incomplete", -20, _has_flag("incomplete")),
)


def quality_score() -> pl.Expr:
    """Seed 2's `calculate_quality_score`, in 0..1. Never null: what is missing earns nothing.

    Reads step_count, has_sam_errors, principle_count, stored_complexity, claude_response, reasoning_type and
    quality_flags. Added up in whole hundredths, because 0.5 + 0.1 + 0.15 + 0.1 + 0.05 is not 0.9 in floating point.
    """
    parts = (factor.applies.fill_null(False).cast(pl.Int64) * factor.worth for factor in FACTORS)
    return divided(pl.sum_horizontal(BASE, *parts).clip(0, 100), 100.0).alias("quality_score")
