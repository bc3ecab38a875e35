"""Users' texts on the way out: a terminal never obeys them, a program gets them byte for byte."""

import csv
import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagster_project.cli.terminal import hand_over, json_text, say
from dagster_project.lookups.why_text import tell

EVIL = "\x1b[2J\x1b]0;owned\x07 red \x9b31m \u202egnp.exe \x08\rz"


def test_say_shows_what_a_terminal_would_obey(capsys: pytest.CaptureFixture[str]) -> None:
    say(f"key {EVIL}\nnext line")
    out = capsys.readouterr().out
    assert out == "key ␛[2J␛]0;owned␇ red <U+009B>31m <U+202E>gnp.exe ␈␍z\nnext line\n"


def test_data_for_a_program_is_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    hand_over(EVIL)
    assert capsys.readouterr().out == EVIL


@given(st.text())
def test_json_says_the_same_and_has_nothing_to_obey(text: str) -> None:
    line = json_text({"text": text}, indent=None)
    assert json.loads(line) == {"text": text}
    assert not any(
        ord(character) < 0x20 or 0x7F <= ord(character) < 0xA0 or character in "\u2028\u202e" for character in line
    )


def on_a_terminal(code: str) -> bytes:
    """What a terminal is sent when this runs on one."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([sys.executable, "-c", code], stdout=theirs, cwd=Path(__file__).parents[2]):
        os.close(theirs)
        sent = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # the other end is gone
                break
            if not part:
                break
            sent += part
    os.close(ours)
    return sent


def test_data_on_a_terminal_is_shown_not_obeyed() -> None:
    sent = on_a_terminal(f"from dagster_project.cli.terminal import hand_over; hand_over({EVIL!r})")
    assert b"\x1b" not in sent
    assert "\x9b".encode() not in sent


def test_csv_keeps_what_looks_like_colour(capsys: pytest.CaptureFixture[str]) -> None:
    """click's echo strips ANSI sequences from whatever is piped; they were in the data."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow(["\x1b[31mred\x1b[0m"])
    hand_over(buffer.getvalue())
    assert capsys.readouterr().out == "\x1b[31mred\x1b[0m\n"


def test_why_of_a_refused_row_sends_no_escape(capsys: pytest.CaptureFixture[str]) -> None:
    refused = {"reasons": ["unknown:rating"], "source_file": EVIL, "table": "feedback", "source_rowid": 1, "row": EVIL}
    story: dict[str, Any] = {"id": EVIL, "quarantined": [refused]}
    say(tell(story | {key: [] for key in ("feedback", "distilled", "turns", "reactions", "examples")}))
    assert not any(character in capsys.readouterr().out for character in "\x1b\x07\x08\x9b\u202e")
