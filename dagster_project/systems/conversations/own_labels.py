"""What K labels of one's own would give: a head fitted on them, judged on conversations it never saw (rule C7).

Per source, since what annotators were asked differs: conversations in an order by hash, the first of them until there are K
labels; the others are judged by the rules alone and by the rules with the head.
"""

import hashlib
from dataclasses import dataclass

import polars as pl

from dagster_project.systems.conversations import head
from dagster_project.systems.conversations.head_features import features


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
    import numpy as np  # noqa: PLC0415

    taught = head.learnt(learnt.with_columns(pl.col("dialog").alias("conversation"), pl.lit(False).alias("is_chosen")))
    rejected = int((learnt["label"] == "rejected").sum())
    rules = with_head = _figures(others)
    if taught.is_used:
        chance = head.chances(features(others), taught.heads, np.full(others.height, head.FOLDS))
        verdicts = head.decided(others, chance, taught.objects_from, taught.objects_low)
        with_head = _figures(verdicts.with_columns(others["label"]))
    return OwnLabels(learnt.height, rejected, taught.is_used, taught.state, others.height, rules, with_head)


def _figures(rows: pl.DataFrame) -> dict[str, float]:
    """Precision, recall and F1 of rejected, and the expected calibration error of what is called rejected or accepted."""
    said, truth = ((rows[name] == "rejected").to_numpy() for name in ("feedback_status", "label"))
    hits = int((said & truth).sum())
    claims = rows["feedback_confidence"].to_numpy()
    found = {
        "precision": hits / max(int(said.sum()), 1),
        "recall": hits / max(int(truth.sum()), 1),
        "f1": head.f1(said, truth),
        "calibration_error": head.calibration_error(rows["feedback_status"].to_numpy(), claims, said == truth),
    }
    return {name: round(value, 4) for name, value in found.items()}
