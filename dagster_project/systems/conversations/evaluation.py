"""How well the detector of implicit feedback does on labelled conversations: per source, since annotators differ (issue 4).

Precision, recall and F1 per label with the 95 % bootstrap interval of F1, a confusion matrix, and the mistakes it was surest
of. A source that only tells rejected from the rest is scored on that distinction.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from dagster_project.columns.rounding import round_half_up, share
from dagster_project.columns.similarity import TextModel, similarities
from dagster_project.errors import GristmillError
from dagster_project.systems.conversations.implicit import SIMILARITY_THRESHOLD, detect

LABELS = ("rejected", "accepted", "neutral")
REST = "rest"
NEEDED = ("prev_query", "prev_response", "next_message", "label")
OPTIONAL = ("source", "eval_mode", "prev_intent", "next_intent", "dialog")
REJECTED_VS_REST = "rejected_vs_rest"
WITHOUT_SOURCE = "all data"
DRAWS = 1_000  # of the bootstrap
SEED = 20_260_201
DECIMALS = 4


@dataclass(frozen=True)
class Scores:
    """Of one label."""

    precision: float  # 0 where the label was never predicted
    recall: float  # 0 where no row has the label
    f1: float
    support: int
    f1_interval: tuple[float, float] | None  # null where no row has the label


@dataclass(frozen=True)
class Evaluation:
    """Of one source, or of everything."""

    n: int
    labels: dict[str, Scores]
    confusion: dict[str, dict[str, int]]
    binary: bool  # the labels tell only rejected from the rest


def read_labelled(path: Path) -> pl.DataFrame:
    """The labelled conversations of a JSONL file. The first bad line is named."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")  # other line breaks may stand in a string
    except OSError as error:
        raise GristmillError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise GristmillError(f"{path}: is not UTF-8") from error
    rows = [_row(line, f"{path}, line {number}") for number, line in enumerate(lines, start=1) if line.strip()]
    if not rows:
        raise GristmillError(f"{path}: has no rows; one JSON object a line with {', '.join(NEEDED)} is expected")
    return pl.DataFrame(rows, dict.fromkeys((*NEEDED, *OPTIONAL), pl.String), orient="row")


def _row(line: str, where: str) -> tuple[str | None, ...]:
    try:
        found = json.loads(line)
    except ValueError as error:
        raise GristmillError(f"{where}: is not JSON ({error})") from error
    except RecursionError as error:
        raise GristmillError(f"{where}: is nested too deep") from error
    if not isinstance(found, dict):
        raise GristmillError(f"{where}: is no JSON object")
    for name in NEEDED:
        if name not in found:
            raise GristmillError(f"{where}: {name} is missing")
    for name in (*NEEDED, *OPTIONAL):
        value = found.get(name)
        may_be_null = name in ("prev_response", *OPTIONAL)
        if not isinstance(value, str) and not (value is None and may_be_null):
            raise GristmillError(f"{where}: {name} must be a string, not {json.dumps(value)[:40]}")
    label = found["label"].strip().lower()
    if label not in LABELS:
        raise GristmillError(f"{where}: label must be {', '.join(LABELS)}, not {found['label']!r}")
    found |= {"label": label, "source": (found.get("source") or "").strip() or WITHOUT_SOURCE}
    return tuple(_as_text(found.get(name)) for name in (*NEEDED, *OPTIONAL))


def _as_text(value: str | None) -> str | None:
    """Without half surrogates, which JSON may spell and no text may hold."""
    return value if value is None else value.encode("utf-8", "replace").decode("utf-8")


def judged(rows: pl.DataFrame, model: TextModel, threshold: float = SIMILARITY_THRESHOLD) -> pl.DataFrame:
    """The rows with what the detector says of them."""
    pairs = rows.with_columns(similarity=similarities(rows["prev_query"], rows["next_message"], model))
    return pl.concat([pairs, detect(pairs, threshold)], how="horizontal")


def evaluate(decisions: pl.DataFrame) -> tuple[dict[str, Evaluation], Evaluation]:
    """Per source in the order of the file, and of everything together."""
    sources = {
        str(name): scored(rows, _is_binary(rows)) for (name,), rows in decisions.group_by("source", maintain_order=True)
    }
    return sources, scored(decisions, all(found.binary for found in sources.values()))


