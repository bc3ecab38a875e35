"""The head over the rules, fitted on the labels of this installation (C7), and what it is worth: two tables of one step.

Fitted only where the labels it is fitted on changed, or their pairs, or the code. `core__detector_head` holds weights of hashed
features and no text; where the head is not in use it is empty, and the rules' verdicts stand as they are.
"""

import hashlib
import json
from typing import Any

import polars as pl

from dagster_project.code_identity import code_identity
from dagster_project.columns.rounding import round_half_up
from dagster_project.engines import reading
from dagster_project.engines.stored_tables import store
from dagster_project.lake.lake import Lake
from dagster_project.run.made import Made
from dagster_project.run.mill_run import MillRun
from dagster_project.systems.conversations.columns import LABEL_KINDS
from dagster_project.systems.conversations.evaluation import LABELS, scored
from dagster_project.systems.conversations.head import (
    FEWEST_LABELS,
    FOLDS,
    Head,
    Learnt,
    calibration_error,
    learnt,
    squared_error,
)
from dagster_project.systems.conversations.implicit_confidence import wilson
from dagster_project.systems.conversations.labelled_pairs import PAIRS, chosen_labels, with_texts
from dagster_project.systems.conversations.tables import TABLES

HEAD, FIGURES = "core__detector_head", "metric__detector_head"
DECIMALS = 6
Z_95 = 1.959963984540054
Row = dict[str, Any]


def make_detector_head(run: MillRun) -> list[Made]:
    """Fit it again if what it is fitted on is not what it was."""
    lake = run.lake
    labels = chosen_labels(lake)
    inputs = inputs_of(lake, labels)
    is_current = lake.catalog.inputs.get(HEAD) == inputs
    if not is_current:
        taught = (
            learnt(with_texts(lake, labels).with_columns(pl.col("thread_id").alias("conversation")))
            if labels.height >= FEWEST_LABELS
            else Learnt(False, "too_few_labels")
        )
        store(lake, HEAD, [stored(taught)])
        store(lake, FIGURES, [figures(labels, taught)] if lake.rows(PAIRS) else [])
        lake.catalog.inputs[HEAD] = inputs
        run.report(HEAD, labels.height)
    return [Made(table, is_current=is_current, told={"labels": labels.height}) for table in (HEAD, FIGURES)]


def inputs_of(lake: Lake, labels: pl.DataFrame) -> str:
    """A hash of all a head is made from: labels, their pairs, whose versions tell of their texts, and the code."""
    days = {f"event_date={day}" for day in labels["event_date"]}
    after = {f"event_date={day}" for day in labels["event_date"].dt.offset_by("1d")}
    rows = labels.select(pl.all().exclude("event_date")).write_json()
    followers = reading.scan(lake, PAIRS, sorted(days | after)).select("turn_key", "text_hash")
    said = followers.join(labels.lazy().select(turn_key="next_turn_key"), on="turn_key", how="semi").collect()
    hashes = [str(found) for found in said.sort("turn_key").rows()]
    contracts = [TABLES[table].digest for table in (HEAD, FIGURES)]
    parts = [code_identity(__name__), contracts, bool(lake.rows(PAIRS)), rows, hashes]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def stored(taught: Learnt) -> pl.DataFrame:
    """As rows: a head a fold, and the one for everybody else."""
    rows = [
        {
            "fold": fold,
            "bias": head.bias,
            "weights": head.weights.tolist(),
            "objects_from": taught.objects_from,
            "objects_low": taught.objects_low,
        }
        for fold, head in enumerate(taught.heads if taught.is_used else ())
    ]
    return pl.DataFrame(rows, TABLES[HEAD].polars_schema, orient="row")


def head_in_use(lake: Lake) -> tuple[tuple[Head, ...], float | None, float] | None:
    """The heads, from which chance on they object, and how often that is right at least; nothing where none is used."""
    rows = reading.read(lake, HEAD).sort("fold")
    if rows.is_empty():
        return None
    heads = tuple(Head(weights.to_numpy(), bias) for weights, bias in zip(rows["weights"], rows["bias"], strict=True))
    assert len(heads) == FOLDS + 1
    return heads, rows["objects_from"][0], rows["objects_low"][0]


def figures(labels: pl.DataFrame, taught: Learnt) -> pl.DataFrame:
    """Of the rules alone and with the head, per label: how well it does on conversations it did not see."""
    by_label = {f"{label}_label_count": int((labels["label"] == label).sum()) for label in LABELS}
    by_kind = {f"{kind}_count": int((labels["label_kind"] == kind).sum()) for kind in LABEL_KINDS}
    fitted_on = {
        "is_in_use": taught.is_used,
        "state": taught.state,
        "label_count": labels.height,
        **by_label,
        **by_kind,
        "first_labelled_at": labels["labelled_at"].min(),
        "last_labelled_at": labels["labelled_at"].max(),
        "objects_from": taught.objects_from,
    }
    rows = [
        {"judge": judge, "label": label, **fitted_on, **found}
        for judge, columns in (
            ("rules", ("feedback_status", "feedback_confidence")),
            ("head", ("head_status", "head_confidence")),
        )
        for label, found in _held_out(taught.held_out, *columns).items()
    ]
    return pl.DataFrame(rows, TABLES[FIGURES].polars_schema, orient="row").sort("judge", "label")


def _held_out(rows: pl.DataFrame | None, status: str, claim: str) -> dict[str, Row]:
    """Per label; nothing where nothing was held out."""
    if rows is None:
        return {"rejected": {"held_out_count": 0}, "accepted": {"held_out_count": 0}}
    said = rows.select("label", feedback_status=status)
    statuses, claims = rows[status].to_numpy(), rows[claim].to_numpy()
    is_rejected = (rows["label"] == "rejected").to_numpy().astype(float)
    is_right = (statuses == "rejected") == (is_rejected == 1)
    of_all = {
        "held_out_count": rows.height,
        "calibration_error": round_half_up(calibration_error(statuses, claims, is_right), DECIMALS),
        "squared_error": round_half_up(squared_error(statuses, claims, is_rejected), DECIMALS),
    }
    found = {}
    for label in ("rejected", "accepted"):
        counts = (int((said["feedback_status"] == label).sum()), int((said["label"] == label).sum()))
        hits = int(((said["feedback_status"] == label) & (said["label"] == label)).sum())
        shares = {
            name: value
            for name, n in zip(("precision", "recall"), counts, strict=True)
            for name, value in _share(name, hits, n).items()
        }
        scores = scored(said).labels[label]
        low, high = scores.f1_interval or (None, None)
        found[label] = of_all | shares | {"f1": scores.f1, "f1_low": low, "f1_high": high}
    return found


def _share(name: str, hits: int, n: int) -> dict[str, float | None]:
    """With Wilson's 95 % interval; null where there is nothing to share."""
    if not n:
        return {name: None, f"{name}_low": None, f"{name}_high": None}
    values = (hits / n, *wilson(hits / n, n, Z_95))
    return {
        f"{name}{end}": round_half_up(value, DECIMALS) for end, value in zip(("", "_low", "_high"), values, strict=True)
    }
