"""What users said about an item, a line a remark, so that a reviewer need not look it up."""

import polars as pl

from dagster_project.columns.content_hashes import shown
from dagster_project.columns.spaces import SPACES
from dagster_project.lake.lake import Lake
from dagster_project.review.texts import ENTRIES, scan
from dagster_project.systems.distillation.lookups import feedback_about

MOST_REMARKS = 20  # about one item; the newest
MOST_CHARACTERS = 500  # of what a user wrote
REMARKS = {"id": pl.String, "feedback": pl.List(pl.String)}
VOICE = tuple(
    """
    feedback_id event_date occurred_at effective_type sentiment rating rating_scale comment flag_type
""".split()
)
WRITTEN = ("feedback_id", "correction", "what_was_wrong", "comparison_basis", "flag_details")


def remarks_on_examples(lake: Lake, ids: pl.Series) -> pl.DataFrame:
    """id and feedback: the active rows about each example (M1), newest first."""
    if ids.is_empty():
        return pl.DataFrame(schema=REMARKS)
    voices = feedback_about(lake, ids.to_list(), VOICE).rename({"example_id": "id"})
    has_more = pl.col("effective_type") != "rating"
    written = _written(lake, voices.filter(has_more))
    told = shown(voices.join(written, on="feedback_id", how="left"), "comment")
    lines = told.with_columns(in_words().alias("line"))
    newest_first = lines.sort("occurred_at", "feedback_id", descending=[True, False])
    return (
        newest_first.group_by("id", maintain_order=True)
        .agg(pl.col("line").head(MOST_REMARKS), (pl.len().cast(pl.Int64) - MOST_REMARKS).alias("further"))
        .with_columns(pl.when(pl.col("further") > 0).then(pl.format("and {} more", "further")).alias("end"))
        .select("id", feedback=pl.concat_list("line", pl.concat_list("end").list.drop_nulls()))
    )


def remarks_on_corrections(lake: Lake, corrections: pl.DataFrame) -> pl.DataFrame:
    """The same of users' corrections (item_id, event_date): what they said was wrong."""
    if corrections.is_empty():
        return pl.DataFrame(schema=REMARKS)
    wrong = _quoted("what_was_wrong")
    written = _written(lake, corrections.select(feedback_id="item_id", event_date="event_date"))
    return written.filter(wrong.is_not_null()).select(
        id="feedback_id", feedback=pl.concat_list(pl.format("what was wrong: {}", wrong))
    )


def _written(lake: Lake, voices: pl.DataFrame) -> pl.DataFrame:
    """What the authors of feedback rows (feedback_id, event_date) wrote."""
    rows = scan(lake, ENTRIES, voices["event_date"].unique()).select(WRITTEN)
    return shown(rows.filter(pl.col("feedback_id").is_in(voices["feedback_id"].implode())).collect(), *WRITTEN[1:])


def in_words() -> pl.Expr:
    """One feedback row as a line: what, when, and what was written."""
    kind = pl.col("effective_type")
    rated = pl.when(pl.col("rating_scale") == "five").then(pl.format("rated {} of 5", "rating"))
    thumb = pl.when(pl.col("sentiment") == "positive").then(pl.lit("thumbs up")).otherwise(pl.lit("thumbs down"))
    flagged = pl.format("flag {}", pl.col("flag_type").fill_null("other"))
    what = pl.when(kind == "rating").then(rated.otherwise(thumb)).when(kind == "flag").then(flagged)
    what = what.when(kind == "preference").then(pl.lit("preferred another answer")).otherwise(kind)
    by_kind = {
        "rating": "comment",
        "flag": "flag_details",
        "preference": "comparison_basis",
        "correction": "correction",
    }
    said = pl.coalesce(pl.when(kind == name).then(_quoted(column)) for name, column in by_kind.items())
    wrong = pl.when(kind == "correction").then(pl.format(", what was wrong: {}", _quoted("what_was_wrong")))
    return pl.concat_str(what, pl.lit(" "), "event_date", pl.format(": {}", said).fill_null(""), wrong.fill_null(""))


def _quoted(column: str) -> pl.Expr:
    """What a user wrote in one line of bearable length; null where they wrote nothing."""
    text = pl.col(column).str.strip_chars(SPACES)
    short = pl.when(text.str.len_chars() > MOST_CHARACTERS).then(text.str.head(MOST_CHARACTERS) + "...").otherwise(text)
    return pl.when(text != "").then(pl.format('"{}"', short.str.replace_all(r"\s+", " ")))
