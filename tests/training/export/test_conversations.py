"""Conversations as every trainer can take them (T7): nothing is lost but blank turns, and what is in order stays as it is."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagster_project.training.export.conversations import TURN, alternating
from tests.training.export.release_of_tests import Turn, messages

ROLES = ("system", "user", "assistant", "tool")
ASKED, ANSWERED = ("user", "Go on."), ("assistant", "Yes.")


def column(*conversations: list[Turn]) -> pl.Series:
    return pl.Series("messages", [messages(*turns) for turns in conversations], dtype=pl.List(TURN))


def told(turns: list[Turn], cut: int | None = None) -> tuple[list[Turn], dict[str, int]]:
    found, counts = alternating(column(turns), None if cut is None else pl.Series([cut], dtype=pl.UInt32))
    return [(turn["role"], turn["content"]) for turn in found[0]], {key: n for key, n in counts.items() if n}


@pytest.mark.parametrize(
    ("turns", "expected", "counts"),
    [
        ([ASKED, ANSWERED], [ASKED, ANSWERED], {}),
        ([("system", "S"), ASKED, ANSWERED], [("system", "S"), ASKED, ANSWERED], {}),
        ([("user", "A"), ASKED, ANSWERED], [("user", "A\n\nGo on."), ANSWERED], {"joined": 1}),
        (
            [("assistant", "Hello."), ASKED, ANSWERED],
            [("system", "The assistant opened the conversation:\n\nHello."), ASKED, ANSWERED],
            {"opening": 1},
        ),
        (
            [("user", "A"), ("assistant", "B"), ("tool", "3"), ASKED, ANSWERED],
            [("user", "A"), ("assistant", "B"), ("user", "Result of a tool:\n\n3\n\nGo on."), ANSWERED],
            {"tool": 1, "joined": 1},
        ),
        ([("user", " \n"), ASKED, ANSWERED], [ASKED, ANSWERED], {"blank": 1}),
        (
            [("user", "A"), ("assistant", "B"), ("system", "S"), ASKED, ANSWERED],
            [("system", "S"), ("user", "A"), ("assistant", "B"), ASKED, ANSWERED],
            {},
        ),
    ],
)
def test_what_is_told_another_way(turns: list[Turn], expected: list[Turn], counts: dict[str, int]) -> None:
    assert told(turns) == (expected, counts)


def test_the_oldest_turns_are_cut_and_what_the_system_said_stays() -> None:
    turns = [("system", "S"), ("user", "A"), ("assistant", "B"), ("user", "C"), ("assistant", "D"), ASKED, ANSWERED]
    assert told(turns, cut=2)[0] == [turns[0], *turns[3:]]
    assert told(turns, cut=0)[0] == turns


def test_only_the_records_that_need_it_are_touched() -> None:
    kept, mended = [ASKED, ANSWERED], [("user", "A"), ASKED, ANSWERED]
    found, _ = alternating(column(kept, mended, kept))
    assert [len(turns) for turns in found] == [2, 2, 2]
    assert found[0].to_list() == found[2].to_list() == messages(*kept)


turn = st.tuples(st.sampled_from(ROLES), st.text("ab \n", max_size=4))


@given(st.lists(st.lists(turn, max_size=5), min_size=1, max_size=6))
def test_every_conversation_alternates_and_no_word_is_lost(before: list[list[Turn]]) -> None:
    found, _ = alternating(column(*([*turns, ASKED, ANSWERED] for turns in before)))
    assert found.len() == len(before)
    for turns, kept in zip(before, found, strict=True):
        roles = [turn["role"] for turn in kept]
        spoken = roles[1:] if roles[0] == "system" else roles
        assert spoken == ["user", "assistant"] * (len(spoken) // 2)
        assert all(turn["content"].strip() for turn in kept)
        text = "".join(turn["content"] for turn in kept)
        assert all(content.strip() in text for _, content in turns)


@given(st.lists(st.lists(turn, max_size=5), min_size=1, max_size=4))
def test_in_order_is_in_order(before: list[list[Turn]]) -> None:
    once, _ = alternating(column(*([*turns, ASKED, ANSWERED] for turns in before)))
    twice, counts = alternating(once)
    assert twice.to_list() == once.to_list()
    assert not sum(counts.values())