def _is_binary(rows: pl.DataFrame) -> bool:
    """Whether the labels tell only rejected from the rest: the rows say so, or beside rejected there is one other label."""
    return bool(
        (rows["eval_mode"].str.strip_chars().str.to_lowercase() == REJECTED_VS_REST).fill_null(False).any()
    ) or (rows["label"].n_unique() == 2 and "rejected" in rows["label"].unique().to_list())


def is_right(decisions: pl.DataFrame) -> pl.Series:
    """Whether each decision agrees with the label; where only rejected is told from the rest, on that."""
    binary = [str(name) for (name,), rows in decisions.group_by("source") if _is_binary(rows)]
    same_side = (pl.col("label") == "rejected") == (pl.col("feedback_status") == "rejected")
    same = pl.col("label") == pl.col("feedback_status")
    return decisions.select(pl.when(pl.col("source").is_in(binary)).then(same_side).otherwise(same)).to_series()


def scored(rows: pl.DataFrame, binary: bool = False) -> Evaluation:
    """The scores of some rows. Binary ones have a row `rest` beside the labels: accepted and neutral as one."""
    counts = {(label, found): n for label, found, n in rows.group_by("label", "feedback_status").len().iter_rows()}
    confusion = {label: {found: counts.get((label, found), 0) for found in LABELS} for label in LABELS}
    labels, predictions = rows["label"], rows["feedback_status"]
    columns = [(label, labels == label, predictions == label) for label in LABELS]
    if binary:
        columns.append((REST, labels != "rejected", predictions != "rejected"))
    draws = _draws([pair for _, *pair in columns])
    scores = {name: _scores(actual, predicted, draws[place]) for place, (name, actual, predicted) in enumerate(columns)}
    return Evaluation(rows.height, scores, confusion, binary)


def _scores(actual: pl.Series, predicted: pl.Series, interval: tuple[float, float] | None) -> Scores:
    hits, said, support = int((actual & predicted).sum()), int(predicted.sum()), int(actual.sum())
    return Scores(
        share(hits, said, DECIMALS) if said else 0.0,
        share(hits, support, DECIMALS) if support else 0.0,
        share(2 * hits, said + support, DECIMALS) if said + support else 0.0,
        support,
        interval if support else None,
    )


def _draws(columns: Sequence[Sequence[pl.Series]]) -> list[tuple[float, float] | None]:
    """The 95 % percentile interval of each F1 over rows drawn with replacement.

    Rows of the same label and prediction are alike, so a draw is one of a multinomial distribution over those kinds.
    """
    import numpy as np  # noqa: PLC0415

    facts = pl.DataFrame([series.alias(str(place)) for place, series in enumerate(s for pair in columns for s in pair)])
    kinds = facts.group_by(pl.all()).len().sort(pl.all())
    shares = kinds["len"].to_numpy() / facts.height
    drawn = np.random.default_rng(SEED).multinomial(facts.height, shares, size=DRAWS)
    found: list[tuple[float, float] | None] = []
    for place in range(len(columns)):
        actual, predicted = (kinds[str(2 * place + side)].to_numpy() for side in (0, 1))
        hits, both = (
            drawn[:, actual & predicted].sum(axis=1),
            drawn[:, actual].sum(axis=1) + drawn[:, predicted].sum(axis=1),
        )
        f1 = 2 * hits[both > 0] / both[both > 0]
        low, high = np.quantile(f1, (0.025, 0.975)).tolist() if f1.size else (0.0, 0.0)
        found.append((round_half_up(low, DECIMALS), round_half_up(high, DECIMALS)) if f1.size else None)
    return found


def worst_mistakes(decisions: pl.DataFrame, n: int) -> pl.DataFrame:
    """The wrong decisions with the highest confidence. Where only rejected is told from the rest, others are no mistakes."""
    wrong = ~is_right(decisions)
    return decisions.filter(wrong).sort("feedback_confidence", descending=True, maintain_order=True).head(n)


def as_json(sources: dict[str, Evaluation], everything: Evaluation) -> dict[str, Any]:
    """For programs: sources and all, in one shape."""
    return {"sources": {name: _as_dict(found) for name, found in sources.items()}, "all": _as_dict(everything)}


def _as_dict(found: Evaluation) -> dict[str, Any]:
    labels = {
        name: {
            "precision": scores.precision,
            "recall": scores.recall,
            "f1": scores.f1,
            "support": scores.support,
            "f1_interval": scores.f1_interval,
        }
        for name, scores in found.labels.items()
        if name in LABELS
    }
    return {"n": found.n, "labels": labels, "confusion": found.confusion}
