"""core__contenders, core__duplicates, train__excluded, release__leaving: what a release settles, one reason after the other (T1)."""

from pathlib import Path
from typing import Any

import pytest

from tests.sql import training
from tests.sql.harness import run_sql

UP = {"sentiment": "positive", "is_contested": False, "quality_weight": 0.6}
DOWN = {"sentiment": "negative", "is_contested": False, "quality_weight": 0.6}
CORRECTION = {"effective_type": "correction", "sentiment": None, "correction_hash": 7, "record_hash": 70}
PREFERENCE = {"effective_type": "preference", "sentiment": None, "preferred_hash": 7, "quality_weight": 0.6}

# What a record's texts say, its weight, and the one reason with what it names: what comes first in T1 wins.
REASONS = [
    ({}, 0.6, (None, None)),
    ({"answer_has_tokens": True}, 0.6, ("control_tokens", None)),
    ({"asked_has_tokens": True, "asked_item": "exam:1"}, 0.1, ("control_tokens", None)),
    ({"asked_item": "exam:1"}, 0.1, ("low_weight", None)),
    ({"asked_item": "exam:1", "answer_item": "exam:2"}, 0.6, ("contaminated", "exam:1")),
    ({"answer_item": "exam:2"}, 0.6, ("contaminated", "exam:2")),
    # texts the record is not made of
    ({"better_has_tokens": True, "note_has_tokens": True, "better_item": "e:1", "note_item": "e:2"}, 0.6, (None, None)),
]


@pytest.mark.parametrize(("traits", "weight", "outcome"), REASONS)
def test_one_reason_the_first_that_applies(
    tmp_path: Path, traits: dict[str, Any], weight: float, outcome: tuple[str | None, str | None]
) -> None:
    made = training.tables(tmp_path, [{**UP, "quality_weight": weight}], traits={"f1": traits})
    assert {(c["reason"], c["detail"]) for c in made["core__contenders"]} == {outcome}
    excluded = {(row["reason"], row["detail"]) for row in made["train__excluded"]}
    assert excluded == ({outcome} if outcome[0] else set())


ROLES = [
    # (the row, format, which texts it is made of)
    (UP, "instruction", {"asked", "answer"}),
    (UP, "unpaired", {"asked", "answer"}),
    (CORRECTION, "correction", {"asked", "answer", "better", "note"}),
    ({**CORRECTION, "correction_type": "full_replacement"}, "preference", {"asked", "answer", "better"}),
    (PREFERENCE, "preference", {"asked", "answer", "better"}),
]


@pytest.mark.parametrize(("row", "format", "made_of"), ROLES)
@pytest.mark.parametrize("role", ["asked", "answer", "better", "note"])
def test_only_texts_of_the_record_count(
    tmp_path: Path, row: dict[str, Any], format: str, made_of: set[str], role: str
) -> None:
    """T8, T1: control tokens, items of evaluation sets and characters."""
    traits = {f"{role}_has_tokens": True, f"{role}_length": 9}
    lengths = {f"{name}_length": 0 for name in ("asked", "answer", "better", "note")}
    made = training.tables(tmp_path, [row], traits={"f1": {**lengths, **traits}})
    (contender,) = (c for c in made["core__contenders"] if c["format"] == format)
    assert (contender["reason"] == "control_tokens", contender["char_count"]) == (
        role in made_of,
        9 * (role in made_of),
    )


def test_a_distilled_example_is_made_of_its_better_answer_and_where_it_shows_it_of_the_attempt(tmp_path: Path) -> None:
    for role, formats in (("better", {"instruction", "preference"}), ("answer", {"preference"}), ("note", set())):
        made = training.tables(
            tmp_path / role,
            examples=[{"has_attempt": True, "attempt_hash": 5, "answer_hash": 6}],
            traits={"e1": {f"{role}_has_tokens": True}},
        )
        assert {c["format"] for c in made["core__contenders"] if c["reason"] == "control_tokens"} == formats


