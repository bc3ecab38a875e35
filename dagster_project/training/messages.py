"""A record as a conversation (T7): the turns of its context, the question, and what its format adds in the order a person would
read it. A correction is the question, the answer that was given, what was wrong, the right answer. The answers of pairs and of
rated answers are fields of their own: there the conversation ends with the question.
"""

import polars as pl

from dagster_project.columns.context_turns import parsed
from dagster_project.columns.spaces import SPACES
from dagster_project.columns.transcript_markers import ASSISTANT, USER
from dagster_project.contracts.meaning import TURNS

ASKED_AGAIN = "How should it be corrected?"  # where nobody said what was wrong
HAS_AN_ERROR = "Your answer has an error. What should you have said instead?"
_NOTE = pl.col("what_was_wrong").str.strip_chars(SPACES)
_ANSWERED = ("instruction", "cot")
# What follows the question, per system and format; a format that is not named adds nothing.
OF_FEEDBACK = {
    "instruction": ((ASSISTANT, pl.col("original_response")),),
    "correction": (
        (ASSISTANT, pl.col("original_response")),
        (USER, pl.when(_NOTE != "").then(_NOTE).otherwise(pl.lit(ASKED_AGAIN))),
        (ASSISTANT, pl.col("correction")),
    ),
}
OF_EXAMPLES = {
    **dict.fromkeys(_ANSWERED, ((ASSISTANT, pl.col("claude_response")),)),
    "correction": (
        (ASSISTANT, pl.col("attempt")),
        (USER, pl.lit(HAS_AN_ERROR)),
        (ASSISTANT, pl.col("claude_response")),
    ),
}


def messages(rows: pl.DataFrame, format: str, context: str, question: str, is_distilled: bool) -> pl.Series:
    """Of records of one format and system, with their texts as they leave."""
    turns = [(USER, pl.col(question)), *(OF_EXAMPLES if is_distilled else OF_FEEDBACK).get(format, ())]
    own = pl.concat_list(pl.struct(pl.lit(role).alias("role"), said.alias("content")) for role, said in turns)
    return rows.select(pl.concat_list(_before(rows[context]), own).cast(TURNS).alias("messages")).to_series()


def _before(contexts: pl.Series) -> pl.Series:
    """The turns of contexts, each distinct one read once."""
    given = pl.DataFrame({"context": contexts})
    distinct = given.drop_nulls().unique(maintain_order=True)
    told = distinct.with_columns(parsed(distinct["context"])["turns"])
    joined = given.join(told, on="context", how="left", maintain_order="left")
    return joined["turns"].fill_null([])
