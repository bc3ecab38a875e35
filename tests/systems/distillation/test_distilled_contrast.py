"""What an example's texts and marks say of whether it may teach (D6, D7, T1, S4): read from real SQLite files."""

from pathlib import Path
from typing import Any

import pytest

from dagster_project.columns import edit_distance
from tests.systems.distillation.distilled_database import ANSWER, NORMAL, PAIRS, UNIFIED, Row, at, derive, source, write

KEPT = "c" * 95_001
MARKS: list[tuple[str, list[Row], bool]] = [
    # (question, its rows, newest first; whether the source itself says it is ready)
    ("one", [{"training_ready": 1}], True),
    ("zero", [{"training_ready": 0}], False),
    ("two", [{"training_ready": 2}], False),
    ("null", [{}], False),
    ("filled", [{}, {"training_ready": 1}], True),
    ("zero is a value", [{"training_ready": 0}, {"training_ready": 1}], False),
]
CONTRASTS: dict[str, tuple[str, str, float, bool]] = {
    # name: (attempt, answer, changed_fraction, is_hardly_changed)
    "five of a hundred": ("c" * 95, "c" * 95 + "n" * 5, 0.05, False),
    "five of 101": ("c" * 96, "c" * 96 + "n" * 5, 0.049505, True),
    "rounds to five": (KEPT, KEPT + "n" * 5_000, 0.05, True),
    "an emoji counts twice": ("c" * 38, "c" * 38 + "🌾", 0.05, False),
    "moved": ("😀a", "a😀", 0.8, False),
    "moved back": ("a😀", "😀a", 0.5, False),
}


def made(folder: Path, rows: dict[str, list[Row]]) -> dict[str, Any]:
    home = folder / "home"
    write(source(home), rows)
    return derive(home).examples


def test_ready_as_the_source_says(tmp_path: Path) -> None:
    """D6, D2: training_ready = 1 as the source set it; the first of an example's rows that has a value gives it."""
    rows = [
        {"id": f"{query}{place}", "query": query, "created_at": at(-place), **row}
        for query, stored, _ in MARKS
        for place, row in enumerate(stored)
    ]
    found = made(tmp_path, {UNIFIED: rows, NORMAL: [{"id": "e", "query": "older generation", "human_reviewed": 1}]})
    assert {f"{query}0": found[f"{query}0"]["is_source_ready"] for query, _, _ in MARKS} == {
        f"{query}0": is_ready for query, _, is_ready in MARKS
    }
    assert not found["examples:e"]["is_source_ready"]


def test_under_five_percent_unrounded(tmp_path: Path) -> None:
    """D7, T1, S4: 5000 of 100,001 is shown as 0.05 and is less."""
    rows = [
        {"id": name, "query": name, "sam_attempt": attempt, "claude_response": answer}
        for name, (attempt, answer, _, _) in CONTRASTS.items()
    ]
    found = made(tmp_path, {UNIFIED: [*rows, {"id": "alone", "query": "alone"}]})
    assert {name: (found[name]["changed_fraction"], found[name]["is_hardly_changed"]) for name in CONTRASTS} == {
        name: expected for name, (_, _, *rest) in CONTRASTS.items() for expected in [tuple(rest)]
    }
    assert (found["alone"]["changed_fraction"], found["alone"]["is_hardly_changed"]) == (None, False)


def test_too_long_to_compare_is_changed_and_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S4's cap: no figure, a mark, and D7 and T1 take it as changed."""
    monkeypatch.setattr(edit_distance, "LONGEST_PRODUCT", 200)
    texts = {"long": ("a" * 20, "a" * 20 + "."), "short": ("a" * 10, "b" * 20)}
    rows = [
        {"id": name, "query": name, "sam_attempt": attempt, "claude_response": answer}
        for name, (attempt, answer) in texts.items()
    ]
    found = made(tmp_path, {UNIFIED: rows})
    columns = ("changed_fraction", "edit_distance_mark", "is_hardly_changed")
    assert [tuple(found[name][column] for column in columns) for name in texts] == [
        (None, "too_long", False),
        (1.0, None, False),
    ]


def test_an_attempt_nobody_sees(tmp_path: Path) -> None:
    """T1: whether the teacher talks of an attempt that neither question nor context shows."""
    wrong, earlier = f"Your answer is wrong. {ANSWER}", f"The previous response missed this. {ANSWER}"
    unified: list[Row] = [
        {"id": "plain", "query": "Why is it so?"},
        {"id": "talks", "query": "How is it so?", "claude_response": wrong},
        {"id": "asked", "query": "Is my answer right? It is so.", "claude_response": wrong},
        {"id": "earlier", "query": "When is it so?", "claude_response": earlier},
        {"id": "shown", "query": "Sure?", "query_context": "User: Why?\nAssistant: So.", "claude_response": earlier},
    ]
    pairs: list[Row] = [{"id": "p", "prompt": "Where is it so?", "good_response": wrong}]
    found = made(tmp_path, {UNIFIED: unified, PAIRS: pairs})
    assert {name: row["is_unseen_attempt"] for name, row in found.items()} == {
        "plain": False,
        "talks": True,
        "asked": False,
        "earlier": True,
        "shown": False,
        "preference_pairs:p": True,
    }
