"""Plain Parquet: every column of the release's own table, as it is, and the weight."""

import polars as pl

from dagster_project.contracts.formats import FORMATS
from dagster_project.training.export.shapes import Shape, Target


def everything(records: pl.DataFrame) -> pl.DataFrame:
    return records.drop("key", "cut", strict=False)


PARQUET = Target(
    "parquet",
    dict.fromkeys(FORMATS, (Shape(everything),)),
    refusals={},
    notes=lambda format: (
        "All columns of the release; rows by day, so shuffle them. `messages` has every role there was.",
        *(("Not for SFT: `label` false is an answer people disliked.",) if format == "unpaired" else ()),
    ),
    weight="weight",
    suffix=".parquet",
    is_retold=False,
)
