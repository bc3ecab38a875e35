"""F12: harmful flags and correction requests are settled with a note, which lasts and which the next run honours."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from dagster_project.review.decisions import Decision, Decisions
from tests.conftest import complaint, copy_home, gristmill, made_once, run
from tests.systems.feedback.feedback_rows import add_feedback
from tests.tables import table

DAY = date(2026, 1, 10)
HARMFUL = {"feedback_type": "flag", "flag_type": "harmful", "flag_details": "It says\x1b[31m to drink it."}
DOWN = {"rating": -1, "original_query": "Who wrote Faust?", "original_response": "Schiller."}


# --- the log -----------------------------------------------------------------------------------------------------


def test_the_latest_line_holds(tmp_path: Path) -> None:
    """Whoever wrote it: there is nothing to vote on."""
    decisions = Decisions(tmp_path)
    decisions.append(Decision("f1", "settled", "ana", "called the user"), Decision("f2", "settled", "ana", "spam"))
    decisions.append(Decision("f2", "reopened", "bob"), Decision("f1", "settled", "bob", "answer withdrawn"))
    found = Decisions(tmp_path).settled()
    assert found.select("feedback_id", "reviewer", "note").rows() == [("f1", "bob", "answer withdrawn")]


def test_settling_is_no_verdict(tmp_path: Path) -> None:
    """D8: a distilled example may have the same id; its verdicts, and who still has to judge it, are as they were."""
    decisions = Decisions(tmp_path)
    decisions.append(Decision("x", "approved", "ana"), Decision("x", "settled", "ana", "done"))
    assert decisions.current().select("example_id", "verdict").rows() == [("x", "approved")]
    assert decisions.latest_votes()["line"].to_list() == [1]
    assert decisions.log()["verdict"].to_list() == ["approved"]
    assert decisions.problems() == []


# --- the commands ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def home_with_complaints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two harmful flags, two answers rated down, one of them twice; after one run. Not to be changed."""
    with made_once(tmp_path_factory, "home_with_complaints") as (home, is_new):
        if is_new:
            add_feedback(
                home / "sources" / "feedback.db",
                {"day": DAY, "feedback_id": "flag1", **HARMFUL},
                {"day": DAY, "feedback_id": "flag2", **HARMFUL, "original_query": "How hot?"},
                {"day": DAY, "feedback_id": "down1", **DOWN, "conversation_context": "User: hello"},
                {
                    "day": DAY,
                    "feedback_id": "down2",
                    **DOWN,
                    "user_id": None,
                    "session_id": "s7",
                    "feedback_type": "correction",
                    "correction": "That is wrong",
                    "conversation_context": "User: hello",
                },
                {
                    "day": DAY,
                    "feedback_id": "other",
                    "rating": -1,
                    "original_query": "What is 2 + 2?",
                    "original_response": "5",
                },
            )
            run(home)
        return home


@pytest.fixture
def home(home_with_complaints: Path, tmp_path: Path) -> Path:
    return copy_home(home_with_complaints, tmp_path / "home")


def rows(home: Path, queue: str, *options: str) -> list[dict[str, Any]]:
    done = gristmill(home, "review", "list", "--queue", queue, "--json", *options)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def ids(home: Path, queue: str, *options: str) -> list[tuple[str, str]]:
    return [(row["feedback_id"], row["status"]) for row in rows(home, queue, *options)]


def in_tables(home: Path) -> dict[str, list[str]]:
    tables = ("core__safety_queue", "core__correction_requests", "core__settlements")
    return {name: table(home, name)["feedback_id"].to_list() for name in tables}


@pytest.mark.slow
def test_from_the_queue_to_settled_and_back(home: Path) -> None:
    """Settled at once in every list, out of its table with the next run, visible ever after; reopened it comes back."""
    assert ids(home, "safety") == [("flag1", "open"), ("flag2", "open")]
    (faust, sum_) = rows(home, "corrections")
    names = ("feedback_id", "negative_count", "original_query", "original_response", "conversation_context", "comments")
    assert faust["feedback_id"] in ("down1", "down2")
    assert [faust[name] for name in names[1:]] == [2, "Who wrote Faust?", "Schiller.", "User: hello", ["That is wrong"]]
    assert [sum_[name] for name in names] == ["other", 1, "What is 2 + 2?", "5", None, []]

    done = gristmill(
        home, "review", "--reviewer", "ana", "settle", "flag1", faust["feedback_id"], "--note", "taken down"
    )
    assert done.stdout == f"settled flag1 as ana\nsettled {faust['feedback_id']} as ana\n"
    assert ids(home, "safety") == [("flag2", "open")]
    assert ids(home, "corrections", "--all") == [("other", "open"), (faust["feedback_id"], "settled")]
    run(home)
    assert in_tables(home) == {
        "core__safety_queue": ["flag2"],
        "core__correction_requests": ["other"],
        "core__settlements": sorted(["flag1", faust["feedback_id"]]),
    }
    (_, settled) = rows(home, "safety", "--all")
    assert [settled[name] for name in ("feedback_id", "status", "note", "reviewer")] == [
        "flag1",
        "settled",
        "taken down",
        "ana",
    ]
    assert settled["flag_details"] == HARMFUL["flag_details"]
    assert "settled   by ana" in gristmill(home, "why", "flag1").stdout
    assert "waits     number 1 of the safety queue" in gristmill(home, "why", "flag2").stdout

    assert gristmill(home, "review", "reopen", "flag1", "--reviewer", "bob").stdout == "reopened flag1 as bob\n"
    run(home)
    assert in_tables(home)["core__safety_queue"] == ["flag1", "flag2"]


@pytest.mark.slow
def test_for_people(home: Path) -> None:
    """One line an item, or one in full; what a user wrote commands no terminal."""
    listed = gristmill(home, "review", "list", "--queue", "corrections").stdout.splitlines()
    assert len(listed) == 3 and "Who wrote Faust?" in listed[0] and listed[2] == "2 open"
    told = gristmill(home, "review", "next", "--queue", "safety").stdout
    assert "--- what was reported\nIt says" in told and "\x1b" not in told and "by u0, session s1" in told
    assert json.loads(gristmill(home, "review", "next", "--queue", "safety", "--json").stdout)["feedback_id"] == "flag1"


@pytest.mark.slow
def test_what_cannot_be_settled(home: Path) -> None:
    """One line, and nothing is recorded, also of what could have been."""
    for words, problem in (
        (("settle", "flag1", "nobody", "--note", "x"), "'nobody' is in neither"),
        (("settle", "flag1", "--note", " "), "a note is needed"),
        (("reopen", "flag1"), "'flag1' is not settled"),
        (("list", "--queue", "harm"), "--queue must be one of safety, corrections, not 'harm'"),
    ):
        assert problem in complaint(gristmill(home, "review", *words))
    assert not (home / "state" / "reviews.jsonl").exists()
