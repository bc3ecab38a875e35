"""From feedback and distilled examples to what leaves for training, through the queries a run makes of it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dagster_project.contracts import TABLES
from dagster_project.engines import queries
from tests.sql.harness import run_one_after_another, run_sql

Rows = Sequence[dict[str, Any]]
Outcome = dict[tuple[str, str, str], str | None]
FROM_FEEDBACK, FROM_DISTILLATION = "core__feedback_candidates", "core__distillation_candidates"
QUERIES = (
    "core__rating_partners",
    FROM_FEEDBACK,
    FROM_DISTILLATION,
    "core__pair_votes",
    "core__candidate_rivals",
    "train__excluded",
)


def judge(
    folder: Path, feedback: Rows = (), examples: Rows = (), reviews: Rows = (), condemned: Rows = (), **params: Any
) -> Outcome:
    """(format, source, origin_id) of every candidate -> its reason, null where it leaves."""
    made = tables(folder, feedback, examples, reviews, condemned, **params)
    reasons = {row["id"]: row["reason"] for row in made["train__excluded"]}
    candidates = made[FROM_FEEDBACK] + made[FROM_DISTILLATION]
    assert len({candidate["id"] for candidate in candidates}) == len(candidates)
    assert reasons.keys() <= {candidate["id"] for candidate in candidates}
    return {(c["format"], c["source"], c["origin_id"]): reasons.get(c["id"]) for c in candidates}


def tables(
    folder: Path, feedback: Rows = (), examples: Rows = (), reviews: Rows = (), condemned: Rows = (), **params: Any
) -> dict[str, list[dict[str, Any]]]:
    """Every table on the way, as the queries make them one after the other."""
    known = TABLES["core__feedback_keys"].columns
    inputs = {
        "core__feedback": list(feedback),
        "core__feedback_keys": [{name: value for name, value in row.items() if name in known} for row in feedback],
        "core__reviews": list(reviews),
        "core__distillation": list(examples),
        "core__condemned_answers": list(condemned),
    }
    made: dict[str, Any] = run_one_after_another(folder, QUERIES, inputs, **params)
    check = "core__candidate_rivals__name_a_survivor"
    known = {name: made[name] for name in queries.query(check).inputs if name in made}
    assert run_sql(folder / "check", check, known).is_empty()
    return made
