"""The log of decisions: nothing that was confirmed is ever lost, and what holds follows from the lines alone (D8, G12)."""

import json
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagster_project.errors import GristmillError
from dagster_project.review import decision_lines
from dagster_project.review.decisions import Decision, Decisions

NOON = datetime(2026, 1, 24, 12, tzinfo=UTC)
TEXTS = st.text(st.characters(codec="utf-8"))
NAMES = st.text(st.characters(codec="utf-8"), min_size=1)
DECISIONS = st.builds(
    Decision,
    NAMES,
    st.sampled_from(decision_lines.WORDS),
    NAMES,
    TEXTS,
    st.none() | TEXTS,
    st.booleans(),
    st.datetimes(datetime(2000, 1, 1), datetime(2099, 1, 1), timezones=st.just(UTC)),
)


def said(*lines: str) -> list[Decision]:
    """'ana approved a' and so on, each a minute earlier than the one before: clocks do not decide."""
    words = [line.split() for line in lines]
    return [
        Decision(example, verdict, who, content_hash="seen", decided_at=NOON - timedelta(minutes=number))
        for number, (who, verdict, example) in enumerate(words)
    ]


def holds(home: Path, contents: pl.DataFrame | None = None) -> dict[str, tuple[str, str]]:
    current = Decisions(home).current(contents)
    return {row["example_id"]: (row["verdict"], row["reviewer"]) for row in current.iter_rows(named=True)}


def test_a_decision_is_one_line(tmp_path: Path) -> None:
    decisions = Decisions(tmp_path)
    decisions.append(Decision("a", "approved", "ana", "fine\nreally", "c0ffee", True, NOON))
    assert decisions.path == tmp_path / "state" / "reviews.jsonl"
    assert decisions.path.read_text(encoding="utf-8") == (
        '{"example_id": "a", "verdict": "approved", "reviewer": "ana", "note": "fine\\nreally", '
        '"decided_at": "2026-01-24T12:00:00.000000+00:00", "content_hash": "c0ffee", "is_blind": true}\n'
    )
    assert decisions.path.stat().st_mode & 0o777 == 0o600
    assert decisions.current().rows() == [("a", "approved", "ana", "fine\nreally", NOON, "c0ffee")]


def test_without_a_log_nothing_holds(tmp_path: Path) -> None:
    decisions = Decisions(tmp_path)
    assert decisions.current().columns == ["example_id", "verdict", "reviewer", "note", "decided_at", "content_hash"]
    assert decisions.current().is_empty()
    assert decisions.problems() == []
    assert not decisions.path.exists()


@pytest.mark.parametrize(
    ("lines", "held"),
    [
        (["ana approved a"], {"a": ("approved", "ana")}),
        (["ana approved a", "ana rejected a"], {"a": ("rejected", "ana")}),
        (["ana approved a", "ana undone a"], {}),
        (["ana approved a", "ana undone a", "ana rejected a"], {"a": ("rejected", "ana")}),
        (["ana approved a", "ana noted a"], {"a": ("approved", "ana")}),
        (["ana noted a"], {}),
        (["ana approved a", "bob approved a"], {"a": ("approved", "bob")}),
        (["ana approved a", "bob rejected a"], {"a": ("disputed", "bob")}),
        (["ana approved a", "bob rejected a", "bob undone a"], {"a": ("approved", "ana")}),
        (["ana approved a", "bob rejected a", "ana rejected a"], {"a": ("rejected", "ana")}),
        (["ana approved a", "bob rejected a", "eve rejected a"], {"a": ("rejected", "eve")}),
        (
            ["ana approved a", "bob rejected a", "eve approved a", "ana approved b"],
            {"a": ("approved", "eve"), "b": ("approved", "ana")},
        ),
        (["ana rejected b", "ana approved a"], {"a": ("approved", "ana"), "b": ("rejected", "ana")}),
    ],
)
def test_what_holds(tmp_path: Path, lines: list[str], held: dict[str, Any]) -> None:
    """One voice a reviewer, their latest line; the majority holds, a tie is disputed; the latest line that says so is named."""
    Decisions(tmp_path).append(*said(*lines))
    assert holds(tmp_path) == held


