"""Rule C7: a head on one's own labels, which finds what the rules miss, and is not used where it is not better. Made-up pairs."""

import json
import random
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from dagster_project.cli import app
from dagster_project.systems.conversations import head
from dagster_project.systems.conversations.implicit import detect

GOOD = ("Thanks a lot!", "That's perfect", "Thanks, that helps", "Great, thank you")
BAD = ("That's wrong", "No, that's not right", "You didn't answer me", "That makes no sense")
DULL = "the number of people rowing over that old grey lake in winter mornings near our town".split()


def pairs(n: int, seed: int = 1) -> tuple[pl.DataFrame, np.ndarray]:
    """Answers about the weather in Kyoto are bad, and mostly nobody says so."""
    draw = random.Random(seed)
    rows, rejected = [], []
    for _ in range(n):
        is_bad = draw.random() < 0.4
        plain = " ".join(draw.sample(DULL, 6))
        response = f"Kyoto {plain} drizzle." if is_bad else f"Well {plain} museum."
        said = draw.random() < 0.4
        message = draw.choice(BAD if is_bad else GOOD) if said else f"Towers {draw.choice(DULL)} hill"
        rows.append(("Which tower is it?", response, message, 0.3, None, None))
        rejected.append(float(is_bad))
    columns = ["prev_query", "prev_response", "next_message", "similarity", "prev_intent", "next_intent"]
    schema = dict.fromkeys(columns, pl.String) | {"similarity": pl.Float64}
    found = pl.DataFrame(rows, schema, orient="row")
    return found.hstack(detect(found)), np.array(rejected)


def folds(n: int) -> np.ndarray:
    return np.arange(n) % head.FOLDS


def test_it_finds_objections_nobody_put_in_words() -> None:
    told, rejected = pairs(400)
    trial, margin = head.tried(told, head.features(told), rejected, folds(400))
    assert (trial.is_used, trial.reason) == (True, "better_than_the_rules")
    assert trial.with_head["rejected_f1"] > trial.rules["rejected_f1"] + 0.2
    fitted = head.fit(head.rows_of(head.features(told)), rejected, margin)
    others, truth = pairs(200, seed=2)
    chances = head.chances(fitted, head.rows_of(head.features(others)))
    verdicts = head.decided(others, chances, trial.threshold)
    assert set(verdicts["reason"].unique()) >= {"head:objects"}
    found = verdicts["feedback_status"].to_numpy() == "rejected"
    assert truth[found].mean() >= head.LEAST_PRECISION
    assert verdicts["feedback_confidence"].is_between(0, 1).all()
    assert verdicts.filter(pl.col("feedback_status") != "rejected")["correction_type"].null_count() == (~found).sum()


@pytest.mark.parametrize("kind", ["inverted", "random"])
def test_poisoned_labels_are_not_used(kind: str) -> None:
    told, rejected = pairs(400)
    poisoned = 1 - rejected if kind == "inverted" else np.random.default_rng(3).permutation(rejected)
    assert not head.tried(told, head.features(told), poisoned, folds(400))[0].is_used


def test_the_same_labels_give_the_same_bytes_and_no_word_stands_in_them() -> None:
    told, rejected = pairs(250)
    one, two = (head.fit(head.rows_of(head.features(told)), rejected, np.linspace(-1, 1, 250)) for _ in range(2))
    assert one.weights.tobytes() == two.weights.tobytes() and one[1:] == two[1:]
    assert one.weights.shape == (head.BUCKETS + 1,)
    alone = [head.features(told.slice(place, 1)).to_list()[0] for place in range(5)]
    assert alone == head.features(told.head(5)).to_list()


@pytest.mark.parametrize(("labels", "fitted_on"), [(0, 0), (199, 0), (200, 200), (299, 200), (300, 300), (1000, 675)])
def test_it_is_fitted_again_when_half_as_many_labels_came(labels: int, fitted_on: int) -> None:
    assert head.ladder(labels) == fitted_on


def test_what_so_many_labels_would_give(tmp_path: Path) -> None:
    told, rejected = pairs(600)
    lines = [
        {
            "prev_query": row["prev_query"],
            "prev_response": row["prev_response"],
            "next_message": row["next_message"],
            "label": "rejected" if is_bad else "accepted",
            "dialog": f"d{number}",
        }
        for number, (row, is_bad) in enumerate(zip(told.iter_rows(named=True), rejected, strict=True))
    ]
    path = tmp_path / "labelled.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines))
    asked = ["evaluate", "implicit", str(path), "--mistakes", "0", "--with-own-labels"]
    (found,) = json.loads(CliRunner().invoke(app, [*asked, "300", "--json"]).stdout)["with_own_labels"].values()
    assert (found["labels"], found["judged"], found["is_used"]) == (300, 300, True)
    assert found["with_head"]["f1"] > found["rules"]["f1"] + 0.2
    assert "used, better than the rules" in CliRunner().invoke(app, [*asked, "300"]).stdout
    assert "not used, too few of a class" in CliRunner().invoke(app, [*asked, "50"]).stdout
