"""Verdicts of `gristmill label` as a table of the lake: the state is an input like the sources (G12, C7)."""

from dagster_project.engines.stored_tables import store
from dagster_project.review.decision_lines import LABELS
from dagster_project.review.decisions import Decisions
from dagster_project.review.labels import held_labels
from dagster_project.run.made import Claim, Made, Outcome
from dagster_project.run.mill_run import MillRun

VERDICTS = "core__label_verdicts"
LABELS_ARE_READABLE = Claim("log_is_readable", "every line of state/labels.jsonl is one (C7, G12)", blocks=False)


def make_label_verdicts(run: MillRun) -> list[Made]:
    """The labels that hold for the turns as they are now. Written anew each time: it is small."""
    decisions = Decisions(run.lake.home, LABELS)
    held = held_labels(run.lake, decisions)
    store(run.lake, VERDICTS, [held.drop("next_turn_key", "next_at")])
    problems = decisions.problems()
    found = {"left_out": len(problems), "lines": "\n".join(problems)}
    return [Made(VERDICTS, outcomes=(Outcome(LABELS_ARE_READABLE, not problems, found),))]