def test_an_approval_is_of_the_texts_that_were_seen_and_a_rejection_stays(tmp_path: Path) -> None:
    Decisions(tmp_path).append(
        *said("ana approved a", "ana rejected b", "ana approved c", "ana approved d", "bob rejected d")
    )
    now = pl.DataFrame({"example_id": ["a", "b", "d"], "content_hash": ["edited"] * 3})
    assert holds(tmp_path, now) == {"b": ("rejected", "ana"), "c": ("approved", "ana"), "d": ("rejected", "bob")}
    assert holds(tmp_path, now.with_columns(pl.lit("seen").alias("content_hash")))["a"] == ("approved", "ana")


# --- broken lines ------------------------------------------------------------------------------------------------


def test_a_line_cut_short_anywhere_is_ignored_and_repaired_by_the_next_append(tmp_path: Path) -> None:
    first, last, more = said("ana approved a", "ana approved b", "ana approved c")
    for length in range(len(last.to_line()) + 1):
        decisions = Decisions(tmp_path / str(length))
        decisions.append(first)
        with decisions.path.open("ab") as file:
            file.write(last.to_line()[:length])
        is_whole = length >= len(last.to_line()) - 1  # only the line end is missing: the decision is all there
        assert set(holds(tmp_path / str(length))) == ({"a", "b"} if is_whole else {"a"})
        assert decisions.problems() == []
        decisions.append(more)
        expected = [first, last, more] if is_whole else [first, more]
        assert decisions.path.read_bytes() == b"".join(one.to_line() for one in expected)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"{half", "it is not JSON"),
        (b"\x00\x00\x00", "it is not JSON"),
        (b'{"example_id": "\xff"}', "it is not JSON"),
        (b"[" * 5000, "it is not JSON"),
        (b"[1]", "it is not a JSON object"),
        (
            b'{"verdict": "approved", "reviewer": "ana", "decided_at": "2026-01-01"}',
            "example_id is missing or not a text",
        ),
        (
            b'{"example_id": "", "verdict": "approved", "reviewer": "ana", "decided_at": "2026-01-01"}',
            "example_id is missing",
        ),
        (
            b'{"example_id": "x", "verdict": "maybe", "reviewer": "ana", "decided_at": "2026-01-01"}',
            "the verdict is one of",
        ),
        (
            b'{"example_id": "x", "verdict": "approved", "reviewer": "ana", "decided_at": "soon"}',
            "decided_at is not an ISO time: 'soon'",
        ),
        (
            b'{"example_id": "\\ud800", "verdict": "approved", "reviewer": "ana", "decided_at": "2026-01-01"}',
            "it holds half a character",
        ),
    ],
)
def test_a_broken_line_in_the_middle_is_named_and_the_others_count(tmp_path: Path, line: bytes, problem: str) -> None:
    before, after = said("ana approved a", "ana approved b")
    decisions = Decisions(tmp_path)
    decisions.append(before)
    with decisions.path.open("ab") as file:
        file.write(line + b"\n")
    decisions.append(after)
    assert set(holds(tmp_path)) == {"a", "b"}
    (found,) = decisions.problems()
    assert found.startswith(f"{decisions.path} line 2 is left out: {problem}")
    assert line in decisions.path.read_bytes()  # left alone: a person may mend it


@given(st.lists(DECISIONS, max_size=5))
def test_reading_whole_and_reading_line_by_line_are_the_same(decisions: list[Decision]) -> None:
    data = b"".join(decision.to_line() for decision in decisions)
    whole, none = decision_lines.parse_log(data, "log")
    careful, problems = decision_lines.parse_log(data + b"\n{}\n", "log")
    assert whole.equals(careful)
    assert none == []
    assert len(problems) == 1
    assert [json.loads(line)["note"] for line in data.splitlines()] == whole["note"].to_list()
    assert whole["decided_at"].to_list() == [decision.decided_at for decision in decisions]


