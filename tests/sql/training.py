"""From feedback and distilled examples to what leaves for training, through the queries a run makes of it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.sql.harness import run_sql

Rows = Sequence[dict[str, Any]]
Outcome = dict[tuple[str, str, str], str | None]
FROM_FEEDBACK, FROM_DISTILLATION = "core__feedback_candidates", "core__distillation_candidates"


def judge(folder: Path, feedback: Rows = (), examples: Rows = (), reviews: Rows = (), **params: Any) -> Outcome:
    """(format, source, origin_id) of every candidate -> its reason, null where it leaves."""
    inputs = {"core__feedback": list(feedback), "core__reviews": list(reviews), "core__distillation": list(examples)}
    partners = run_sql(folder / "partners", "core__rating_partners", inputs).to_dicts()
    inputs["core__rating_partners"] = partners
    found = {
        table: run_sql(folder / table, table, inputs, **params).to_dicts()
        for table in (FROM_FEEDBACK, FROM_DISTILLATION)
    }
    found["core__candidate_rivals"] = run_sql(folder / "rivals", "core__candidate_rivals", found).to_dicts()
    excluded = run_sql(folder / "excluded", "train__excluded", found)
    assert run_sql(folder / "check", "core__candidate_rivals__name_a_survivor", found).is_empty()
    reasons = dict(excluded.select("id", "reason").iter_rows())
    candidates = found[FROM_FEEDBACK] + found[FROM_DISTILLATION]
    assert len({candidate["id"] for candidate in candidates}) == len(candidates)
    assert reasons.keys() <= {candidate["id"] for candidate in candidates}
    return {(c["format"], c["source"], c["origin_id"]): reasons.get(c["id"]) for c in candidates}
