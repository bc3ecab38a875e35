"""Rule T7: contexts as turns, from JSON and from transcripts; what is neither stays one text."""

import json
from itertools import pairwise

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagster_project.columns.context_turns import EXCHANGES, TURNS, exchanges, parsed
from dagster_project.columns.transcript_markers import FAMILIES, ROLES, Family

Turns = list[tuple[str, str]]


def turns_of(*contexts: str | None) -> list[Turns | None]:
    """The turns of each context; None where it could not be parsed, after a look that its text is as it was."""
    found = parsed(pl.Series(contexts, dtype=pl.String))
    assert found.schema == {"turns": TURNS, "is_parsed": pl.Boolean}
    told: list[Turns | None] = []
    for context, (turns, is_parsed) in zip(contexts, found.iter_rows(), strict=True):
        pairs = [(turn["role"], turn["content"]) for turn in turns]
        if not is_parsed:
            assert pairs == [("user", context)]
        told.append(pairs if is_parsed else None)
    return told


HI_YO = [("user", "hi"), ("assistant", "yo")]


@pytest.mark.parametrize(
    "context",
    [
        '[{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}]',
        ' [{"role": "USER ", "content": " hi\\n"}, {"role": "Assistant", "content": "yo"}] ',
        '{"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}], "model": "x"}',
        '{"conversations": [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "yo"}]}',
        '[{"speaker": "Human", "text": "hi"}, {"speaker": "SAM", "text": "yo"}]',
        '[{"role": "user", "content": [{"type": "text", "text": "hi"}, {"type": "image_url", "image_url": {"url": "u"}}]},'
        ' {"role": "assistant", "content": ["yo"]}]',
        '[{"author": {"role": "user"}, "content": "hi"}, {"author": {"role": "assistant"}, "content": "yo"}]',
        '[{"role": "user", "parts": [{"text": "hi"}]}, {"role": "model", "parts": [{"text": "yo"}]}]',
        '[{"type": "human", "data": {"content": "hi"}}, {"type": "ai", "data": {"content": "yo"}}]',
        '[["user", "hi"], ["assistant", "yo"]]',
        '[{"query": "hi", "response": "yo"}]',
        '{"question": "hi", "answer": "yo"}',
        '{"role": "user", "content": "hi"}\n{"role": "assistant", "content": "yo"}\n',
        '[{"role": "user", "content": "hi"}, {"role": "assistant", "content": null, "tool_calls": [{"id": 1}]},'
        ' {"role": "assistant", "content": "yo"}]',
        "User: hi\nAssistant: yo",
        "user: hi\r\nassistant: yo\r\n",
        "Human: hi\n\nAI: yo",
        "  User : hi\nSAM: yo".replace(" :", ":"),
        "**User:** hi\n\n**Assistant:** yo",
        "**User**: hi\n**Assistant**: yo",
        "[user] hi\n[assistant] yo",
        "[USER]: hi\n[SAM]: yo",
        "### User\nhi\n\n### Assistant\nyo",
        "### User:\nhi\n### Assistant:\nyo",
        "- User: hi\n- AI: yo",
        "[10:32] User: hi\n[10:33] SAM: yo",
        "User (10:32): hi\nSAM (10:33): yo",
        "User 1: hi\nAI 1: yo",
        "You said:\nhi\nChatGPT said:\nyo",
        "用户：hi\n助手：yo",
        "Q: hi\nA: yo",
        "Question 1: hi\nAnswer 1: yo",
        "Query: hi\nResponse: yo",
        "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\nyo<|im_end|>\n",
        "<|user|>\nhi<|end|>\n<|assistant|>\nyo<|end|>",
        "<|start_header_id|>user<|end_header_id|>\n\nhi<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nyo<|eot_id|>",
        "<start_of_turn>user\nhi<end_of_turn>\n<start_of_turn>model\nyo<end_of_turn>",
    ],
)
def test_ways_to_write_one_exchange(context: str) -> None:
    assert turns_of(context) == [HI_YO]


@pytest.mark.parametrize(
    "context",
    [
        "The user was busy with another question before.",
        "Note: the user said hi.\nWarning: it is late.",
        "I said\nUser: hi",
        "```\nUser: hi\nAI: yo\n```",
        "    User: hi\n    AI: yo",
        "A: Rome\nB: Paris",
        "Q: Which city?\nA: Rome\nB: Paris",
        "Question: hi",
        "Tool: a hammer",
        "Type `User:` and then\nSuperuser: it",
        '["hi", "yo"]',
        '[{"role": "user", "content": "hi"}, {"topic": "art"}]',
        '[{"role": "narrator", "content": "hi"}]',
        '[{"role": "user", "msg": "hi"}]',
        '[{"role": "user", "content": {"a": 1}}]',
        '[{"role": "user", "content": "\\u0000"}]',
        '[{"role": "user", "content": "hi"',
        '{"topic": "art"}',
        "12",
        '"hi"',
    ],
)
def test_what_is_no_conversation_stays_one_text(context: str) -> None:
    assert turns_of(context) == [None]