def test_a_log_written_by_other_means_is_read(tmp_path: Path) -> None:
    """Only the required fields, other ways to write a time, blank lines."""
    decisions = Decisions(tmp_path)
    decisions.path.parent.mkdir()
    line = '{{"example_id": "{}", "verdict": "approved", "reviewer": "ana", "decided_at": "{}"}}\n'
    times = {"a": "2026-01-24T12:00:00Z", "b": "2026-01-24T13:00+01:00", "c": "2026-01-24T12:00:00"}
    text = "\n\n".join(line.format(name, moment) for name, moment in times.items())
    decisions.path.write_text(text, encoding="utf-8")
    assert decisions.current()["decided_at"].to_list() == [NOON] * 3
    assert decisions.log()["is_blind"].to_list() == [True] * 3


# --- trouble while writing ---------------------------------------------------------------------------------------


def test_what_cannot_be_saved_is_said_and_leaves_no_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = said("ana approved a", "ana rejected a")
    decisions = Decisions(tmp_path)
    decisions.append(first)
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:20]))  # a disk that is full after 20 bytes
    with pytest.raises(GristmillError, match=r"^not saved: cannot write .*reviews\.jsonl: no space left"):
        decisions.append(second)
    monkeypatch.undo()
    assert decisions.path.read_bytes() == first.to_line()


def test_a_state_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("in the way", encoding="utf-8")
    with pytest.raises(GristmillError, match="not saved: cannot write"):
        Decisions(tmp_path).append(*said("ana approved a"))


@pytest.mark.parametrize(
    "wrong", [("", "approved", "ana"), ("a", "maybe", "ana"), ("a", "approved", ""), ("\ud800", "approved", "ana")]
)
def test_what_is_no_decision_is_refused(wrong: tuple[str, str, str]) -> None:
    with pytest.raises(GristmillError):
        Decision(*wrong)


WRITER = """
import sys
from pathlib import Path
from dagster_project.review.decisions import Decision, Decisions
home, who, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
decisions = Decisions(home)
print("ready", flush=True)
sys.stdin.readline()
for number in range(count):
    decisions.append(Decision(f"{who}{number}", "approved", who, "n" * (number % 700)))
    print(number, flush=True)
"""


def writer(home: Path, who: str, count: int) -> "subprocess.Popen[str]":
    arguments = [sys.executable, "-c", WRITER, str(home), who, str(count)]
    process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout and process.stdout.readline() == "ready\n"
    return process


def test_reviewers_writing_at_once_lose_nothing_and_neither_does_one_that_is_killed(tmp_path: Path) -> None:
    """Two write 300 lines each; a third is killed in the middle: all it had been told was saved is there."""
    writers = {who: writer(tmp_path, who, count) for who, count in {"ana": 300, "bob": 300, "eve": 100_000}.items()}
    for process in writers.values():
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    eve = writers.pop("eve")
    assert eve.stdout
    confirmed = [eve.stdout.readline() for _ in range(50)]
    eve.send_signal(signal.SIGKILL)
    confirmed += eve.stdout.readlines()
    for process in (*writers.values(), eve):
        process.communicate()
    decisions = Decisions(tmp_path)
    decisions.append(*said("ana approved last"))
    saved = set(decisions.current()["example_id"])
    whole_confirmations = [line for line in confirmed if line.endswith("\n")]
    expected = {f"{who}{number}" for who in writers for number in range(300)} | {
        f"eve{int(line)}" for line in whole_confirmations
    }
    assert expected | {"last"} <= saved
    assert len(whole_confirmations) >= 50
    assert decisions.problems() == []
    for who in writers:  # in the order they were made
        mine = decisions.log().filter(pl.col("reviewer") == who)["example_id"].to_list()
        assert mine[:300] == [f"{who}{number}" for number in range(300)]
