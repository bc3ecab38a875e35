"""`gristmill review` for scripts: what it prints, what it records, and how it fails."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from dagster_project import cli
from dagster_project.cli import review_command as commands
from dagster_project.review.decisions import Decision, Decisions
from tests.conftest import complaint, gristmill
from tests.review import review_command
from tests.review.queue_of_tests import home_with, item, queue

Review = Callable[..., "CompletedProcess[str]"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(cli.app, "registered_groups", list(cli.app.registered_groups))
    monkeypatch.setattr(commands, "load_queue", None)
    review_command.prepare()
    return home_with(tmp_path, queue("a", "b", "c"))


@pytest.fixture
def review(home: Path) -> Review:
    def run(*arguments: str, who: str = "ana") -> "CompletedProcess[str]":
        env = {"GRISTMILL_REVIEWER": who, "GRISTMILL_SECOND_REVIEW_SHARE": "1"}
        return gristmill(home, "review", *arguments, env=env)

    return run


def printed(done: "CompletedProcess[str]") -> list[str]:
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def lines(home: Path) -> list[tuple[str, str, str, str]]:
    return Decisions(home).log().select("reviewer", "verdict", "example_id", "note").rows()


def test_verdicts_by_id(home: Path, review: Review) -> None:
    assert printed(review("approve", "a", "b", "--note", "fine")) == ["approved a as ana", "approved b as ana"]
    assert printed(review("reject", "b", "--reviewer", "bob")) == ["rejected b as bob"]
    assert printed(review("--reviewer", "eve", "reject", "c")) == ["rejected c as eve"]
    assert lines(home) == [
        ("ana", "approved", "a", "fine"),
        ("ana", "approved", "b", "fine"),
        ("bob", "rejected", "b", ""),
        ("eve", "rejected", "c", ""),
    ]
    assert Decisions(home).log()["content_hash"].to_list() == [item(one).content_hash for one in "abbc"]


def test_an_unknown_id_records_nothing(home: Path, review: Review) -> None:
    line = complaint(review("approve", "a", "evil\x1b[2J"))
    assert line == "gristmill: 'evil\\x1b[2J' is not in the review queue; nothing was recorded"
    assert lines(home) == []


def test_a_verdict_can_be_changed_after_its_item_has_left_the_queue(home: Path, review: Review) -> None:
    review("approve", "a")
    home_with(home.parent, [])
    assert printed(review("reject", "a")) == ["rejected a as ana"]
    assert Decisions(home).log()["content_hash"].to_list() == [item("a").content_hash] * 2


def test_undo(home: Path, review: Review) -> None:
    review("approve", "a", "b")
    review("approve", "c", who="bob")
    assert printed(review("undo")) == ["taken back: ana's verdict on b"]
    assert printed(review("undo", "a")) == ["taken back: ana's verdict on a"]
    assert complaint(review("undo")) == "gristmill: ana has no verdict to take back"
    assert complaint(review("undo", "c")) == "gristmill: ana has no verdict on 'c' to take back"
    assert Decisions(home).current()["example_id"].to_list() == ["c"]


def test_list_and_next(review: Review) -> None:
    assert printed(review("list")) == [
        "     1  a  pending  code   0.60  low_score  Question of a?",
        "     2  b  pending  code   0.60  low_score  Question of b?",
        "     3  c  pending  code   0.60  low_score  Question of c?",
        "3 waiting for ana",
    ]
    review("reject", "a")
    assert printed(review("list", "--limit", "1"))[-1] == "2 waiting for ana, the first 1 shown"
    assert printed(review("list", "--all"))[0] == "     1  a  rejected  code   0.60  low_score  Question of a?"
    assert [json.loads(line)["id"] for line in printed(review("list", "--json"))] == ["b", "c"]
    assert printed(review("next")) == [
        "b  example  domain code  score 0.60  flags incomplete",
        "why here: low_score",
        "users: thumbs down: does not work",
        *("", "--- query", "Question of b?", "", "--- attempt", "The old answer is here"),
        *("", "--- answer", "The new answer is here"),
    ]
    assert json.loads(review("next", "--json").stdout)["answer"] == "The new answer is here"
    review("approve", "b", "c")
    assert printed(review("next")) == ["nothing waits for ana"]
    assert printed(review("next", "--json")) == ["null"]


def test_a_second_reviewer_is_not_told_the_first_verdict(home: Path, review: Review) -> None:
    review("reject", "a")
    assert "1  a  pending" in printed(review("list", "--all", who="bob"))[0]
    assert "1  a  rejected" in printed(review("list", "--all"))[0]
    review("approve", "a", who="bob")
    assert "1  a  disputed" in printed(review("list", "--all", who="bob"))[0]
    assert "1  a  pending" in printed(review("list", "--all", who="eve"))[0]
    review("approve", "a")  # ana has been shown that they differ
    assert Decisions(home).log()["is_blind"].to_list() == [True, True, False]


def test_nothing_from_the_data_controls_the_terminal(home: Path, review: Review) -> None:
    evil = "\x1b[2J\x9b31m\u202e"
    home_with(
        home.parent, [item(evil, query=evil, answer=evil, domain=evil, reasons=[evil], flags=[evil], feedback=[evil])]
    )
    for arguments in (["list"], ["next"], ["next", "--json"], ["list", "--json"], ["approve", evil], ["undo", evil]):
        done = review(*arguments)
        assert done.returncode == 0, done.stderr
        assert not set("\x1b\x9b\u202e") & set(done.stdout)


def test_import(home: Path, review: Review) -> None:
    one = item("a")
    entry = {
        "id": "a",
        "query": one.query,
        "answer": one.answer,
        "attempt": one.attempt,
        "verdict": "approved",
        "note": "ok",
    }
    file = home / "batch.json"
    file.write_text(json.dumps([entry]), encoding="utf-8")
    assert printed(review("import", str(file))) == ["recorded 1 as ana, 0 were recorded before"]
    assert printed(review("import", str(file))) == ["recorded 0 as ana, 1 were recorded before"]
    assert lines(home) == [("ana", "approved", "a", "ok")]
    file.write_text(json.dumps([{**entry, "verdict": "yes"}]), encoding="utf-8")
    assert complaint(review("import", str(file))).endswith(
        "item 'a': verdict must be \"approved\", \"rejected\" or null, not 'yes'"
    )


def test_agreement(home: Path, review: Review) -> None:
    (text,) = printed(review("agreement"))
    assert text == "no example was judged by two people yet: too few for Cohen's kappa"
    for example_id, verdict in (("a", "approved"), ("b", "rejected")):
        for who in ("ana", "bob"):
            Decisions(home).append(Decision(example_id, verdict, who, content_hash="same"))
    (text,) = printed(review("agreement"))
    assert text.startswith("Cohen's kappa 1.00, 95 % interval ")
    assert text.endswith(" to 1.00; 2 of 2 verdicts agree (n = 2)")
    assert json.loads(review("agreement", "--json").stdout)["kappa"] == 1.0


def test_a_broken_line_of_the_log_is_a_warning(home: Path, review: Review) -> None:
    review("approve", "a")
    path = Decisions(home).path
    path.write_bytes(b"{broken\n" + path.read_bytes())
    done = review("list")
    assert printed(done)[-1] == "2 waiting for ana"
    assert done.stderr == f"warning: {path} line 1 is left out: it is not JSON\n"


def test_without_a_terminal_the_window_points_to_the_verbs(review: Review) -> None:
    assert complaint(review()) == (
        "gristmill: review needs a terminal; elsewhere use `gristmill review approve ID`, `reject ID` or `import FILE`"
    )


@pytest.mark.parametrize("name", [" ", "x" * 101, "a\nb", "\x1b[2J"])
def test_a_name_that_is_none(home: Path, review: Review, name: str) -> None:
    assert "a reviewer's name has 1 to 100 printable characters" in complaint(
        review("approve", "a", "--reviewer", name)
    )
    assert lines(home) == []


def test_the_login_name_is_the_last_resort(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "loginname")
    assert printed(gristmill(home, "review", "approve", "a")) == ["approved a as loginname"]

    def nobody() -> str:
        raise OSError("no such user")

    monkeypatch.setattr("getpass.getuser", nobody)
    assert "--reviewer NAME" in complaint(gristmill(home, "review", "approve", "a"))