def test_nothing_said_is_nothing_unread() -> None:
    assert turns_of(None, "", " \n", "[]", "{}", "null") == [[]] * 6


@pytest.mark.parametrize(
    ("context", "turns"),
    [
        ("User: a\nUser: b\nAI: c", [("user", "a\n\nb"), ("assistant", "c")]),
        ("User: a\nAI:\nUser: b", [("user", "a\n\nb")]),
        ("Talked before:\nUser: a\nAI: b", [("system", "Talked before:"), ("user", "a"), ("assistant", "b")]),
        ("AI: How may I help?", [("assistant", "How may I help?")]),
        ("System: Be kind.\nUser: a", [("system", "Be kind."), ("user", "a")]),
        (
            "User: write a scene\nAI: Customer: hello\nCustomer: again\nHuman: no\nUser: go on",
            [
                ("user", "write a scene"),
                ("assistant", "Customer: hello\nCustomer: again\nHuman: no"),
                ("user", "go on"),
            ],
        ),
        ("User: a\nAI: **User:** b\n**User:** c", [("user", "a"), ("assistant", "**User:** b\n**User:** c")]),
        ("User: a\nSAM: b\nUser: c\nClaude: d", [("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "d")]),
        ("User: a\n```\nAI: b\n```\nAI: c", [("user", "a\n```\nAI: b\n```"), ("assistant", "c")]),
        ("User: a\nAI: see\nQ: b\nA: c", [("user", "a"), ("assistant", "see\nQ: b\nA: c")]),
        (
            '{"system": "Be kind.", "messages": [{"role": "user", "content": "a"}, {"role": "tool", "content": "7"}]}',
            [("system", "Be kind."), ("user", "a"), ("tool", "7")],
        ),
        (
            '[{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}]',
            [("user", "a\n\nb")],
        ),
    ],
)
def test_exact_turns(context: str, turns: Turns) -> None:
    """T7: neighbours merged, empty ones dropped, each role marked in one way."""
    assert turns_of(context) == [turns]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_every_family_reads_its_example_and_none_its_counter_example(family: Family) -> None:
    read, unread = turns_of(family.example, family.counter_example)
    assert read is not None and [role for role, _ in read] == ["user", "assistant"]
    assert unread is None


def test_rows_keep_their_places() -> None:
    assert turns_of("User: hi\nAI: yo", None, "x", '[["user","hi"],["ai","yo"]]', "User: hi\nAI: yo") == [
        HI_YO,
        [],
        None,
        HI_YO,
        HI_YO,
    ]
    assert turns_of() == []


def test_exchanges() -> None:
    """T3: a user turn and the answer to it; a tool's turn between them is none of both."""
    contexts = [
        None,
        "AI: hello\nUser: a\nAI: b\nUser: c",
        "User: a\nAI: b\nTool: 7\nAI: c\nUser: d\nAI: e",
        "one text",
    ]
    found = exchanges(parsed(pl.Series(contexts))["turns"])
    assert found.dtype == EXCHANGES
    assert found.to_list() == [
        [],
        [{"question": "a", "answer": "b"}],
        [{"question": "a", "answer": "b"}, {"question": "a", "answer": "c"}, {"question": "d", "answer": "e"}],
        [],
    ]


CONTENTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1).filter(
    lambda text: text == text.strip()
)
SIDES = st.lists(st.tuples(CONTENTS, CONTENTS), min_size=1, max_size=5)


@given(SIDES, st.sampled_from(["role content", "from value", "speaker text"]))
def test_json_gives_back_what_was_said(sides: list[tuple[str, str]], keys: str) -> None:
    who, what = keys.split()
    said = [turn for question, answer in sides for turn in (("user", question), ("assistant", answer))]
    context = json.dumps([{who: role, what: content} for role, content in said])
    assert turns_of(context) == [said]


LINES = st.lists(
    st.one_of(
        st.sampled_from(
            ["User: ", "AI: ", "**User:** ", "SAM:", "System: ", "Q: ", "A: ", "```", "<|im_start|>user", "### User"]
        ),
        st.sampled_from(["", " ", "x", "{", "}", "[", '"role"', "```py", "<|im_end|>", "\x01", "é", "\u2028", "Note:"]),
    ),
    max_size=12,
)
TEXTS = st.one_of(st.text(), LINES.map("\n".join), LINES.map("".join))


@given(st.lists(st.none() | TEXTS, max_size=6))
def test_every_text_is_told(contexts: list[str | None]) -> None:
    """Never a crash; roles of the vocabulary, no turn empty, no two of one role in a row; turns hold nothing that was not there."""
    for context, turns in zip(contexts, turns_of(*contexts), strict=True):
        if turns is None:
            continue
        roles = [role for role, _ in turns]
        assert set(roles) <= {*ROLES}
        assert all(one != next_one for one, next_one in pairwise(roles))
        for _, content in turns:
            assert content
            assert context is not None and all(part in context for part in content.split("\n\n"))


@given(st.lists(LINES.map("\n".join), max_size=4))
def test_a_context_by_itself_is_read_as_among_others(contexts: list[str]) -> None:
    assert turns_of(*contexts) == [turns for context in contexts for turns in turns_of(context)]
