"""A small head over the rules, fitted on the installation's own explicit labels (rule C7): pure functions on columns.

A plain logistic regression on hashed features: the rule that fired, the similarity, lengths, the words of the message and of
the response. No word can be read back from it: a feature is one of some thousand numbers. It is fitted by full gradient steps in
a fixed order, so that the same labels give the same bytes.

Used by `gristmill evaluate implicit --with-own-labels`; docs/implicit.md says what it gives.
"""

from typing import TYPE_CHECKING, NamedTuple

import polars as pl

if TYPE_CHECKING:
    import numpy as np

BUCKETS = 4_096
WORDS_OF_A_TEXT = 60
STEPS, RATE, PENALTY = 150, 0.5, 0.003
FOLDS = 5
FEWEST_LABELS, FEWEST_OF_A_CLASS = 200, 30
LEAST_PRECISION = 0.80  # held out, of objections the rules miss
FEWEST_FOUND = 10
SURE_RULE, LEAST_AGREEMENT = 0.80, 0.60  # labels that contradict what sure rules say are not believed
DOUBT = 0.25  # a verdict less likely than this is taken back
LEAST_CHANCE = 0.5  # nothing less likely is an objection
_WORD = r"[\p{L}\p{N}]+"


class Head(NamedTuple):
    """Fitted weights, and what makes of a margin a probability."""

    weights: "np.ndarray"
    scale: float
    shift: float


class Trial(NamedTuple):
    """What held-out labels say of a head beside the rules."""

    verdicts: pl.DataFrame  # of each labelled pair, by the fold that did not see its conversation
    threshold: float | None  # from which probability of a rejection the head objects where the rules do not
    is_used: bool
    reason: str
    rules: dict[str, float]
    with_head: dict[str, float]


def ladder(labels: int) -> int:
    """On how many labels a head is fitted: the largest of 200, 300, 450, 675, ... there are; 0 where there are fewer."""
    step, found = FEWEST_LABELS, 0
    while step <= labels:
        step, found = step * 3 // 2, step
    return found


def features(pairs: pl.DataFrame) -> pl.Series:
    """Of each pair the places of its features, each once. Columns: those of the detector, and what it says."""
    similarity = pl.col("similarity").fill_null(-2.0).mul(5).floor().cast(pl.Int64)
    sizes = [
        pl.col(name).fill_null("").str.len_chars().add(1).log(2).floor().cast(pl.Int64)
        for name in ("next_message", "prev_response")
    ]
    facts = [
        pl.format("rule {}", "reason"),
        pl.format("status {}", "feedback_status"),
        pl.format("similarity {}", similarity),
        *(pl.format(f"size {place} {{}}", size) for place, size in enumerate(sizes)),
        pl.format("asks {}", pl.col("next_message").str.contains("?", literal=True)),
    ]
    words = {
        name: pl.col(column).fill_null("").str.to_lowercase().str.extract_all(_WORD).list.head(WORDS_OF_A_TEXT)
        for name, column in (("m", "next_message"), ("r", "prev_response"))
    }
    pieces = [
        pl.concat_list(facts),
        words["m"].list.eval(pl.format("m {}", pl.element())),
        words["m"].list.eval(pl.format("m2 {} {}", pl.element().shift(1).fill_null("^"), pl.element())),
        words["r"].list.eval(pl.format("r {}", pl.element())),
    ]
    # Polars' own hash, seeded; its version is part of what a head is made from (G12)
    return pairs.select(
        pl.concat_list(pieces).list.eval((pl.element().hash(seed=7) % BUCKETS).cast(pl.Int32)).list.unique().list.sort()
    ).to_series()


class Rows(NamedTuple):
    """Features of several pairs, side by side."""

    places: "np.ndarray"
    starts: "np.ndarray"
    sizes: "np.ndarray"


def rows_of(found: pl.Series) -> Rows:
    import numpy as np  # noqa: PLC0415

    sizes = found.list.len().to_numpy().astype(np.int64)
    places = found.explode().to_numpy().astype(np.int64)
    return Rows(places, np.cumsum(sizes) - sizes, sizes)


