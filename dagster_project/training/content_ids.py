"""`content_id`: what a record says, as one short hash; it stays when another row becomes the survivor of the same record (T4).

The first 16 hex digits of the SHA-256 over the format and what T2 compares: prompt and context as G10 compares prompts, answers as
it compares answers. The texts must have been masked without numbers before (T8), so that an address changes nothing.
"""

import polars as pl
import polars_hash

from dagster_project.columns.text_keys import ANY_SPACE, normal_answers, normal_prompts
from dagster_project.contracts.formats import TRAINING_FORMATS

DIGITS = 16
# Space around the answer that an instruction quotes is none of its own.
_QUOTED = (
    r"(?s)\A(SAM said: ')[SPACES]*(.*?)[SPACES]*('\n\nWhat was the issue and how should it be corrected\?)\z".replace(
        "SPACES", ANY_SPACE
    )
)


def content_ids(format: str, rows: pl.DataFrame) -> pl.Series:
    """Of records of one format with its fields and `context`. No context is an empty one, as everywhere."""
    compared = TRAINING_FORMATS[format]
    prompts = [normal_prompts(rows[name].fill_null("")) for name in ("context", *compared.prompts)]
    answers = [normal_answers(rows[name].cast(pl.String).fill_null("")) for name in compared.answers]
    if format == "correction":
        answers[0] = answers[0].str.replace(_QUOTED, "${1}${2}${3}")
    keys = pl.DataFrame([text.alias(str(place)) for place, text in enumerate([*prompts, *answers])])
    # Each text behind its length: no text can pass for two.
    parts = [part for name in keys.columns for part in (pl.col(name).str.len_bytes().cast(pl.String), pl.col(name))]
    told = keys.select(pl.concat_str(pl.lit(format), *parts, separator="\n").alias("told"))
    return told.select(polars_hash.col("told").chash.sha2_256().str.head(DIGITS).alias("content_id")).to_series()