def test_the_better_answer_of_a_pair_of_ratings_is_the_other_rows(tmp_path: Path) -> None:
    rows = [{"feedback_id": "down", "answer_hash": 1, **DOWN}, {"feedback_id": "up", "answer_hash": 2, **UP}]
    told = {"up": {"answer_item": "exam:3", "language": "de", "is_refusal": True}, "down": {"language": "en"}}
    made = training.tables(tmp_path, rows, traits=told)
    (pair,) = (c for c in made["core__contenders"] if c["source"] == "feedback_rating_pair")
    found = pair["reason"], pair["detail"], pair["language"], pair["is_refusal"], pair["side_a"], pair["side_b"]
    assert found == ("contaminated", "exam:3", "de", True, 2, 1)


def test_what_differs_in_a_masked_item_alone_is_the_same(tmp_path: Path) -> None:
    """T8, T2: keys see kinds; F8 and the candidates' own keys do not."""
    rows = [
        {
            "feedback_id": f"f{n}",
            "response_id": f"r{n}",
            "prompt_key": f"p{n}",
            "thread_key": n,
            "answer_hash": n,
            **UP,
            "quality_weight": 0.8 - n / 10,
        }
        for n in (1, 2)
    ]
    masked = {"masked_prompt_key": "p", "masked_thread_key": 9, "masked_answer_hash": 8, "masked_split": "train"}
    prompts = training.prompts_of([{"prompt_key": "p"}])
    made = training.tables(tmp_path, rows, traits={"f1": masked, "f2": masked}, prompts=prompts)
    contenders = {c["id"]: c for c in made["core__contenders"]}
    assert {(c["prompt_key"], c["thread_key"], c["side_a"]) for c in contenders.values()} == {("p", 9, 8)}
    assert {contenders[row["duplicate_of"]]["origin_id"] for row in made["core__duplicates"]} == {"f1"}
    assert {row["prompt_key"] for row in made["train__excluded"]} == {"p"}


def test_splits_are_those_of_components_or_of_sessions(tmp_path: Path) -> None:
    """T3: a session's own split, where there is one, comes before the prompt's."""
    rows = [{"feedback_id": f"f{n}", "prompt_key": "p1", "thread_key": n, **UP} for n in (1, 2)]
    prompts = [{"prompt_key": "p1", "component": "c", "split": "test", "own_split": "train", "alike_group": "c"}]
    made = training.tables(tmp_path, rows, traits={"f2": {"record_split": "validation"}}, prompts=prompts)
    assert {(c["origin_id"], c["split"], c["component"]) for c in made["core__contenders"]} == {
        ("f1", "test", "c"),
        ("f2", "validation", "c"),
    }


def test_each_later_reason_looks_at_what_earlier_ones_left(tmp_path: Path) -> None:
    """T1: what a recipe leaves out is nobody's survivor."""
    rows = [
        {"feedback_id": name, "response_id": name, **UP, "quality_weight": w} for name, w in (("a", 0.7), ("b", 0.6))
    ]
    first = training.tables(tmp_path / "first", rows)
    heavy = {c["id"] for c in first["core__contenders"] if c["origin_id"] == "a"}
    recipe = [{"id": one, "detail": "max_chars"} for one in sorted(heavy)]
    made = training.tables(tmp_path / "then", rows, more={"core__recipe_exclusions": recipe})
    assert made["core__duplicates"] == []
    assert {(row["id"], row["reason"], row["detail"]) for row in made["train__excluded"]} == {
        (one, "recipe", "max_chars") for one in heavy
    }
    names = ("core__contenders", "core__recipe_exclusions", "core__duplicates")
    leaving = run_sql(tmp_path / "leaving", "release__leaving", {name: made[name] for name in names if made.get(name)})
    assert set(leaving["origin_id"]) == {"b"}
