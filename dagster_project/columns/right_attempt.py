"""Whether an attempt that a teacher improved on was right (D7): it must not be told "Your answer has an error".

Two things show it, and only where nobody names an error of the matter: the answer begins by saying so (`AFFIRMED`), or all the
attempt says stands in the answer as well, outside of what the answer quotes. What is merely incomplete, unclear or in a poor
form is better taught as a pair, or by the answer alone.
"""

from typing import NamedTuple

import polars as pl

from dagster_project.columns.json_columns import items_of, json_kinds, kinds_and_texts_at
from dagster_project.columns.spaces import SPACES

# Error types (F9) that leave what was said true.
MERE_WEAKNESSES = ("incomplete", "unclear", "format", "tone", "verbose", "too_short", "too_long", "style", "vague")
NO_ERROR = ("", "none", "no error", "no errors", "n/a", "null", "nothing", "{}", "[]", "correct")
LEAST_WORDS = 4


class Affirmation(NamedTuple):
    """One way to say at the begin of an answer that the attempt is right."""

    pattern: str
    example: str
    counter_example: str


AFFIRMED = (
    Affirmation(
        r"(?i)\A[\s*_#>]*(?:yes[,.!] )?(?:your|sam['’]s|the|that|this) (?:previous |earlier |original )?"
        r"(?:answer|response|attempt|reply|solution|explanation|reasoning|calculation) (?:is|was|looks) "
        r"(?:already |entirely |completely |perfectly |quite |factually )?(?:correct|right|accurate|fine|good)"
        r"(?:[.!:;]|,? and (?:complete|clear|accurate|correct|concise|thorough)\b|,? (?:but|if|though) (?:brief|short|terse|incomplete)\b)",
        "Your answer is correct. To add some background: ...",
        "Your answer is right about the date, but not about the place.",
    ),
    Affirmation(
        r"(?i)\A[\s*_#>]*(?:yes[,.!] )?(?:that['’]s|that is|this is|you['’]re|you are|you were|sam is|sam was) (?:already |entirely "
        r"|completely |perfectly |quite |exactly |absolutely )?(?:correct|right|accurate)[.!:;]",
        "That's right. The mitochondrion makes ATP.",
        "That's right only for integers.",
    ),
    Affirmation(
        r"(?i)\A[\s*_#>]*(?:yes[,.!] )?(?:you|sam)(?:['’]ve| have| has)? (?:got|had|nailed) (?:it|this|that|everything)"
        r"(?: (?:all |exactly |completely )?(?:right|correct))?[.!:;]",
        "You got it right. The capital is Ottawa.",
        "You got it right about the date, but not about the place.",
    ),
    Affirmation(
        r"(?i)\A[\s*_#>]*(?:correct|exactly|exactly right|well done|(?:good|great|excellent|perfect) (?:answer|job|work)|quite right"
        r"|spot on|perfect)[.!]",
        "Correct! One could also say why.",
        "Correct the second line as follows.",
    ),
    Affirmation(
        r"(?i)\A[\s*_#>]*(?:yes, [^.!?\n]{1,80} (?:is|was) (?:correct|right)[.!]|i (?:fully |completely |entirely )?agree with (?:your|this"
        r"|that)"
        r" (?:answer|response|attempt|explanation)[.!:;]|nothing is wrong with|there(?:['’]s| is) (?:nothing wrong|no (?:error|mistake))"
        r" (?:with|in)"
        r"|no (?:corrections?|changes?) (?:is |are )?(?:needed|necessary|required)[.!:;])",
        "There is no error in your answer.",
        "No change is possible after the deadline.",
    ),
)
# What an answer quotes is not what it says.
_QUOTED = (
    r"\"[^\"\n]{1,600}\"|“[^”\n]{1,600}”|«[^»\n]{1,600}»|„[^“\n]{1,600}“|(?m:^\s*>.*$)"
    r"|(?i)[^.!?\n]*\b(?:you|sam|attempt|answer|response) (?:said|says|stated|states|claimed|claims|wrote|writes)\b[^\n]*"
    r"|[^.!?\n]*\b(?:mistake|myth|misconception|wrong|incorrect|not true|false)\b[^.!?\n]*"
)


def is_right_attempt(attempts: pl.Series, answers: pl.Series, corrections: pl.Series) -> pl.Series:
    """Per example whether its attempt was right; false without one. `corrections` is JSON with `sam_errors`, or null."""
    has_word = attempts.str.strip_chars(SPACES).fill_null("") != ""
    affirmed = answers.str.contains("|".join(way.pattern for way in AFFIRMED)).fill_null(False)
    named = _named(corrections)
    says_none = (named["errors"] > 0) & (named["said"] == 0)
    return has_word & (named["of_matter"] == 0) & (affirmed | says_none | _is_contained(attempts, answers))


def _is_contained(attempts: pl.Series, answers: pl.Series) -> pl.Series:
    forms = pl.select(attempt=_words(attempts), answer=_words(answers.str.replace_all(_QUOTED, " ")))
    is_long = pl.col("attempt").str.count_matches(" ", literal=True) > LEAST_WORDS
    contained = is_long & pl.col("answer").str.contains(pl.col("attempt"), literal=True)
    return forms.select(contained.fill_null(False)).to_series()


def _words(texts: pl.Series) -> pl.Series:
    """Letters and digits in lower case, one space around each word."""
    words = texts.str.to_lowercase().str.replace_all(r"[^\p{L}\p{N}\p{M}]+", " ").str.strip_chars(" ")
    return pl.select(pl.format(" {} ", words)).to_series()


def _named(corrections: pl.Series) -> pl.DataFrame:
    """How many `errors` are named, how many of them have `said` something, how many are `of_matter`."""
    rows = pl.DataFrame({"row": pl.int_range(len(corrections), dtype=pl.UInt32, eager=True), "text": corrections})
    kinds = json_kinds(rows.select("text"))["text"]
    objects = rows.filter((kinds == "OBJECT").fill_null(False)).with_row_index("place")
    if objects.is_empty():
        return rows.select(pl.lit(0).alias(name) for name in ("errors", "said", "of_matter"))
    items = items_of(objects["text"], ["sam_errors"]).rename({"row": "place"})
    found = kinds_and_texts_at(items["item"], ["$", "$.error_type"])
    whole = found["texts"].list.get(0).fill_null("").str.strip_chars(SPACES).str.to_lowercase()
    kind = found["texts"].list.get(1).str.strip_chars(SPACES).str.to_lowercase()
    # an object without the list is no list of errors: an empty one has none, any other may mean an error
    is_whole = items["item"].str.contains('"sam_errors"', literal=True)
    says = ~whole.is_in(NO_ERROR) & ~kind.is_in(NO_ERROR).fill_null(False)
    has_list = ~is_whole & (items["item"] != "{}")
    told = items.select("place").with_columns(
        errors=has_list | is_whole, said=says, of_matter=says & ~kind.is_in(MERE_WEAKNESSES).fill_null(False)
    )
    counted = told.group_by("place").agg(pl.col("errors", "said", "of_matter").sum())
    joined = objects.select("place", "row").join(counted, on="place").drop("place")
    return (
        rows.join(joined, on="row", how="left", maintain_order="left")
        .select("errors", "said", "of_matter")
        .fill_null(0)
    )
