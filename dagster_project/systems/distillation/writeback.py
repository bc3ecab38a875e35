"""What a write-back tells the source of its examples (D9): what we think of each, and what left."""

import polars as pl

from dagster_project.columns.text_keys import has_text
from dagster_project.engines.reading import columns
from dagster_project.intake.marks import Marks, Release, first_formats
from dagster_project.lake.lake import Lake
from dagster_project.systems.distillation import source as distillation
from dagster_project.systems.distillation.intake import STORED_AS
from dagster_project.systems.distillation.marks import MARKED


def judged_examples(release: Release) -> pl.DataFrame:
    """Examples whose winning row is in `distillation_examples`; of a release that is not the current one what left, only.

    What we think of an example is known for the current publication alone. The format is the primary one if that left,
    so the pair an example leaves in besides comes last.
    """
    exported = first_formats(release, "distillation", ("correction", "cot", "instruction", "preference")).select(
        pl.col("origin_id").alias("id"), "new_training_format", pl.lit(True).alias("is_exported")
    )
    judged = _judgements(release.lake) if release.is_current else _NO_JUDGEMENTS
    return judged.join(exported, on="id", how="full", coalesce=True).with_columns(
        pl.col("is_judged", "is_exported").fill_null(False), pl.lit(release.as_of.timestamp()).alias("exported_at")
    )


_NO_JUDGEMENTS = pl.DataFrame(
    schema={
        "id": pl.String,
        "is_judged": pl.Boolean,
        "new_quality_score": pl.Float64,
        "new_quality_flags": pl.String,
        "new_human_reviewed": pl.Int64,
        "new_reviewer_notes": pl.String,
        "new_training_ready": pl.Int64,
    }
)


def _judgements(lake: Lake) -> pl.DataFrame:
    judged = ("example_id", "origin", "quality_score", "quality_flags", "review_status", "is_own_review", "is_ready")
    examples = columns(lake, "core__distillation", *judged)
    notes = columns(lake, "core__reviews", "example_id", "note")
    mine = examples.filter(pl.col("origin") == distillation.EXAMPLES.name).join(notes, on="example_id", how="left")
    verdict = pl.col("review_status").replace_strict(
        {"approved": 1, "rejected": -1}, default=None, return_dtype=pl.Int64
    )
    return mine.select(
        pl.col("example_id").alias("id"),
        pl.lit(True).alias("is_judged"),
        pl.col("quality_score").alias("new_quality_score"),
        _json_list("quality_flags").alias("new_quality_flags"),
        pl.when("is_own_review").then(verdict).alias("new_human_reviewed"),
        pl.when(pl.col("is_own_review") & has_text("note")).then("note").alias("new_reviewer_notes"),
        pl.col("is_ready").cast(pl.Int64).alias("new_training_ready"),
    )


def _json_list(column: str) -> pl.Expr:
    """A list of texts as JSON, with the spaces Python's json module puts, so that equal lists are equal texts."""
    as_json = pl.struct(pl.element().alias("x")).struct.json_encode().str.slice(len('{"x":')).str.head(-1)
    return pl.format("[{}]", pl.col(column).list.eval(as_json).list.join(", "))


# The source holds a later export of ours: that one stays the last.
_LEFT_LATER = pl.col("last_exported_at").ne_missing(pl.col("own_last_exported_at")) & (
    pl.col("last_exported_at") > pl.col("exported_at")
).fill_null(False)
_IS_LAST = pl.col("is_exported") & ~_LEFT_LATER


def _judged(column: str) -> pl.Expr:
    return pl.when("is_judged").then(f"new_{column}").otherwise(column)


def _decided(column: str) -> pl.Expr:
    """Our reviewers' word; without one the source's own comes back, also where an earlier write-back put ours."""
    return pl.when("is_judged").then(pl.coalesce(f"new_{column}", f"own_{column}")).otherwise(column)


MARKS = Marks(
    MARKED,
    judged_examples,
    {
        "quality_score": _judged("quality_score"),
        "quality_flags": _judged("quality_flags"),
        "human_reviewed": _decided("human_reviewed"),
        "reviewer_notes": _decided("reviewer_notes"),
        "training_ready": _judged("training_ready"),
        "training_format": pl.when(_IS_LAST).then("new_training_format").otherwise("training_format"),
        "export_count": pl.when(pl.col("is_exported") & ~pl.col("is_counted"))
        .then(pl.col("export_count").fill_null(0) + 1)
        .otherwise("export_count"),
        "last_exported_at": pl.when(_IS_LAST).then("exported_at").otherwise("last_exported_at"),
    },
    lambda _: lambda rows, _: distillation.canonical(rows, distillation.EXAMPLES),
    STORED_AS,
)
