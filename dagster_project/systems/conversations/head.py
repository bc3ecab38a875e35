"""A small head over the rules, fitted on the installation's own explicit labels (rule C7): pure functions on columns.

A plain logistic regression on hashed features (`head_features.py`), by full gradient steps in a fixed order and sums whose
order is fixed too, so that the same labels give the same bytes. What it may change of a verdict is `decided`'s; whether it is used at all,
`learnt`'s. The pipeline's side of it is `detector_head.py`.
"""

import hashlib
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from dagster_project.systems.conversations.head_features import BUCKETS, Rows, features
from dagster_project.systems.conversations.implicit_confidence import wilson

if TYPE_CHECKING:
    import numpy as np

STEPS, PENALTY = 80, 0.003
STEEPEST = 9 / 4  # of the cost: a quarter of a row's square, which is one a block
FOLDS = 10
FEWEST_LABELS, FEWEST_OF_A_CLASS, FEWEST_JUDGED = 200, 30, 15
MOST_LABELS = 25_929  # a step of the ladder; more teach nothing new and cost minutes
LEAST_PRECISION = 0.80  # held out, of objections the rules miss
FEWEST_FOUND = 10
SURE_RULE = 0.80  # what a rule that is so sure accepts, the head does not turn into a rejection
LEAST_AGREEMENT = 0.60  # of labels with sure rules: where fewer agree, beyond chance, they are not believed ...
PLAIN_AGREEMENT, LEAST_GAIN = 0.85, 0.05  # ... and below this only where the head finds clearly more
DOUBT = 0.25  # a verdict less likely than this is taken back
LEAST_CHANCE = 0.5  # nothing less likely is an objection
NEUTRAL_CONFIDENCE, OBJECTION_CONFIDENCE = 0.5, 0.9  # nominal: seed 1's for nothing clear and for explicit rejection
OBJECTS, DOUBTS = "head:objects", "head:doubts"


class Head(NamedTuple):
    """Fitted weights; `bias` and they make the logarithm of the odds that a response was rejected."""

    weights: "np.ndarray"
    bias: float


class Learnt(NamedTuple):
    """What labels taught. `heads` are one a fold, which saw no conversation of it, and last the one that saw all."""

    is_used: bool
    state: str  # why it is used or not
    heads: tuple[Head, ...] = ()
    objects_from: float | None = None  # from which chance on it objects where the rules do not
    objects_low: float = 0.0  # lower end of the 90 % interval of how often it is right then
    held_out: pl.DataFrame | None = None  # of each label that counts there: what rules and head say, unseen


def ladder(labels: int) -> int:
    """On how many labels a head is fitted: the largest of 200, 300, 450, 675, ... there are; 0 where there are fewer."""
    step, found = FEWEST_LABELS, 0
    while step <= min(labels, MOST_LABELS):
        step, found = step * 3 // 2, step
    return found


def fold_of(conversation: str) -> int:
    return int(hashlib.sha256(f"fold {conversation}".encode()).hexdigest(), 16) % FOLDS


def learnt(pairs: pl.DataFrame) -> Learnt:
    """From labelled pairs. Columns: the detector's, what it says, `label`, `conversation`, and `is_chosen` of those that were
    picked for what they teach: from them it learns, and is not judged by them."""
    import numpy as np  # noqa: PLC0415

    is_rejected = (pairs["label"] == "rejected").cast(pl.Float64).to_numpy()
    counts = ~pairs["is_chosen"].to_numpy()
    if min(is_rejected.sum(), (1 - is_rejected).sum()) < FEWEST_OF_A_CLASS:
        return Learnt(False, "too_few_of_a_class")
    if min(is_rejected[counts].sum(), (1 - is_rejected)[counts].sum()) < FEWEST_JUDGED:
        return Learnt(False, "too_few_to_judge_by")
    folds = np.array([fold_of(conversation) for conversation in pairs["conversation"]])
    rows = features(pairs)
    margin, heads = np.zeros(len(rows)), []
    for fold in range(FOLDS):
        inside = folds == fold
        heads.append(
            fitted(some_of(rows, ~inside), is_rejected[~inside]) if not inside.all() else Head(np.zeros(BUCKETS), 0.0)
        )
        margin[inside] = margins(some_of(rows, inside), heads[fold])
    heads.append(fitted(rows, is_rejected))
    chance = np.zeros(len(rows))
    for fold in range(FOLDS + 1):  # what makes a fold's margins honest chances comes from the others
        inside, others = folds == fold, (folds != fold) & counts
        scale, shift = scaled(margin[others], is_rejected[others])
        heads[fold] = Head(heads[fold].weights * scale, heads[fold].bias * scale + shift)
        chance[inside] = _probability(scale * margin[inside] + shift)
    said = pairs.filter(counts)
    return _judged(said, chance[counts], is_rejected[counts], tuple(heads))