def margins(rows: Rows, weights: "np.ndarray") -> "np.ndarray":
    """Sums of weights over the features of each row, over the root of how many there are: long texts are no louder."""
    import numpy as np  # noqa: PLC0415

    if not len(rows.sizes):
        return np.zeros(0)
    return np.add.reduceat(weights[rows.places], rows.starts) / np.sqrt(rows.sizes)


def fitted(rows: Rows, is_rejected: "np.ndarray") -> "np.ndarray":
    """The weights; the last is the bias."""
    import numpy as np  # noqa: PLC0415

    weights, speed, bias, bias_speed = np.zeros(BUCKETS), np.zeros(BUCKETS), 0.0, 0.0
    share = np.repeat(1 / np.sqrt(rows.sizes), rows.sizes)
    n = len(is_rejected)
    for _ in range(STEPS):
        # Nesterov: look where the speed leads, then correct it
        ahead, bias_ahead = weights + 0.9 * speed, bias + 0.9 * bias_speed
        off = _probability(margins(rows, ahead) + bias_ahead) - is_rejected
        slope = np.bincount(rows.places, np.repeat(off, rows.sizes) * share, BUCKETS) / n + PENALTY * ahead / 4
        speed, bias_speed = 0.9 * speed - 4 * RATE * slope, 0.9 * bias_speed - RATE * float(off.mean())
        weights, bias = weights + speed, bias + bias_speed
    return np.append(weights, bias)


def _probability(margin: "np.ndarray") -> "np.ndarray":
    import numpy as np  # noqa: PLC0415

    return 1 / (1 + np.exp(-np.clip(margin, -30, 30)))


def scaled(margin: "np.ndarray", is_rejected: "np.ndarray") -> tuple[float, float]:
    """Platt's scale and shift: two numbers that make held-out margins honest probabilities, by Newton's steps."""
    import numpy as np  # noqa: PLC0415

    scale, shift = 1.0, 0.0
    for _ in range(30):
        p = _probability(scale * margin + shift)
        off, spread = p - is_rejected, np.maximum(p * (1 - p), 1e-6)
        # a little prior keeps both finite where labels are told apart without a mistake
        slope = (float(off @ margin) + 1e-2 * (scale - 1), float(off.sum()) + 1e-2 * shift)
        a, b, c = float(spread @ (margin * margin)) + 1e-2, float(spread @ margin), float(spread.sum()) + 1e-2
        grid = a * c - b * b
        scale, shift = scale - (c * slope[0] - b * slope[1]) / grid, shift - (a * slope[1] - b * slope[0]) / grid
    return scale, shift


def fit(rows: Rows, is_rejected: "np.ndarray", margin_held_out: "np.ndarray") -> Head:
    """The head on all labels; what it makes of a margin comes from held-out ones."""
    return Head(fitted(rows, is_rejected), *scaled(margin_held_out, is_rejected))


def chances(head: Head, rows: Rows) -> "np.ndarray":
    """How likely each pair's response was rejected."""
    return _probability(head.scale * (margins(rows, head.weights[:-1]) + head.weights[-1]) + head.shift)


def held_out_margins(found: pl.Series, is_rejected: "np.ndarray", folds: "np.ndarray") -> "np.ndarray":
    """Of each pair the margin by the head that saw no pair of its fold."""
    import numpy as np  # noqa: PLC0415

    margin = np.zeros(len(folds))
    for fold in range(FOLDS):
        inside = folds == fold
        if inside.any() and not inside.all():
            weights = fitted(rows_of(found.filter(pl.Series(~inside))), is_rejected[~inside])
            margin[inside] = margins(rows_of(found.filter(pl.Series(inside))), weights[:-1]) + weights[-1]
    return margin


