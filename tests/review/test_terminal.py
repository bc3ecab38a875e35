"""The window in a real pseudo-terminal: keys in, decisions on disk out."""

import signal
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from dagster_project.review.decisions import Decision, Decisions
from tests.conftest import environment
from tests.review.pseudo_terminal import PROJECT, Person
from tests.review.queue_of_tests import home_with, item, queue

pytestmark = pytest.mark.slow
ESCAPE, CTRL_C = "\x1b", "\x03"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return home_with(tmp_path, queue("first", "second", "third", "fourth"))


def lines(home: Path) -> list[tuple[str, str, str]]:
    return Decisions(home).log().select("verdict", "example_id", "note").rows()


def is_as_it_was(person: Person) -> bool:
    """The terminal's settings are what they were, the first screen is back and the cursor is seen."""
    is_put_back = termios.tcgetattr(person.terminal) == person.settings_before
    return (
        is_put_back
        and b"\x1b[?1049l" in person.received
        and person.received.rindex(b"\x1b[?25h") > person.received.rindex(b"\x1b[?25l")
    )


def test_a_whole_session(home: Path) -> None:
    """Every key does what it says, and every verdict is on disk by the time the next item is seen."""
    with Person(home) as person:
        assert (
            person.sees(" first  example  4 left  ana")[-1]
            == "a approve  r reject  s skip  n note  u undo  b back  q quit  ? help"
        )
        person.sees("- The [-old-] answer is here           │ + The {+new+} answer is here")
        person.press("a")
        person.sees(" second  example  3 left")
        assert lines(home) == [("approved", "first", "")]
        person.press("r")
        person.sees(" third ")
        assert lines(home)[1:] == [("rejected", "second", "")]
        person.press("u")
        person.sees("taken back")
        person.sees(" second  example  3 left")
        assert lines(home)[2:] == [("undone", "second", "")]
        person.press("s")
        person.sees(" third  example  2 left")
        person.press("n")
        person.sees("note:")
        person.press("aqr")  # letters now, not keys
        person.sees("note: aqr")
        person.press("\x7f\x7f\x7fwrong units é")
        person.sees("note: wrong units é")
        person.press("\r")
        person.sees("note kept")
        person.press("R")
        person.sees(" fourth ")
        assert lines(home)[3:] == [("noted", "third", "wrong units é"), ("rejected", "third", "wrong units é")]
        person.press("b")
        person.sees(" third  example  you: rejected")
        person.press("a")
        person.sees(" fourth ")
        assert lines(home)[5:] == [("approved", "third", "wrong units é")]
        person.press("?")
        person.sees("this help; any key leaves it")
        person.press("a")  # leaves the help, decides nothing
        person.sees("Question of fourth?")
        person.press("a")
        person.sees("Nothing is left to judge.")
        person.press("q")
        assert person.leaves() == 0
        assert is_as_it_was(person)
        assert b"3 approved, 1 skipped; 0 left for ana" in person.received
    current = Decisions(home).current().select("example_id", "verdict").rows()
    assert current == [("first", "approved"), ("fourth", "approved"), ("third", "approved")]