def _judged(said: pl.DataFrame, chance: "np.ndarray", is_rejected: "np.ndarray", heads: tuple[Head, ...]) -> Learnt:
    """Whether the head is better than the rules alone, by labels it did not see."""
    import numpy as np  # noqa: PLC0415

    statuses, claims = said["feedback_status"].to_numpy(), said["feedback_confidence"].to_numpy()
    may = said.select(_may_object()).to_series().to_numpy()
    objects_from = objecting_from(chance[may], is_rejected[may])
    verdicts = decided(said, chance, objects_from, 0.0)
    found = (verdicts["reason"] == OBJECTS).to_numpy()
    hits, n = int(is_rejected[found].sum()), int(found.sum())
    low = wilson(hits / n, n)[0] if n else 0.0
    held_out = said.with_columns(
        verdicts["feedback_status"].alias("head_status"), verdicts["feedback_confidence"].alias("head_confidence")
    )
    new_statuses, new_claims = verdicts["feedback_status"].to_numpy(), verdicts["feedback_confidence"].to_numpy()
    gain = f1(new_statuses == "rejected", is_rejected) - f1(statuses == "rejected", is_rejected)
    is_honester = squared_error(new_statuses, new_claims, is_rejected) < squared_error(statuses, claims, is_rejected)
    agrees = (statuses == "rejected") == (is_rejected == 1)
    sure = {status: agrees[(claims >= SURE_RULE) & (statuses == status)] for status in ("rejected", "accepted")}
    both = np.concatenate([*sure.values()])
    agreement = float(both.mean()) if len(both) >= FEWEST_FOUND else 1.0
    # each class by itself too: who calls all complaints good contradicts few of all verdicts
    if any(_contradict(some) for some in (both, *sure.values())):
        state = "labels_contradict_sure_rules"
    elif not is_honester or gain < (0 if agreement >= PLAIN_AGREEMENT else LEAST_GAIN):
        state = "not_better_than_the_rules"
    else:
        state = "better_than_the_rules"
    return Learnt(state == "better_than_the_rules", state, heads, objects_from, low, held_out)


def _contradict(agrees: "np.ndarray") -> bool:
    """Whether labels agree with what sure rules say in less than 0.60, and not by chance."""
    return len(agrees) >= FEWEST_FOUND and wilson(float(agrees.mean()), len(agrees))[1] < LEAST_AGREEMENT


def fitted(rows: Rows, is_rejected: "np.ndarray") -> Head:
    """By Nesterov's steps: look where the speed leads, then correct it."""
    import numpy as np  # noqa: PLC0415

    weights, bias = np.zeros(BUCKETS), 0.0
    before, bias_before = weights, bias
    sizes, n = np.diff(rows.starts), len(is_rejected)
    slowing = (STEEPEST / PENALTY) ** 0.5
    momentum = (slowing - 1) / (slowing + 1)
    for _ in range(STEPS):
        ahead, bias_ahead = weights + momentum * (weights - before), bias + momentum * (bias - bias_before)
        off = _probability(margins(rows, Head(ahead, bias_ahead))) - is_rejected
        slope = np.bincount(rows.places, np.repeat(off, sizes) * rows.values, BUCKETS) / n + PENALTY * ahead
        before, bias_before = weights, bias
        weights, bias = ahead - slope / STEEPEST, bias_ahead - float(off.mean()) / STEEPEST
    return Head(weights, bias)


def some_of(rows: Rows, wanted: "np.ndarray") -> Rows:
    """The rows where `wanted` is true."""
    import numpy as np  # noqa: PLC0415

    sizes = np.diff(rows.starts)
    kept = np.repeat(wanted, sizes)
    return Rows(rows.places[kept], rows.values[kept], np.concatenate([[0], np.cumsum(sizes[wanted])]))


def margins(rows: Rows, head: Head) -> "np.ndarray":
    """Every row has features, if only what the rules say of it."""
    import numpy as np  # noqa: PLC0415

    if not len(rows):
        return np.zeros(0)
    return np.add.reduceat(head.weights[rows.places] * rows.values, rows.starts[:-1]) + head.bias


def _probability(margin: "np.ndarray") -> "np.ndarray":
    import numpy as np  # noqa: PLC0415

    return 1 / (1 + np.exp(-np.clip(margin, -30, 30)))


def chances(rows: Rows, heads: tuple[Head, ...], folds: "np.ndarray") -> "np.ndarray":
    """How likely each pair's response was rejected, by the head of its fold; the last of them is of no fold."""
    import numpy as np  # noqa: PLC0415

    found = np.zeros(len(rows))
    for fold in np.unique(folds):
        inside = folds == fold
        found[inside] = _probability(margins(rows if inside.all() else some_of(rows, inside), heads[fold]))
    return found


