"""What our reviewers' decisions come to, as a table of the lake: the state is an input like the sources (G12, D8)."""

import polars as pl

from dagster_project.mill_run import MillRun
from dagster_project.review.decisions import Decisions
from dagster_project.tables import store

TABLE, ANSWERS = "core__reviews", "core__distilled_answers"


def bring_reviews_up_to_date(run: MillRun) -> None:
    """Store the verdicts that hold for the texts as they are now. Written anew each time: it is small."""
    files = run.lake.files(ANSWERS)
    columns = ["example_id", "content_hash"]
    schema = dict.fromkeys(columns, pl.String)
    decisions = Decisions(run.lake.home)
    contents = pl.DataFrame(schema=schema)
    if files and decisions.version() is not None:
        contents = pl.read_parquet(files, columns=columns, hive_partitioning=False)
    current = decisions.current(contents).rename({"verdict": "review_verdict"})
    store(run.lake, TABLE, [current.select("example_id", "review_verdict", "reviewer", "note", "decided_at")])
