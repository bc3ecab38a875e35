"""What our reviewers' decisions come to, as a table of the lake: the state is an input like the sources (G12, D8)."""

import polars as pl

from dagster_project.columns.content_hashes import content_hashes
from dagster_project.engines.stored_tables import store
from dagster_project.lake.lake import Lake
from dagster_project.review.decisions import Decisions
from dagster_project.review.texts import scan, texts_of_judged_corrections
from dagster_project.run.made import Claim, Made, Outcome
from dagster_project.run.mill_run import MillRun

TABLE, ANSWERS, SETTLED = "core__reviews", "core__distilled_answers", "core__settlements"
LOG_IS_READABLE = Claim("log_is_readable", "every line of state/reviews.jsonl is one (D8, G12)", blocks=False)


def make_reviews(run: MillRun) -> list[Made]:
    """The verdicts that hold for the texts as they are now. Written anew each time: it is small."""
    decisions = Decisions(run.lake.home)
    judged = decisions.latest_votes()["example_id"].unique()
    current = decisions.current(_contents(run.lake, judged)).rename({"verdict": "review_verdict"})
    store(run.lake, TABLE, [current.select("example_id", "review_verdict", "reviewer", "note", "decided_at")])
    problems = decisions.problems()
    found = {"left_out": len(problems), "lines": "\n".join(problems)}
    return [Made(TABLE, outcomes=(Outcome(LOG_IS_READABLE, not problems, found),))]


def make_settlements(run: MillRun) -> list[Made]:
    """Which safety flags and correction requests are settled, by whom and with what note (F12)."""
    store(run.lake, SETTLED, [Decisions(run.lake.home).settled()])
    return [Made(SETTLED)]


def _contents(lake: Lake, judged: pl.Series) -> pl.DataFrame:
    """The texts of what was judged as they are now, by their hashes."""
    if judged.is_empty():
        return pl.DataFrame(schema={"example_id": pl.String, "content_hash": pl.String})
    answers = scan(lake, ANSWERS).filter(pl.col("example_id").is_in(judged.implode()))
    examples = answers.select("example_id", "content_hash").collect()
    others = judged.filter(~judged.is_in(examples["example_id"].implode()))
    return pl.concat([examples, content_hashes(texts_of_judged_corrections(lake, others))])
