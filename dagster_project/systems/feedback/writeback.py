"""What a write-back tells the source of its feedback (F10): what left."""

from collections.abc import Callable

import polars as pl

from dagster_project.intake.marks import Marks, Release, first_formats
from dagster_project.intake.open_files import OpenFile
from dagster_project.lake.lake import Lake
from dagster_project.systems.feedback import source as feedback
from dagster_project.systems.feedback.marks import MARKED
from dagster_project.systems.feedback.response_texts import ResponseTexts


def exported_feedback(release: Release) -> pl.DataFrame:
    rows = first_formats(release, "feedback", ("correction", "preference", "instruction", "unpaired"))
    return rows.select(
        pl.col("origin_id").alias("feedback_id"),
        "new_training_format",
        "new_quality_weight",
        pl.lit(release.as_of.timestamp()).alias("exported_at"),
        pl.lit(True).alias("is_exported"),
    )


def feedback_as_read(lake: Lake) -> Callable[[pl.DataFrame, OpenFile], pl.DataFrame]:
    responses = ResponseTexts(lake)
    return lambda rows, file: responses.filled(feedback.canonical(rows, str(file.options["rating_scale"])))


MARKS = Marks(
    MARKED,
    exported_feedback,
    {
        "processed": pl.lit(1, dtype=pl.Int64),
        "training_format": pl.col("new_training_format"),
        "quality_weight": pl.col("new_quality_weight"),
        "processed_at": pl.col("exported_at"),
    },
    feedback_as_read,
)
