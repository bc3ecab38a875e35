"""Rule T1 (tie): answers that are equal but for white space outside fenced or indented code have the same loose form."""

import re
import unicodedata

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dagster_project.columns.text_keys import are_loosely_equal, loose_answers, normal_answers

LINES = st.one_of(
    st.sampled_from(
        [
            "",
            " ",
            "\t",
            "```",
            "``` py",
            "````",
            "  ```",
            "    ```  ",
            "~~~",
            "~~~~",
            "~~~ a",
            "a `b` c",
            "x ```",
            "```a`b",
            "- a",
        ]
    ),
    st.tuples(
        st.sampled_from(["", " ", "   ", "    ", "\t", "  \t", "      ", "\u3000"]),
        st.sampled_from(["a", "a  b", "b\u00a0c ", "é", "e\u0301 x", "\r"]),
    ).map("".join),
)
TEXTS = st.tuples(st.lists(LINES, max_size=12), st.sampled_from(["\n", "\r\n"])).map(lambda told: told[1].join(told[0]))


def is_indented(line: str) -> bool:
    return re.match(r" {4}| {0,3}\t", line) is not None and line.strip(" \t") != ""


def parts(text: str) -> tuple[str, list[str]]:
    """Line by line: what stands outside code without its white space, a mark for every block, and the blocks of code."""
    lines = unicodedata.normalize("NFC", text).replace("\r\n", "\n").rstrip().split("\n")
    outside, blocks, at, after_blank = "", [], 0, True
    while at < len(lines):
        line, start = lines[at], at
        fence = re.fullmatch(r"[ \t]*(?:(`{3,})[^`]*|(~{3,})[^~]*)", line)
        if after_blank and is_indented(line):
            fence = None
            while at < len(lines) and (is_indented(lines[at]) or lines[at].strip(" \t") == ""):
                at += 1
            while lines[at - 1].strip(" \t") == "":
                at -= 1
        elif fence:
            marks = fence[1] or fence[2]
            closing = re.compile(rf"[ \t]*{marks[0]}{{{min(len(marks), 6)},}}[ \t]*")
            ends = [later for later in range(at + 1, len(lines)) if closing.fullmatch(lines[later])]
            at = ends[0] + 1 if ends else len(lines)
        if at > start:
            block = "\n".join(lines[start:at])
            blocks.append(block.strip(" \t") if fence else block)
            outside += "\0"
            after_blank = False
        else:
            outside += "".join(c for c in line if not c.isspace())
            after_blank = line.strip(" \t") == ""
            at += 1
    return outside, blocks


def respaced(text: str, changes: list[tuple[int, str]]) -> str:
    """The text with space put in, or, where it says so, the character at that place taken out if it is a space."""
    for place, space in changes:
        at = place % (len(text) + 1)
        text = text[:at] + space + (text[at:] if space or not text[at : at + 1].isspace() else text[at + 1 :])
    return text


CHANGES = st.lists(st.tuples(st.integers(0, 200), st.sampled_from(["", " ", "\n", "\n\n", "    "])), max_size=3)


@settings(max_examples=600, deadline=None)
@given(TEXTS.flatmap(lambda text: st.tuples(st.just(text), CHANGES.map(lambda changes: respaced(text, changes)))))
@example(("a b", "a\nb"))
@example(("~~~~", "~\n~~~"))
@example(("```\na\n", "```\na"))
@example(("x\n\n    a\n```\n b\n```\n```\n c", "x\n\n    a\n```\n b\n```\n\n```\n c"))
def test_loose_forms_are_equal_exactly_if_the_texts_are_but_for_space_outside_code(pair: tuple[str, str]) -> None:
    """T1: against a reading line by line."""
    one, other = pair
    found = loose_answers(pl.Series([one, other]))
    assert (found[0] == found[1]) is (parts(one) == parts(other))


@settings(max_examples=200, deadline=None)
@given(TEXTS)
def test_space_outside_code_changes_nothing(text: str) -> None:
    """T1: wherever there is no code, more space, less space and other space are the same answer."""
    outside, _ = parts(text.replace("`", "").replace("~", "").replace("    ", " ").replace("\t", " "))
    loose = loose_answers(pl.Series([" ".join(outside), outside, "\n\n".join(outside), f"{outside}\u2003\n"]))
    assert loose.n_unique() == 1


@pytest.mark.parametrize(
    ("one", "other", "is_tie"),
    [
        ("Use  a list.\n\nThen sort it.", "Use a list. Then sort it.", True),
        ("Use a list", "Usealist", True),
        ("a\u00a0b\u3000c", "a b c", True),
        ("caf\u00e9 noir", "cafe\u0301  noir", True),
        ("Use a list.", "Use A list.", False),
        ("Run:\n```py\nif x:\n    y()\n```\nDone.", "Run:\r\n\r\n```py\r\nif x:\r\n    y()\r\n```\r\n\r\nDone.", True),
        ("```py\nif x:\n    y()\n```", "```py\nif x:\n  y()\n```", False),
        ("~~~\na  b\n~~~", "~~~\na b\n~~~", False),
        ("````\n```\na  b\n```\n````", "````\n```\na b\n```\n````", False),
        ("1. Do\n   ```\n   a\n   ```", "1. Do\n\n   ```\n   a\n   ```", True),
        ("```\na  b", "```\na b", False),
        ("Run:\n\n    a  b\n\nDone.", "Run:\n\n\n    a  b\nDone.", True),
        ("Run:\n\n    a  b", "Run:\n\n    a b", False),
        ("Run:\n\n\ta\n\n\tb", "Run:\n\n\ta\n\tb", False),
        ("    a  b", "    a b", False),
        ("A paragraph\n    that goes  on", "A paragraph that goes on", True),
        ("inline `a  b` code", "inline `a b` code", True),
    ],
)
def test_ties_said_by_example(one: str, other: str, is_tie: bool) -> None:
    """T1."""
    found = loose_answers(pl.Series([one, other]))
    assert (found[0] == found[1]) is is_tie


def test_a_null_stays_null() -> None:
    assert loose_answers(pl.Series([None, "a b", None, "```\nc d"])).to_list() == [None, "ab", None, "\0```\nc d\n\0"]
    assert loose_answers(pl.Series([], dtype=pl.String)).to_list() == []


@settings(max_examples=200, deadline=None)
@given(TEXTS, TEXTS)
@example("a  b c d e f g h i", "ab c d e f g h i")
def test_comparing_ends_first_says_the_same_as_comparing_whole_forms(one: str, other: str) -> None:
    some = normal_answers(pl.Series([one, one, one, None]))
    others = normal_answers(pl.Series([other, one, one.replace(" ", "  "), other]))
    assert are_loosely_equal(some, others).to_list() == (loose_answers(some) == loose_answers(others)).to_list()
