"""How often each rule of the detector is right, and what that makes of its decisions' confidence (rule C7).

`rule_figures.json` holds counts and nothing else: of each rule and labelled source how often it decided and how often the
label agreed. `measure_rules` writes it from labelled conversations. From the counts come, here and nowhere else:

- `feedback_confidence`: (right + 10 x prior) / (n + 10) per source, averaged with equal weight over the sources where the rule
  fired at least 10 times, since a large source is no better than a small one; where there is none, over all its rows. The
  prior is the precision of all rules of the same status, averaged in the same way. A user who only goes on has said
  nothing: the rules of GOES_ON stay below what a machine signal needs. Where most labels are "accepted" they look better
  than they are; on real sets that were kept aside they were wrong in 22 to 44 % of what people called rejections.
- `confidence_low`: the lower end of the 90 % interval of what was measured alone. A rule that was never seen has none: 0.
"""

import json
from collections.abc import Mapping
from functools import cache
from math import sqrt
from pathlib import Path
from typing import NamedTuple

import polars as pl

from dagster_project.columns.rounding import round_half_up

DATA_FILES = ("rule_figures.json",)
FIGURES = Path(__file__).with_name(DATA_FILES[0])
PRIOR_WEIGHT = 10
FEWEST_FIRED = 10  # in a source, for it to be heard by itself
GOES_ON = (
    "accepted:new_topic",
    "accepted:names_something_from_it",
    "accepted:asks_about_it",
)
GOES_ON_AT_MOST = 0.69
UNKNOWN_PRIOR = 0.5  # where no rule of the status was ever measured
Z_90 = 1.6448536269514722
DECIMALS = 6

Counts = Mapping[str, tuple[int, int]]  # of each source how often a rule was right, and how often it decided


class Figure(NamedTuple):
    """What is known of one rule."""

    n: int
    precision: float | None  # null where it never fired
    low: float  # of the 90 % interval of the precision
    high: float
    confidence: float


def status_of(reason: str) -> str:
    """What a rule decides, by the first part of its name."""
    group = reason.split(":", maxsplit=1)[0]
    return {"accepted": "accepted", "neutral": "neutral"}.get(group, "rejected")


def figures(counts: Mapping[str, Counts]) -> dict[str, Figure]:
    """Of each rule, from its counts."""
    priors = {}
    for status in ("rejected", "accepted", "neutral"):
        together: dict[str, tuple[int, int]] = {}
        for reason, sources in counts.items():
            if status_of(reason) == status:
                for source, (right, n) in sources.items():
                    right_before, n_before = together.get(source, (0, 0))
                    together[source] = right_before + right, n_before + n
        heard = _heard(together)
        priors[status] = sum(right / n for right, n in heard) / len(heard) if heard else UNKNOWN_PRIOR
    found = {reason: _figure(sources, priors[status_of(reason)]) for reason, sources in counts.items()}
    capped = {reason: min(figure.confidence, GOES_ON_AT_MOST) for reason, figure in found.items() if reason in GOES_ON}
    return found | {reason: found[reason]._replace(confidence=confidence) for reason, confidence in capped.items()}


def _heard(sources: Counts) -> list[tuple[int, int]]:
    """The sources that count each by itself; where a rule fired too seldom in every one, all of them as one."""
    often = [(right, n) for right, n in sources.values() if n >= FEWEST_FIRED]
    right, n = (sum(column) for column in zip(*sources.values(), strict=True)) if sources else (0, 0)
    return often or ([(right, n)] if n else [])


def _figure(sources: Counts, prior: float) -> Figure:
    heard = _heard(sources)
    if not heard:
        return Figure(0, None, 0.0, 1.0, round_half_up(prior, DECIMALS))
    shrunk = [(right + PRIOR_WEIGHT * prior) / (n + PRIOR_WEIGHT) for right, n in heard]
    precision = sum(right / n for right, n in heard) / len(heard)
    # the mean of several shares is as sure as one share of so many rows
    rows = len(heard) ** 2 / sum(1 / n for _, n in heard)
    low, high = wilson(precision, rows)
    return Figure(
        sum(n for _, n in sources.values()),
        round_half_up(precision, DECIMALS),
        round_half_up(low, DECIMALS),
        round_half_up(high, DECIMALS),
        round_half_up(sum(shrunk) / len(shrunk), DECIMALS),
    )


def wilson(share: float, n: float, z: float = Z_90) -> tuple[float, float]:
    """Wilson's interval of a share of n rows."""
    if not n:
        return 0.0, 1.0
    centre, spread = share + z * z / (2 * n), 1 + z * z / n
    reach = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, (centre - reach) / spread), min(1.0, (centre + reach) / spread)


def stored_counts() -> dict[str, dict[str, tuple[int, int]]]:
    """The counts the project ships with."""
    stored = json.loads(FIGURES.read_text(encoding="utf-8"))
    return {reason: {source: (right, n) for source, (right, n) in found.items()} for reason, found in stored.items()}


@cache
def _by_reason(reasons: tuple[str, ...]) -> pl.DataFrame:
    stored = stored_counts()
    found = figures({reason: stored.get(reason, {}) for reason in reasons})
    rows = [(reason, found[reason].confidence, found[reason].low) for reason in reasons]
    columns = {"reason": pl.String, "feedback_confidence": pl.Float64, "confidence_low": pl.Float64}
    return pl.DataFrame(rows, columns, orient="row")


def confidences(reasons: tuple[str, ...]) -> pl.DataFrame:
    """Of each of these rules, in their order: reason, feedback_confidence, confidence_low."""
    return _by_reason(reasons)
