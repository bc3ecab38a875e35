"""The head in the pipeline (C7): fitted on the labels alone, judged by labels it did not see, kept by day (G12). Made-up pairs."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl

from dagster_project.contracts import TABLES
from dagster_project.engines.stored_tables import store, store_days
from dagster_project.lake.lake import Lake
from dagster_project.systems.conversations.detector_head import make_detector_head
from dagster_project.systems.conversations.head import FOLDS, chances, fold_of
from dagster_project.systems.conversations.head_features import features
from dagster_project.systems.conversations.head_verdicts import make_head_verdicts
from dagster_project.systems.conversations.labelled_pairs import chosen_labels, followed_pairs, with_texts
from dagster_project.systems.conversations.turn_pairs import make_turn_pairs
from tests.sql.harness import frame
from tests.systems.conversations.test_head import pairs as made_up
from tests.tables import table_of

RAW, LABELS, HEAD, VERDICTS = (
    "raw_conversations__turns",
    "core__turn_labels",
    "core__detector_head",
    "core__head_verdicts",
)
FIGURES = "metric__detector_head"
START, AS_OF = datetime(2026, 1, 20, 12, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)
PER_DAY = 50
Row = dict[str, Any]


def conversations(n: int) -> tuple[list[Row], list[Row]]:
    """So many threads of a question, its answer and what was said next; and what a user pressed about each."""
    told, rejected = made_up(n)
    turns, labels = [], []
    for number, (pair, is_bad) in enumerate(zip(told.iter_rows(named=True), rejected, strict=True)):
        at = START + timedelta(days=number // PER_DAY, minutes=number % PER_DAY)
        who = {"user_id": f"user{number}", "session_id": "s", "event_date": at.date(), "source_file": "f.db"}
        said = ((pair["prev_query"], pair["prev_response"]), (pair["next_message"], "Fine."))
        turns += [
            {
                "turn_key": f"user{number}/{place}",
                "turn_number": place,
                "occurred_at": at + timedelta(minutes=place),
                "query": query,
                "response": response,
                **who,
            }
            for place, (query, response) in enumerate(said, 1)
        ]
        labels.append(
            {
                "turn_key": f"user{number}/1",
                "thread_id": f"user{number} / s",
                "label_id": f"reactions:{number:06}",
                "label": "rejected" if is_bad else "accepted",
                "label_kind": "reaction",
                "labelled_at": at + timedelta(minutes=1),
                "is_chosen": False,
            }
        )
    return turns, labels


class Home:
    """Turns and labels in a lake, and what is made of them without a run."""

    def __init__(self, folder: Path, turns: Sequence[Row], labels: Sequence[Row]) -> None:
        self.lake = Lake(folder)
        store_days(self.lake, RAW, frame(RAW, turns).sort("event_date", "turn_key"))
        self.label(labels)

    def label(self, labels: Sequence[Row]) -> "Home":
        store(self.lake, LABELS, [frame(LABELS, labels)] if labels else [])
        return self

    def make(self) -> tuple[bool, int]:
        """Whether the head was fitted, and how many turns were judged by it."""
        chosen = SimpleNamespace(similarity_model="wordllama", similarity_threshold=0.8, split_key="g")
        run: Any = SimpleNamespace(lake=self.lake, config=chosen, as_of=AS_OF, report=lambda table, rows: None)
        make_turn_pairs(run)
        head, _ = make_detector_head(run)
        (verdicts,) = make_head_verdicts(run)
        self.lake.commit()
        self.lake.sweep()
        self.lake = Lake(self.lake.home)
        return not head.is_current, verdicts.told["made_again"]

    def table(self, name: str) -> pl.DataFrame:
        return table_of(self.lake, name).sort(TABLES[name].grain)

    @property
    def states(self) -> set[tuple[bool, str, int]]:
        return set(self.table(FIGURES).select("is_in_use", "state", "label_count").rows())

    @property
    def bytes(self) -> dict[str, bytes]:
        return {
            f"{table} {partition}": self.lake.path(table, partition).read_bytes()
            for table in (HEAD, VERDICTS, FIGURES)
            for partition in self.lake.partitions(table)
        }


def test_it_finds_what_the_rules_miss_and_says_how_well(tmp_path: Path) -> None:
    turns, labels = conversations(260)
    home = Home(tmp_path, turns, labels)
    assert home.make() == (True, 260)
    assert home.states == {(True, "better_than_the_rules", 200)}
    found = {(row["judge"], row["label"]): row for row in home.table(FIGURES).iter_rows(named=True)}
    assert set(found) == {(judge, label) for judge in ("rules", "head") for label in ("rejected", "accepted")}
    rules, head = found["rules", "rejected"], found["head", "rejected"]
    assert head["recall"] > rules["recall"] + 0.2 and head["f1"] > rules["f1"] + 0.2
    for judge in (rules, head):
        for share in ("precision", "recall", "f1"):
            assert judge[f"{share}_low"] <= judge[share] <= judge[f"{share}_high"] <= 1
    assert head["squared_error"] < rules["squared_error"]
    first = labels[:200]
    counts = {name: head[name] for name in ("rejected_label_count", "accepted_label_count", "neutral_label_count")}
    is_bad = sum(label["label"] == "rejected" for label in first)
    assert list(counts.values()) == [is_bad, 200 - is_bad, 0]
    assert (head["reaction_count"], head["rating_count"], head["verdict_count"], head["held_out_count"]) == (
        200,
        0,
        0,
        200,
    )
    assert head["last_labelled_at"] == first[-1]["labelled_at"]
    # those nobody labelled, too: four days of labels, and the turns after them
    objects = home.table(VERDICTS).filter(pl.col("reason") == "head:objects")
    truth = {label["turn_key"]: label["label"] for label in labels}
    right = [truth[key] == "rejected" for key in objects["turn_key"]]
    assert sum(right) / len(right) >= 0.8 and any(int(key[4:].split("/")[0]) >= 200 for key in objects["turn_key"])
    assert set(objects["feedback_status"]) == {"rejected"} and set(objects["correction_type"]) == {"explicit"}
    assert set(objects["nominal_confidence"]) == {0.9} and (objects["confidence_low"] > 0.6).all()


def test_a_labelled_turn_is_judged_by_the_fold_that_did_not_see_its_conversation(tmp_path: Path) -> None:
    turns, labels = conversations(260)
    home = Home(tmp_path, turns, labels)
    home.make()
    pairs = with_texts(home.lake, followed_pairs(home.lake).collect().sort("turn_key"))
    learnt_from = {label["thread_id"] for label in labels[:200]}
    folds = pl.Series([fold_of(thread) if thread in learnt_from else FOLDS for thread in pairs["thread_id"]]).to_numpy()
    in_use = home.table(HEAD)
    heads: Any = [
        SimpleNamespace(weights=weights.to_numpy(), bias=bias)
        for weights, bias in zip(in_use["weights"], in_use["bias"], strict=True)
    ]
    expected = chances(features(pairs), heads, folds).round(6).tolist()
    assert home.table(VERDICTS)["rejection_chance"].to_list() == expected


def test_the_same_labels_give_the_same_bytes_whatever_came_before(tmp_path: Path) -> None:
    """C7, G12: at 250 labels it is the head of the first 200; at 300 it is fitted again, and all turns are judged again."""
    turns, labels = conversations(320)
    home = Home(tmp_path / "one", turns, labels[:120])
    assert home.make() == (True, 0) and home.states == {(False, "too_few_labels", 120)}
    assert home.table(HEAD).is_empty() and home.lake.partitions(VERDICTS) == {}
    assert home.label(labels[:210]).make() == (True, 320)
    assert home.label(labels[:299]).make() == (False, 0)
    other = Home(tmp_path / "two", turns, labels[:260])
    other.make()
    assert home.bytes == other.bytes
    assert home.label(labels).make() == (True, 320) and home.states == {(True, "better_than_the_rules", 300)}
    # labels that went, of a user who took them back: as if they had never been
    assert home.label(labels[:230]).make() == (True, 320) and home.bytes == other.bytes
    assert home.label(labels[:199]).make() == (True, 0) and home.lake.partitions(VERDICTS) == {}


def test_a_new_day_alone_is_judged(tmp_path: Path) -> None:
    turns, labels = conversations(260)
    days = sorted({turn["event_date"] for turn in turns})
    home = Home(tmp_path, [turn for turn in turns if turn["event_date"] != days[-1]], labels[:220])
    assert home.make() == (True, 250)
    store_days(home.lake, RAW, frame(RAW, [turn for turn in turns if turn["event_date"] == days[-1]]))
    assert home.make() == (False, 60)  # it, and the day whose last message may come after midnight
    assert home.make() == (False, 0)


def test_pairs_chosen_for_what_they_teach_judge_nothing(tmp_path: Path) -> None:
    """C7: they are learnt from; where there are no others, nothing says whether the head is better, and it is not used."""
    turns, labels = conversations(220)
    all_chosen = [label | {"label_kind": "verdict", "is_chosen": True} for label in labels]
    home = Home(tmp_path, turns, all_chosen)
    home.make()
    assert home.states == {(False, "too_few_to_judge_by", 200)}
    assert home.label([*all_chosen[:100], *labels[100:]]).make() == (True, 220)
    assert set(home.table(FIGURES)["held_out_count"]) == {100}


def test_labels_nobody_can_believe_leave_the_rules_as_they_are(tmp_path: Path) -> None:
    turns, labels = conversations(220)
    other = {"rejected": "accepted", "accepted": "rejected"}
    inverted = [label | {"label": other[label["label"]]} for label in labels]
    home = Home(tmp_path, turns, inverted)
    home.make()
    assert home.states == {(False, "labels_contradict_sure_rules", 200)} and home.lake.partitions(VERDICTS) == {}
    one_sided = [label | {"label": "accepted"} for label in labels]
    home.label(one_sided).make()
    assert home.states == {(False, "too_few_of_a_class", 200)}


def test_a_message_about_an_earlier_turn_teaches_nothing_of_the_last_one(tmp_path: Path) -> None:
    """C6."""
    turns, labels = conversations(210)
    home = Home(tmp_path, turns, labels)
    at = labels[0]["labelled_at"]
    reference = {"message_turn_key": "user0/2", "rank": 1, "turn_key": "user0/0", "score": 0.5, "event_date": at.date()}
    store_days(home.lake, "core__turn_references", frame("core__turn_references", [reference]))
    home.make()
    taught = chosen_labels(home.lake)
    assert "user0/1" not in set(taught["turn_key"]) and taught["turn_key"][0] == "user1/1" and taught.height == 200