def scaled(margin: "np.ndarray", is_rejected: "np.ndarray") -> tuple[float, float]:
    """Platt's scale and shift: two numbers that make held-out margins honest probabilities, by Newton's steps."""
    import numpy as np  # noqa: PLC0415

    scale, shift = 1.0, 0.0
    for _ in range(30):
        p = _probability(scale * margin + shift)
        off, spread = p - is_rejected, np.maximum(p * (1 - p), 1e-6)
        # a little prior keeps both finite where labels are told apart without a mistake
        slope = (float((off * margin).sum()) + 1e-2 * (scale - 1), float(off.sum()) + 1e-2 * shift)
        a, b, c = (float((spread * power).sum()) for power in (margin * margin, margin, np.ones(len(margin))))
        a, c = a + 1e-2, c + 1e-2
        grid = a * c - b * b
        scale, shift = scale - (c * slope[0] - b * slope[1]) / grid, shift - (a * slope[1] - b * slope[0]) / grid
    return scale, shift


def _may_object() -> pl.Expr:
    """Where the rules do not reject already, nor surely accept."""
    is_sure = (pl.col("feedback_status") == "accepted") & (pl.col("feedback_confidence") >= SURE_RULE)
    return (pl.col("feedback_status") != "rejected") & ~is_sure


def decided(pairs: pl.DataFrame, chance: "np.ndarray", objects_from: float | None, objects_low: float) -> pl.DataFrame:
    """What the head makes of the rules' verdicts. Columns as the detector gives them, and `rejection_chance`."""
    p = pl.lit(pl.Series("chance", chance, dtype=pl.Float64)).round(6)
    status = pl.col("feedback_status")
    finds = _may_object() & (p >= (objects_from if objects_from is not None else 2.0))
    doubts = ~finds & (((status == "rejected") & (p < DOUBT)) | ((status == "accepted") & (1 - p < DOUBT)))
    keeps = ~finds & ~doubts

    def either(found: float | str | pl.Expr, doubted: float | str | pl.Expr | None, kept: str) -> pl.Expr:
        as_value = (value if isinstance(value, pl.Expr) else pl.lit(value) for value in (found, doubted))
        return pl.when(finds).then(next(as_value)).when(doubts).then(next(as_value)).otherwise(kept).alias(kept)

    claim = pl.when(keeps & (status == "rejected")).then(p).when(keeps & (status == "accepted")).then(1 - p)
    return pairs.select(
        either("rejected", "neutral", "feedback_status"),
        either(OBJECTION_CONFIDENCE, NEUTRAL_CONFIDENCE, "nominal_confidence"),
        claim.otherwise(either(p, NEUTRAL_CONFIDENCE, "feedback_confidence")).round(6).alias("feedback_confidence"),
        either(objects_low, 0.0, "confidence_low"),
        either("explicit", None, "correction_type"),
        either(OBJECTS, DOUBTS, "reason"),
        p.alias("rejection_chance"),
    )


def objecting_from(chance: "np.ndarray", is_rejected: "np.ndarray") -> float | None:
    """The least chance from which enough pairs are found, and 0.80 of them are right."""
    import numpy as np  # noqa: PLC0415

    order = np.argsort(-chance, kind="stable")
    sorted_chance, right = chance[order], np.cumsum(is_rejected[order])
    best = None
    for n in range(FEWEST_FOUND, len(order) + 1):
        is_edge = n == len(order) or sorted_chance[n] < sorted_chance[n - 1]
        if is_edge and right[n - 1] / n >= LEAST_PRECISION:
            best = float(np.floor(sorted_chance[n - 1] * 1e6) / 1e6)
    return None if best is None else max(best, LEAST_CHANCE)


def f1(said: "np.ndarray", is_rejected: "np.ndarray") -> float:
    both = int(said.sum() + is_rejected.sum())
    return 2 * int((said & (is_rejected == 1)).sum()) / both if both else 0.0


def squared_error(statuses: "np.ndarray", claims: "np.ndarray", is_rejected: "np.ndarray") -> float:
    """Of what was claimed, on average; neutral claims an even chance."""
    import numpy as np  # noqa: PLC0415

    claimed = np.where(statuses == "rejected", claims, np.where(statuses == "accepted", 1 - claims, 0.5))
    return float(np.mean((claimed - is_rejected) ** 2))


def calibration_error(statuses: "np.ndarray", claims: "np.ndarray", is_right: "np.ndarray") -> float:
    """How far off the claims of what is called rejected or accepted are: tenths of confidence weigh by their rows."""
    import numpy as np  # noqa: PLC0415

    said = statuses != "neutral"
    tenth = np.minimum((claims[said] * 10 + 1e-9).astype(int), 9)
    off = np.abs(np.bincount(tenth, is_right[said], 10) - np.bincount(tenth, claims[said], 10)).sum()
    return float(off) / max(int(said.sum()), 1)
