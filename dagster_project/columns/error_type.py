"""What kind of error a correction corrects (rule F9): from what the user wrote, else from the shape of the correction.

The words come first, because a person who explains what was wrong knows best; what they may say is all in
`error_type_patterns.py`. Other languages than English fall through to the shape.
"""

import polars as pl

from dagster_project.columns.error_type_patterns import DENIAL, PATTERNS

ERROR_TYPES = (
    "incomplete",
    "incorrect",
    "outdated",
    "hallucination",
    "misunderstood",
    "format",
    "tone",
    "code_error",
    "unclear",
    "verbose",
    "other",
)

# What the type of the correction says when the words say nothing. full_replacement is absent: it may mend anything.
BY_CORRECTION_TYPE = {"addition": "incomplete", "clarification": "unclear", "partial_fix": "incorrect"}

# A change in length counts only if it is large both as a ratio and in code points ("Lyon" -> "Paris, France": no).
MUCH_LONGER_RATIO = 2.0
MUCH_SHORTER_RATIO = 0.5
MIN_LENGTH_CHANGE = 80


def _normalised(text: pl.Expr) -> pl.Expr:
    """One spelling for what people write in many ways, so that each pattern is simple."""
    return (
        text.fill_null("")
        .str.to_lowercase()
        .str.replace_all("['’‘`´]", "")
        .str.replace_all(r"[ ]*[^a-z0-9.,;:!? ][^a-z0-9.,;:!?]*|[ ]{2,}", " ")
        .str.replace_all(r"\b(do|does|did|is|was|are|were|could|would|should|has|have|had) not\b", "${1}nt")
        .str.replace_all(r"\bcan ?not\b", "cant")
        .str.replace_all(r"\bwill not\b", "wont")
        .str.replace_all(DENIAL, " ")
        .str.replace_all(r"[ ]{2,}", " ")
        .str.strip_chars(" .,;:!?")
    )


def _by_shape(correction_type: pl.Expr, answer_length: pl.Expr, correction_length: pl.Expr) -> pl.Expr:
    """The error type when the words say nothing: what kind of correction it is, then how much longer or shorter."""
    change = correction_length.cast(pl.Int64) - answer_length.cast(pl.Int64)
    much_longer = (correction_length >= MUCH_LONGER_RATIO * answer_length) & (change >= MIN_LENGTH_CHANGE)
    much_shorter = (correction_length <= MUCH_SHORTER_RATIO * answer_length) & (change <= -MIN_LENGTH_CHANGE)
    by_length = (
        pl.when(much_longer)
        .then(pl.lit("incomplete"))
        # Only a whole new answer says by its brevity that the old one was too long; a fragment is always short.
        .when(much_shorter & (correction_type == "full_replacement"))
        .then(pl.lit("verbose"))
        .otherwise(pl.lit("other"))
    )
    verdict = by_length
    for known_type, error_type_of_it in BY_CORRECTION_TYPE.items():
        verdict = pl.when(correction_type == known_type).then(pl.lit(error_type_of_it)).otherwise(verdict)
    return verdict


def error_type(
    what_was_wrong: pl.Expr, correction_type: pl.Expr, answer_length: pl.Expr, correction_length: pl.Expr
) -> pl.Expr:
    """The error type of each correction (F9), never null.

    `correction_type` is trimmed lower case or null; the lengths are in code points. All inputs may be null.
    """
    evidence = pl.struct(
        text=_normalised(what_was_wrong), by_shape=_by_shape(correction_type, answer_length, correction_length)
    )
    return evidence.map_batches(_by_words, return_dtype=pl.String, is_elementwise=True)


def _by_words(evidence: pl.Series) -> pl.Series:
    """The first pattern that matches decides. What is decided is not asked again: a quarter of asking every text everything."""
    texts, verdicts = evidence.struct.field("text"), evidence.struct.field("by_shape")
    undecided = pl.int_range(len(texts), dtype=pl.UInt32, eager=True)
    for record in PATTERNS:
        matches = texts.str.contains(record.pattern)
        if record.unless:
            matches &= ~texts.str.contains(record.unless)
        # Words that name no error stop the search, but then the shape may still tell.
        if record.error_type != "other" and matches.any():
            verdicts = verdicts.scatter(undecided.filter(matches), record.error_type)
        texts, undecided = texts.filter(~matches), undecided.filter(~matches)
    return verdicts
