"""What reaches the terminal: nothing it would obey, no line too long, and the differences marked without colour."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from dagster_project.columns.printable import Piece, cut, one_line, printable, tail, wrap
from dagster_project.review.difference import MOST_LINES, Difference, difference
from dagster_project.review.keys import Key, KeyReader
from dagster_project.review.screen import REVIEWING, Row, View, body, frame
from dagster_project.review.sitting import Voice
from dagster_project.review.terminal import COLOURED, PLAIN, painted
from tests.review.queue_of_tests import item

ODD = [
    "\x1b[2J",
    "\x1b]0;x\x07",
    "\x9b1m",
    "\x00",
    "\x7f",
    "\r",
    "\n",
    "\t",
    "\u202e",
    "\u200d",
    "\u200b",
    "\ufeff",
    "e\u0301",
    "\u0301",
    "日本",
    "👨‍👩‍👧",
    "👍🏽",
    "🇩🇪",
    "☎\ufe0f",
    "\U000e0041",
    "\ue000",
    "\u2028",
    "한",
    "\u1112\u1161\u11ab",
    "नि",
    "ﷺ",
]
TEXTS = st.lists(st.one_of(st.sampled_from(ODD), st.text(max_size=8), st.sampled_from(["word", " "]))).map("".join)
OUR_SEQUENCES = re.compile(r"\x1b\[(?:\?25[lh]|\d+;\d+H|2K|[\d;]*m)")


# --- sanitising --------------------------------------------------------------------------------------------------


@given(TEXTS)
def test_printable_text_is_printable(text: str) -> None:
    for character in printable(text):
        is_space = character.isspace() and character not in "\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\u2028\u2029\t"
        assert character.isprintable() or is_space or character in "\u200c\u200d"
    assert "\n" not in one_line(text)


def test_no_control_character_gets_through() -> None:
    controls = [chr(code) for code in [*range(0x20), *range(0x7F, 0xA0)] if chr(code) != "\n"]
    directions = [*map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A)), "\u200e", "\u200f", "\u061c"]
    hidden = ["\u200b", "\u2060", "\ufeff", "\u00ad", "\u2028", "\u2029", *map(chr, range(0xE0000, 0xE0080)), "\ud800"]
    for character in [*controls, *directions, *hidden]:
        assert character not in printable(f"a{character}b")
        assert len(printable(f"a{character}b")) >= 3  # and each is seen


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[31mred\x1b]0;title\x07", "␛[31mred␛]0;title␇"),
        ("a\r\nb\rc", "a\nb␍c"),
        ("\tx", "    x"),
        ("\x9b2J\x7f", "<U+009B>2J<U+007F>"),
        ("evil\u202etxt", "evil<U+202E>txt"),
        ("no\xa0break\u3000wide", "no\xa0break\u3000wide"),
        ("می\u200cخواهم", "می\u200cخواهم"),  # part of the word
        ("pass\u200dword", "pass<U+200D>word"),  # not part of this one
        ("👨\u200d👩", "👨\u200d👩"),
    ],
)
def test_what_is_shown_for_it(text: str, shown: str) -> None:
    assert printable(text) == shown


# --- measuring and wrapping --------------------------------------------------------------------------------------


@given(TEXTS, st.integers(2, 30))
def test_wrapped_lines_fit_and_lose_nothing_but_spaces(text: str, cells: int) -> None:
    shown = printable(text)
    lines = ["".join(piece.text for piece in line) for line in wrap([Piece(shown)], cells)]
    assert all(cell_len(line) <= cells for line in lines)
    assert "".join("".join(lines).split()) == "".join(shown.split())
    assert cell_len(cut(one_line(text), cells)) <= cells
    assert cell_len(tail(one_line(text), cells)) <= cells


@pytest.mark.parametrize(
    ("text", "cells", "lines"),
    [
        ("one two three", 7, ["one two", "three"]),
        ("one two three", 8, ["one two ", "three"]),
        ("    indented code", 10, ["    ", "indented ", "code"]),
        (" 12345678日本", 9, [" ", "12345678", "日本"]),  # what was left of the line has no room for two cells more
        ("unbreakable", 4, ["unbr", "eaka", "ble"]),
        ("日本語です", 5, ["日本", "語で", "す"]),
        ("a\n\nb", 5, ["a", "", "b"]),
        ("", 5, [""]),
    ],
)
def test_wrapping(text: str, cells: int, lines: list[str]) -> None:
    assert ["".join(piece.text for piece in line) for line in wrap([Piece(text)], cells)] == lines


def test_marks_stay_with_the_words_they_mark() -> None:
    wrapped = wrap([Piece("ab "), Piece("cd ef", "added", "{+", "+}")], 7)
    assert wrapped == [[Piece("ab "), Piece("{+cd", "added")], [Piece("ef+}", "added")]]


# --- differences -------------------------------------------------------------------------------------------------


def marked(found: Difference) -> tuple[str, str]:
    sides = (("[-", "-]", found.left), ("{+", "+}", found.right))
    left, right = ("".join(f"{a}{s.text}{z}" if s.is_changed else s.text for s in spans) for a, z, spans in sides)
    return left, right


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("the old answer", "the new answer", ("the [-old-] answer", "the {+new+} answer")),
        ("same", "same", ("same", "same")),
        ("", "new", ("", "{+new+}")),
        ("a\r\nb", "a\nb", ("a\nb", "a\nb")),
        ("x = 1", "x  = 1", ("x[- -]= 1", "x{+  +}= 1")),  # in code a space may be all
        ("return x", "return X", ("return [-x-]", "return {+X+}")),
        ("東京です", "京都です", ("[-東-]京です", "京{+都+}です")),
        ("cafe\u0301 noir", "cafe noir", ("[-cafe\u0301-] noir", "{+cafe+} noir")),  # an accent is part of it
        (
            "reading the novels",
            "writing the dramas",
            ("[-reading the novels-]", "{+writing the dramas+}"),
        ),  # no confetti
    ],
)
def test_differences_are_marked_word_by_word(left: str, right: str, expected: tuple[str, str]) -> None:
    assert marked(difference(left, right)) == expected


@given(TEXTS, TEXTS)
def test_nothing_is_lost_in_comparing_and_what_is_common_is_on_both_sides(left: str, right: str) -> None:
    found = difference(left, right)
    assert "".join(span.text for span in found.left) == left.replace("\r\n", "\n")
    assert "".join(span.text for span in found.right) == right.replace("\r\n", "\n")
    common = ["".join(span.text for span in side if not span.is_changed) for side in (found.left, found.right)]
    assert common[0] == common[1]
    assert found.changed_share is not None and 0 <= found.changed_share <= 1


def test_long_texts_are_compared_by_lines_and_longer_ones_not_at_all() -> None:
    lines = [f"line {number} of many words in it" for number in range(1_000)]
    changed = [*lines[:500], "another line", *lines[501:]]
    found = difference("\n".join(lines), "\n".join(changed))
    assert [span.text for span in found.right if span.is_changed] == ["another line\n"]
    assert difference("\n".join(lines * 5), "x\n" * (MOST_LINES + 1)).changed_share is None


# --- the window --------------------------------------------------------------------------------------------------


def shown(view: View, columns: int, height: int) -> list[str]:
    """The window as text, the right half where it belongs."""
    return [text_of(row) for row in frame(view, body(view, columns, REVIEWING), columns, height, REVIEWING).rows]


def text_of(row: Row) -> str:
    left = "".join(piece.text for piece in row.left)
    right = "".join(piece.text for piece in row.right or [])
    return left + " " * (row.middle - cell_len(left) if right else 0) + right


def test_the_window_at_80_by_24() -> None:
    one = item(
        "a7f3",
        query="What is it?",
        context="before",
        reasons=["contradicted", "low_score"],
        feedback=["down: wrong", "flag"],
    )
    view = View("ana", one, 12, Voice("ana", "approved", "sure"), (Voice("bob", "rejected", "wrong units"),), "hello")
    rule = "─" * 80
    assert [line.rstrip() for line in shown(view, 80, 24)] == [
        " a7f3  example  you: approved  12 left  ana",
        "domain code   score 0.60   rank 1",
        "why here: contradicted, low_score",
        "flags: incomplete",
        "users: down: wrong",
        "users: flag",
        "reviewers differ; your verdict again, or another, settles what you think:",
        "  bob: rejected, note: wrong units",
        "  you: approved, note: sure",
        ("── query " + rule)[:80],
        "What is it?",
        ("── SAM's attempt " + rule)[:39] + "┬─" + ("── the teacher's answer, 14% changed " + rule)[:39],
        "- The [-old-] answer is here           │ + The {+new+} answer is here",
        ("── context: what came before the query " + rule)[:80],
        "before",
        *[""] * 7,
        "hello",
        "a approve  r reject  s skip  n note  u undo  b back  q quit  ? help",
    ]


def test_a_narrow_window_has_the_answer_below_the_attempt() -> None:
    lines = [line.rstrip() for line in shown(View("ana", item("a", kind="correction"), 1), 40, 30)]
    start = lines.index("── the answer users saw ────────────────")
    assert lines[start + 1 : start + 4] == [
        "- The [-old-] answer is here",
        "── the user's correction, 14% changed ──",
        "+ The {+new+} answer is here",
    ]


@given(
    TEXTS, TEXTS, TEXTS, st.integers(1, 130), st.integers(1, 40), st.integers(0, 50), st.none() | TEXTS, st.booleans()
)
def test_any_text_in_any_window(
    query: str, attempt: str, answer: str, columns: int, height: int, top: int, typing: str | None, is_help: bool
) -> None:
    """As many rows as there are, none too long, and nothing in what is sent but our own sequences and printable text."""
    one = item(
        query or "x", query=query, attempt=attempt, answer=answer, flags=[query], feedback=[answer], context=attempt
    )
    view = View(query, one, 3, Voice("ana", "approved", answer), (), query, typing, is_help, top)
    drawn = frame(view, body(view, columns, REVIEWING), columns, height, REVIEWING)
    assert len(drawn.rows) == height
    if columns >= 8:  # below that a mark and a wide character do not fit; the terminal cuts them off
        assert all(cell_len(text_of(row)) <= columns for row in drawn.rows)
    for styles in (COLOURED, PLAIN):
        sent = OUR_SEQUENCES.sub("", painted(drawn, styles))
        assert not re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", sent)


def test_without_colour_none_is_sent() -> None:
    drawn = frame(View("ana", item("a")), body(View("ana", item("a")), 80, REVIEWING), 80, 24, REVIEWING)
    assert not re.search(r"\x1b\[[\d;]*3\dm", painted(drawn, PLAIN))
    assert "\x1b[31;4m[-old-]" in painted(drawn, COLOURED)


# --- keys --------------------------------------------------------------------------------------------------------

SENT = b"a\x1b[A\x1bOB\x1b[5~\x1b[6~\x1b[1;5C\xc3\xa9\x03\r\x7f\x1b[200~aqr\x1b[A\x1b[201~\x1bxq"
MEANT = [
    Key("a"),
    Key("up"),
    Key("down"),
    Key("page up"),
    Key("page down"),
    Key("unknown"),
    Key("é"),
    Key("ctrl-c"),
    Key("enter"),
    Key("backspace"),
    Key("paste", "aqr\x1b[A"),
    Key("unknown"),
    Key("q"),
]


@given(st.lists(st.integers(0, len(SENT))))
def test_keys_are_the_same_however_their_bytes_arrive(cuts: list[int]) -> None:
    reader = KeyReader()
    ends = [0, *sorted(cuts), len(SENT)]
    assert [key for start, end in pairwise(ends) for key in reader.feed(SENT[start:end])] == MEANT
    assert not reader.is_waiting


def test_an_escape_alone_is_a_key_once_nothing_follows() -> None:
    reader = KeyReader()
    assert reader.feed(b"\x1b") == []
    assert reader.is_waiting
    assert reader.give_up() == [Key("escape")]
    assert reader.feed(b"\x1b[5") == []
    assert reader.give_up() == []
    assert reader.feed(b"\xff" + b"q") == [Key("\ufffd"), Key("q")]
