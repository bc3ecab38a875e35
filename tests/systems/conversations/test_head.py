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
from dagster_project.systems.conversations.head_features import BUCKETS, features
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


def labelled(n: int, seed: int = 1, rejected: np.ndarray | None = None, chosen: bool = False) -> pl.DataFrame:
    """With labels, each pair a conversation of its own."""
    told, truth = pairs(n, seed)
    is_bad = truth if rejected is None else rejected
    labels = ["rejected" if bad else "accepted" for bad in is_bad]
    threads = [f"thread {place}" for place in range(n)]
    return told.with_columns(
        pl.Series("label", labels), pl.Series("conversation", threads), pl.lit(chosen).alias("is_chosen")
    )


def judged_by_nobodys_fold(taught: head.Learnt, told: pl.DataFrame) -> pl.DataFrame:
    chance = head.chances(features(told), taught.heads, np.full(told.height, head.FOLDS))
    return head.decided(told, chance, taught.objects_from, taught.objects_low)


def test_it_finds_objections_nobody_put_in_words() -> None:
    """C7: where its held-out precision is at least 0.80."""
    taught = head.learnt(labelled(400))
    assert (taught.is_used, taught.state) == (True, "better_than_the_rules")
    others, truth = pairs(200, seed=2)
    verdicts = judged_by_nobodys_fold(taught, others)
    found = verdicts["feedback_status"].to_numpy() == "rejected"
    before = others["feedback_status"].to_numpy() == "rejected"
    assert head.f1(found, truth) > head.f1(before, truth) + 0.2
    assert set(verdicts["reason"].unique()) >= {"head:objects"}
    assert truth[found].mean() >= head.LEAST_PRECISION
    assert verdicts["feedback_confidence"].is_between(0, 1).all()
    assert verdicts.filter(pl.col("feedback_status") != "rejected")["correction_type"].null_count() == (~found).sum()


PRIOR = [
    # status, confidence of the rule, chance of a rejection -> what becomes of it, from 0.8 on it objects
    (("rejected", 0.9, 0.7), ("rejected", 0.7, "rule")),
    (("rejected", 0.9, 0.25), ("rejected", 0.25, "rule")),
    (("rejected", 0.9, 0.24), ("neutral", 0.5, "head:doubts")),
    (("neutral", 0.5, 0.79), ("neutral", 0.5, "rule")),
    (("neutral", 0.5, 0.8), ("rejected", 0.8, "head:objects")),
    (("accepted", 0.69, 0.1), ("accepted", 0.9, "rule")),
    (("accepted", 0.69, 0.76), ("neutral", 0.5, "head:doubts")),
    (("accepted", 0.69, 0.9), ("rejected", 0.9, "head:objects")),
    (("accepted", 0.8, 0.9), ("neutral", 0.5, "head:doubts")),  # what a sure rule accepts it never turns round
]


@pytest.mark.parametrize(("given", "made"), PRIOR)
def test_what_it_may_change_of_a_verdict(given: tuple[str, float, float], made: tuple[str, float, str]) -> None:
    status, confidence, chance = given
    rule = {
        "feedback_status": status,
        "feedback_confidence": confidence,
        "nominal_confidence": 0.9,
        "confidence_low": 0.6,
        "correction_type": "rephrased" if status == "rejected" else None,
        "reason": "rule",
    }
    (row,) = head.decided(pl.DataFrame([rule]), np.array([chance]), 0.8, 0.7).to_dicts()
    assert (row["feedback_status"], row["feedback_confidence"], row["reason"]) == made
    assert row["confidence_low"] == {"rule": 0.6, "head:objects": 0.7, "head:doubts": 0.0}[made[2]]
    kinds = {"rule": rule["correction_type"], "head:objects": "explicit", "head:doubts": None}
    assert row["correction_type"] == kinds[made[2]] and row["rejection_chance"] == chance
    (without,) = head.decided(pl.DataFrame([rule]), np.array([chance]), None, 0.0).to_dicts()
    assert without["reason"] != "head:objects"


def poisoned(kind: str, told: pl.DataFrame, truth: np.ndarray) -> np.ndarray:
    draw = np.random.default_rng(3)
    statuses = told["feedback_status"].to_numpy()
    return {
        "inverted": 1 - truth,
        "random": draw.permutation(truth),
        "two in five flipped": np.where(draw.random(len(truth)) < 0.4, 1 - truth, truth),
        "all bad": np.ones(len(truth)),
        "thanks are bad": np.where(statuses == "accepted", 1, truth),
        "complaints are good": np.where(statuses == "rejected", 0, truth),
    }[kind]


@pytest.mark.parametrize(
    "kind", ["inverted", "random", "two in five flipped", "all bad", "thanks are bad", "complaints are good"]
)
@pytest.mark.parametrize("seed", range(3))
def test_poisoned_labels_make_nothing_worse(kind: str, seed: int) -> None:
    """C7: no head is used then."""
    told, truth = pairs(400, seed)
    taught = head.learnt(labelled(400, seed, poisoned(kind, told, truth)))
    assert not taught.is_used


def test_the_same_labels_give_the_same_bytes_and_no_word_stands_in_them() -> None:
    told = labelled(250)
    one, two = head.learnt(told), head.learnt(told)
    assert [each.weights.tobytes() for each in one.heads] == [each.weights.tobytes() for each in two.heads]
    assert one.heads[0].weights.shape == (BUCKETS,) and len(one.heads) == head.FOLDS + 1
    whole = features(told.head(5))
    for place in range(5):
        alone = features(told.slice(place, 1))
        among = slice(whole.starts[place], whole.starts[place + 1])
        assert alone.places.tolist() == whole.places[among].tolist()
        assert alone.values.tolist() == whole.values[among].tolist()


def test_every_block_of_features_is_as_loud_and_no_run_reaches_into_the_next_response() -> None:
    told, _ = pairs(1)
    texts = ["", "a", "abc", "Straße 5\n\n ok", None]
    rows = pl.concat([told.with_columns(prev_response=pl.lit(text, pl.String)) for text in texts])
    found = features(rows)
    assert len(found) == 5 and (found.places < BUCKETS).all() and (found.places >= 0).all()
    sizes = np.diff(found.starts)
    again = features(rows.reverse())
    assert np.diff(again.starts).tolist() == sizes.tolist()[::-1]
    # "<space>abc<space>" has three runs of 3, two of 4, one of 5; of words there are one and one pair
    assert sizes[2] - sizes[0] == (3 + 2 + 1 + 1 + 1) - (0 + 0 + 0 + 0 + 0)


@pytest.mark.parametrize(
    ("labels", "fitted_on"), [(0, 0), (199, 0), (200, 200), (299, 200), (300, 300), (1000, 675), (10**9, 25_929)]
)
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
