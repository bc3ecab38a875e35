"""The rows that were refused, once all sources are read (G5)."""

import polars as pl

from dagster_project.engines import reading
from dagster_project.intake.held_rows import QUARANTINE
from dagster_project.run.made import Made
from dagster_project.run.mill_run import MillRun


def count_refused_rows(run: MillRun) -> list[Made]:
    """Reading the raw tables wrote them; here they are counted, and the sources let go of."""
    run.close_sources()
    reasons = reading.scan(run.lake, QUARANTINE).select(pl.col("reasons").explode()).collect()["reasons"]
    return [Made(QUARANTINE, told={"reasons": dict(reasons.value_counts(sort=True).iter_rows())})]
