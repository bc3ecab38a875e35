"""What is on the screen of a real pseudo-terminal: any size, any text, with and without colour."""

import time
from pathlib import Path

import pytest

from dagster_project.review.decisions import Decisions
from tests.review.pseudo_terminal import Person
from tests.review.queue_of_tests import home_with, item, queue

pytestmark = pytest.mark.slow
DOWN, PAGE_DOWN, PAGE_UP, HOME, END = "\x1b[B", "\x1b[6~", "\x1b[5~", "\x1b[H", "\x1b[F"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return home_with(tmp_path, queue("first", "second", "third", "fourth"))


def lines(home: Path) -> list[tuple[str, str, str]]:
    return Decisions(home).log().select("verdict", "example_id", "note").rows()


def test_sizes_down_to_a_single_cell_and_back(home: Path) -> None:
    with Person(home) as person:
        person.sees("│ + The {+new+} answer")
        person.resize(40, 24)
        person.sees("── the teacher's answer, 14% changed")
        person.no_longer_sees("│")
        person.resize(20, 12)
        person.sees("a r s n u b q ?help")
        person.press(PAGE_DOWN)
        person.sees("[-old-]")
        for size in ((1, 1), (2, 1), (1, 50), (3, 2), (7, 3), (200, 4), (0, 0)):
            person.resize(max(size[0], 1), max(size[1], 1))
            person.set_size(*size)
            time.sleep(0.1)
            person.press(DOWN)
        person.resize(120, 40)
        person.sees("[-old-] answer is here")
        person.press("a")
        person.sees(" second ")
        person.press("q")
        assert person.leaves() == 0
    assert lines(home) == [("approved", "first", "")]


def test_twenty_columns_from_the_start(home: Path) -> None:
    with Person(home, columns=20, rows=6) as person:
        person.sees(" first ")
        person.press("n")
        person.sees("note:")
        person.press("a long note that does not fit")
        person.sees("does not fit")
        person.press("\r")
        person.sees("note kept")
        person.press("a")
        person.sees(" second ")
        person.press("q")
        assert person.leaves() == 0
    assert lines(home)[1:] == [("approved", "first", "a long note that does not fit")]


def test_long_texts_scroll(tmp_path: Path) -> None:
    long = "\n".join(f"line {number}." for number in range(1, 101))
    home = home_with(tmp_path, [item("long", query="Q", attempt=long, answer=long + "\nthe end")])
    with Person(home) as person:
        person.sees("1-21 of 108")
        person.sees("line 14.")
        person.press(DOWN)
        person.sees("2-22 of 108")
        person.press(PAGE_DOWN)
        person.sees("22-42 of 108")
        person.press(END)
        person.sees("88-108 of 108")
        person.sees("+ {+the end+}")
        person.press(PAGE_DOWN + "j ")
        person.sees("88-108 of 108")
        person.press(PAGE_UP + "k")
        person.sees("67-87 of 108")
        person.press(HOME)
        person.sees("1-21 of 108")
        person.press("q")
        assert person.leaves() == 0


def test_wide_text_stays_in_its_half(tmp_path: Path) -> None:
    """Whatever the terminal thinks of an emoji's width, the line between the halves is where it is."""
    attempt = "日本の首都は京都です 👨‍👩‍👧‍👦 👍🏽 🇩🇪 e\u0301té ☎\ufe0f 한국어 " * 4
    answer = "日本の首都は東京です 👨‍👩‍👧 👍 🇫🇷 été ☎ 한국 " * 4
    home = home_with(tmp_path, [item("wide", attempt=attempt, answer=answer)])
    with Person(home) as person:
        person.sees(" wide ")
        person.sees("日")
        rows = [row for row in range(24) if any(person.screen.buffer[row][column].data == "│" for column in range(80))]
        assert len(rows) >= 4
        assert all(person.screen.buffer[row][39].data == "│" for row in rows)
        assert all(person.screen.buffer[row][41].data in "+ " for row in rows)  # the margin of the right half
        person.press("q")
        assert person.leaves() == 0


def test_text_that_tries_to_control_the_terminal(tmp_path: Path) -> None:
    evil = "\x1b[2J\x1b[H\x1b]0;owned\x07\x9b31m\x1b[?1049l approved \u202etxet"
    one = item(
        evil,
        query=evil,
        attempt=evil,
        answer=f"{evil}!",
        domain=evil,
        flags=[evil],
        reasons=[evil],
        feedback=[evil],
        context=evil,
    )
    with Person(home_with(tmp_path, [one, item("second")])) as person:
        person.sees("␛[2J")
        assert person.screen.title == ""
        for sequence in (b"\x1b[2J", b"\x1b]0;", "\x9b".encode(), b"\x1b[?1049l", "\u202e".encode()):
            assert sequence not in person.received
        person.press("a")
        person.sees(" second ")
        person.press("q")
        assert person.leaves() == 0
        assert person.screen.title == ""
    assert lines(tmp_path / "home") == [("approved", evil, "")]


def test_colours_unless_they_are_not_wanted(home: Path) -> None:
    for no_color, has_colour in (("1", False), ("", True)):
        with Person(home, NO_COLOR=no_color) as person:
            person.sees("{+new+}")
            person.press("q")
            person.leaves()
            colours = {person.screen.buffer[row][column].fg for row in range(24) for column in range(80)}
            assert (b"\x1b[31;4m" in person.received) == has_colour, colours


def test_a_terminal_that_knows_ascii_only(home: Path) -> None:
    with Person(home, PYTHONIOENCODING="ascii") as person:
        person.sees("- The [-old-] answer is here           | + The {+new+} answer is here")
        person.press("q")
        assert person.leaves() == 0