def decided(pairs: pl.DataFrame, chance: "np.ndarray", threshold: float | None) -> pl.DataFrame:
    """What the head makes of the rules' verdicts. Columns as the detector gives them."""
    p = pl.lit(pl.Series("chance", chance, dtype=pl.Float64)).round(6)
    status = pl.col("feedback_status")
    finds = (status != "rejected") & (p >= (threshold if threshold is not None else 2.0))
    takes_back = ((status == "rejected") & (p < DOUBT)) | ((status == "accepted") & (1 - p < DOUBT) & ~finds)
    new = pl.when(finds).then(pl.lit("rejected")).when(takes_back).then(pl.lit("neutral")).otherwise(status)
    return pairs.select(
        new.alias("feedback_status"),
        pl.when(finds | (new == "rejected"))
        .then(p)
        .when(new == "accepted")
        .then(1 - p)
        .otherwise("feedback_confidence")
        .round(6)
        .alias("feedback_confidence"),
        pl.when(finds)
        .then(pl.lit("explicit"))
        .when(new == "rejected")
        .then("correction_type")
        .alias("correction_type"),
        pl.when(finds)
        .then(pl.lit("head:objects"))
        .when(takes_back)
        .then(pl.lit("head:doubts"))
        .otherwise("reason")
        .alias("reason"),
    )


def tried(
    pairs: pl.DataFrame, found: pl.Series, is_rejected: "np.ndarray", folds: "np.ndarray"
) -> tuple[Trial, "np.ndarray"]:
    """Judge every labelled pair by the fold that did not see its conversation, and say whether the head is better."""
    import numpy as np  # noqa: PLC0415

    margin = held_out_margins(found, is_rejected, folds)
    chance = np.zeros(len(folds))
    for fold in range(FOLDS):  # the scale of a fold comes from the others, too
        inside = folds == fold
        if inside.any():
            scale, shift = scaled(margin[~inside], is_rejected[~inside])
            chance[inside] = _probability(scale * margin[inside] + shift)
    statuses = pairs["feedback_status"].to_numpy()
    threshold = objecting_from(chance, is_rejected, statuses != "rejected")
    verdicts = decided(pairs, chance, threshold)
    before = scores(statuses, pairs["feedback_confidence"].to_numpy(), is_rejected)
    after = scores(verdicts["feedback_status"].to_numpy(), verdicts["feedback_confidence"].to_numpy(), is_rejected)
    sure = (pairs["feedback_confidence"].to_numpy() >= SURE_RULE) & (statuses != "neutral")
    agrees = ((statuses == "rejected") == (is_rejected == 1))[sure]
    if len(agrees) >= FEWEST_FOUND and agrees.mean() < LEAST_AGREEMENT:
        used, reason = False, "labels_contradict_sure_rules"
    elif after["rejected_f1"] < before["rejected_f1"] or after["cost"] >= before["cost"]:
        used, reason = False, "not_better_than_the_rules"
    else:
        used, reason = True, "better_than_the_rules"
    return Trial(verdicts, threshold, used, reason, before, after), margin


def objecting_from(chance: "np.ndarray", is_rejected: "np.ndarray", may: "np.ndarray") -> float | None:
    """The least chance from which enough pairs are found, of those the rules do not reject, and 0.80 of them are right."""
    import numpy as np  # noqa: PLC0415

    order = np.argsort(-chance[may], kind="stable")
    sorted_chance, right = chance[may][order], np.cumsum(is_rejected[may][order])
    best = None
    for n in range(FEWEST_FOUND, len(order) + 1):
        share = right[n - 1] / n
        is_edge = n == len(order) or sorted_chance[n] < sorted_chance[n - 1]
        if is_edge and share >= LEAST_PRECISION:
            best = float(np.floor(sorted_chance[n - 1] * 1e6) / 1e6)
    return None if best is None else max(best, LEAST_CHANCE)


def scores(statuses: "np.ndarray", confidence: "np.ndarray", is_rejected: "np.ndarray") -> dict[str, float]:
    """Precision and recall of both classes, and the mean squared error of what was claimed (neutral claims an even chance)."""
    import numpy as np  # noqa: PLC0415

    found = {}
    for status, truth in (("rejected", is_rejected == 1), ("accepted", is_rejected == 0)):
        said = statuses == status
        hits = int((said & truth).sum())
        found[f"{status}_precision"] = hits / int(said.sum()) if said.any() else 0.0
        found[f"{status}_recall"] = hits / int(truth.sum()) if truth.any() else 0.0
        both = int(said.sum() + truth.sum())
        found[f"{status}_f1"] = 2 * hits / both if both else 0.0
    chance = np.where(statuses == "rejected", confidence, np.where(statuses == "accepted", 1 - confidence, 0.5))
    found["cost"] = float(np.mean((chance - is_rejected) ** 2))
    return found
