"""What K labels of one's own would give: a head fitted on them, judged on conversations it never saw (rule C7).

Per source, since what annotators were asked differs: conversations in an order by hash, the first of them until there are K
labels; the others are judged by the rules alone and by the rules with the head.
"""

import hashlib
from dataclasses import dataclass

import polars as pl

from dagster_project.systems.conversations import head

BINS = 10


@dataclass(frozen=True)
class OwnLabels:
    """Of one source."""

    labels: int
    rejected_labels: int
    is_used: bool
    reason: str
    judged: int
    rules: dict[str, float]
    with_head: dict[str, float]


def what_labels_give(decisions: pl.DataFrame, wanted: int) -> dict[str, OwnLabels]:
    """Of each source that has conversations left to judge."""
    found = {}
    numbered = decisions.with_row_index("row")
    rows = numbered.with_columns(pl.coalesce("dialog", pl.format("row {}", "row")).alias("dialog"))
    for (source,), some in rows.group_by("source", maintain_order=True):
        learnt, others = _parted(some, wanted)
        if learnt.height and others.height:
            found[str(source)] = _given(learnt, others)
    return found


def _parted(rows: pl.DataFrame, wanted: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The conversations that are labels, and the others."""
    order = [hashlib.sha256(f"label {dialog}".encode()).hexdigest() for dialog in rows["dialog"]]
    ordered = rows.with_columns(pl.Series("order", order)).sort("order", "row")
    before = ordered.group_by("order", maintain_order=True).len().with_columns(pl.col("len").cum_sum() - pl.col("len"))
    taken = before.filter(pl.col("len") < wanted)["order"]
    return ordered.filter(pl.col("order").is_in(taken.implode())), ordered.filter(
        ~pl.col("order").is_in(taken.implode())
    )


def _given(learnt: pl.DataFrame, others: pl.DataFrame) -> OwnLabels:
    truth, truth_of_others = ((rows["label"] == "rejected").cast(pl.Float64).to_numpy() for rows in (learnt, others))
    statuses, claims = (others[name].to_numpy() for name in ("feedback_status", "feedback_confidence"))
    rules = _figures(statuses, claims, truth_of_others)
    rejected = int(truth.sum())
    if min(rejected, learnt.height - rejected) < head.FEWEST_OF_A_CLASS:
        return OwnLabels(learnt.height, rejected, False, "too_few_of_a_class", others.height, rules, rules)
    folds = [int(order, 16) // 16 % head.FOLDS for order in learnt["order"]]
    places = head.features(learnt)
    trial, margin = head.tried(learnt, places, truth, pl.Series(folds).to_numpy())
    with_head = rules
    if trial.is_used:
        fitted = head.fit(head.rows_of(places), truth, margin)
        verdicts = head.decided(others, head.chances(fitted, head.rows_of(head.features(others))), trial.threshold)
        statuses, claims = (verdicts[name].to_numpy() for name in ("feedback_status", "feedback_confidence"))
        with_head = _figures(statuses, claims, truth_of_others)
    return OwnLabels(learnt.height, rejected, trial.is_used, trial.reason, others.height, rules, with_head)


def _figures(statuses, claims, is_rejected) -> dict[str, float]:
    """Precision, recall and F1 of rejected, and the expected calibration error of what is called rejected or accepted."""
    import numpy as np  # noqa: PLC0415

    said = statuses != "neutral"
    right = ((statuses == "rejected") == (is_rejected == 1))[said]
    bins = np.minimum((claims[said] * BINS).astype(int), BINS - 1)
    off = sum(abs(right[bins == place].sum() - claims[said][bins == place].sum()) for place in range(BINS))
    found = head.scores(statuses, claims, is_rejected)
    return {name: round(found[f"rejected_{name}"], 4) for name in ("precision", "recall", "f1")} | {
        "calibration_error": round(float(off) / max(int(said.sum()), 1), 4)
    }