@pytest.mark.parametrize(("how", "code"), [("key", 130), ("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_an_interrupt_keeps_what_is_decided_and_puts_the_terminal_back(home: Path, how: str, code: int) -> None:
    with Person(home) as person:
        person.sees(" first ")
        person.press("a")
        person.sees(" second ")
        person.press("n")
        person.sees("note:")
        if how == "key":
            person.press(CTRL_C)
        else:
            person.process.send_signal(getattr(signal, how))
        assert person.leaves() == code
        assert is_as_it_was(person)
        assert b"1 approved; 3 left for ana" in person.received
        assert b"Traceback" not in person.received
    assert lines(home) == [("approved", "first", "")]


def test_kill_9_loses_nothing_and_the_next_session_goes_on(home: Path) -> None:
    with Person(home) as person:
        person.sees(" first ")
        person.press("a")
        person.sees(" second ")
        person.kill()
    with Person(home) as person:
        person.sees(" second  example  3 left")
        person.press("q")
        assert person.leaves() == 0
    assert lines(home) == [("approved", "first", "")]


def test_a_line_that_is_gone_ends_the_session(home: Path) -> None:
    with Person(home) as person:
        person.sees(" first ")
        person.press("r")
        person.sees(" second ")
        person.hang_up()
        assert person.process.wait(60) != 0
    assert lines(home) == [("rejected", "first", "")]


def test_a_key_held_down_and_a_paste_decide_once_and_never(home: Path) -> None:
    with Person(home) as person:
        person.sees(" first ")
        person.press("\x1b[200~arararq\x1b[201~")
        person.press("aaaaaaaaaa")
        person.sees(" second ")
        person.press("n")
        person.sees("note:")
        person.press("\x1b[200~two\nlines\x1b[201~\r")
        person.sees("note kept")
        person.press("nxx")
        person.sees("note: two linesxx")
        person.press(ESCAPE)
        person.no_longer_sees("Enter keeps")
        person.press("q")
        assert person.leaves() == 0
    assert lines(home) == [("approved", "first", ""), ("noted", "second", "two lines")]


def test_two_people_at_once_see_different_items_and_keep_all_decisions(tmp_path: Path) -> None:
    home = home_with(tmp_path, queue("w", "x", "y", "z"))
    with Person(home, "ana", GRISTMILL_SECOND_REVIEW_SHARE="0") as ana:
        ana.sees(" w  example")
        with Person(home, "bob", GRISTMILL_SECOND_REVIEW_SHARE="0") as bob:
            bob.sees(" x  example")  # w is open at ana's
            bob.press("r")
            bob.sees(" y  example")
            ana.press("a")
            ana.sees(" z  example")
            ana.press("r")
            ana.sees("What is left (1) is open elsewhere just now.")
            bob.press("q")
            assert bob.leaves() == 0
        ana.press("s")
        ana.sees(" y  example")
        ana.press("q")
        assert ana.leaves() == 0
    log = Decisions(home).log().select("reviewer", "verdict", "example_id").rows()
    assert log == [("bob", "rejected", "x"), ("ana", "approved", "w"), ("ana", "rejected", "z")]


def test_a_decision_that_cannot_be_saved_is_said_and_the_item_stays(home: Path) -> None:
    (home / "state").write_text("in the way", encoding="utf-8")
    with Person(home) as person:
        person.sees(" first ")
        person.press("a")
        person.sees("not saved: cannot write")
        person.sees(" first  example  4 left")
        person.press("q")
        assert person.leaves() == 0


def test_stopping_and_coming_back(home: Path) -> None:
    with Person(home) as person:
        person.sees(" first ")
        person.press("\x1a")
        person.waits_for(lambda: b"\x1b[?1049l" in person.received, "the first screen")
        person.process.send_signal(signal.SIGCONT)
        person.press("a")
        person.sees(" second ")
        person.press("q")
        assert person.leaves() == 0


def test_differing_verdicts_are_shown_to_those_who_gave_them(home: Path) -> None:
    seen = item("first").content_hash
    Decisions(home).append(
        Decision("first", "approved", "ana", "", seen), Decision("first", "rejected", "bob", "units", seen)
    )
    with Person(home) as person:
        person.sees("bob: rejected, note: units")
        person.press("q")
        person.leaves()
    with Person(home, "eve") as person:
        person.sees(" first ")
        person.press("q")
        person.leaves()
        assert b"rejected" not in person.received


def test_nothing_to_do_and_no_terminal(home: Path) -> None:
    ids = ("first", "second", "third", "fourth")
    Decisions(home).append(*(Decision(one, "approved", "ana", "", item(one).content_hash) for one in ids))
    with Person(home) as person:
        assert person.leaves() == 0
        assert person.sees("nothing waits for ana")
    with Person(home, TERM="dumb") as person:
        assert person.leaves() == 1
        assert person.sees("gristmill: review needs a terminal; elsewhere use `gristmill review approve ID`")
    command = [sys.executable, "-m", "tests.review.review_command", "--home", str(home), "review"]
    piped = subprocess.run(
        command, cwd=PROJECT, env=environment(), capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    assert piped.returncode == 1
    assert piped.stderr.startswith("gristmill: review needs a terminal")
    assert len(piped.stderr.splitlines()) == 1
