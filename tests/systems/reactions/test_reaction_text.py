"""The three historical forms of a reaction's text, and what is none of them."""

import ast
import json
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagster_project.systems.reactions.reaction_text import FIELDS, MOST_LITERAL_CHARS, as_json, parsed

SAID = {
    "turn_id": "turn_1",
    "text": 'It\'s "fine".\nThanks: None',
    "confidence": 0.75,
    "ts": "2025-11-06",
    "reaction": None,
    "origin": "user",
}
PLAIN = {**SAID, "text": "fine"}


def one(text: str | None) -> dict[str, Any]:
    return parsed(pl.Series([text], dtype=pl.String)).row(0, named=True)


@pytest.mark.parametrize("said", [SAID, PLAIN], ids=["awkward", "plain"])
@pytest.mark.parametrize(
    "form",
    [
        lambda said: f"[turn.log.reaction] {said!r}",
        lambda said: f"[turn.log.reaction] {json.dumps(said)}",
        lambda said: f"[turn.log.reaction]\n{json.dumps(said, indent=2)}\n",
        json.dumps,
        lambda said: f"  {said!r}",
        lambda said: json.dumps({"reaction": said, "conversation_id": "c"}),
        lambda said: f"[turn.log.reaction] { ({'reaction': said})!r}",
        lambda said: json.dumps({"payload": {"reaction": said}}),
    ],
    ids=["repr", "json", "header on a line", "bare", "bare repr", "nested", "nested repr", "payload"],
)
def test_every_form_says_the_same(form: Any, said: dict[str, Any]) -> None:
    found = one(form(said))
    assert {name: found[name] for name in FIELDS} == {**{name: said[name] for name in FIELDS}, "confidence": "0.75"}
    kinds = {"turn_id": "VARCHAR", "text": "VARCHAR", "reaction": "NULL", "origin": "VARCHAR", "confidence": "DOUBLE"}
    assert {name: found[f"{name}_kind"] for name in FIELDS} == kinds
    assert found["is_object"]


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "   ",
        "[turn.log.reaction]",
        "fine",
        "[1, 2]",
        '"text"',
        "null",
        "5",
        "{",
        "{} {}",
        "{'a'}",
        "{1, 2}",
        '{"a": 1} trailing',
        "{'reaction': open('x')}",
        "{'reaction': __import__('os').system('true')}",
        "{'a': b'x'}",
        '{"text": "\\ud83d"}',
        "{'text': '\\ud83d'}",
        "{'a': " * 300 + "1" + "}" * 300,
        "{" * 100_000,
        "{(1, 2): 3}",
        "{**{'a': 1}}",
        "{'a': 1 + x}",
        '[turn.log.reaction] [turn.log.reaction] {"reaction": "ok"}',
    ],
)
def test_what_is_no_object(text: str | None) -> None:
    found = one(text)
    assert not found.pop("is_object")
    assert set(found.values()) == {None}


def test_the_object_nearest_to_the_payload_counts() -> None:
    inner, outer = {"reaction": "not_ok"}, {"reaction": "ok"}
    assert one(json.dumps({"payload": {"reaction": inner}, "reaction": outer}))["reaction"] == "not_ok"
    assert one(json.dumps({"payload": {"reaction": "x"}, "reaction": outer}))["reaction"] == "ok"
    assert one(json.dumps({"payload": [], "reaction": "neutral"}))["reaction"] == "neutral"


def test_what_is_said_about_it() -> None:
    meta = {"rn": "ef:1", "origin": "machine"}
    assert one(json.dumps({**SAID, "meta": meta}))["meta_rn"] == "ef:1"
    assert one(json.dumps({"payload": {"reaction": SAID, "meta": meta}}))["meta_origin"] == "machine"
    assert one(json.dumps({"meta": {"rn": None}, "payload": {"meta": meta}}))["meta_rn"] == "ef:1"
    assert one(json.dumps({"meta": 5}))["meta_rn_kind"] is None


def test_a_literal_is_parsed_up_to_a_limit() -> None:
    """Beyond it the text is none of the forms (`bad_json:text`, R1); JSON, which takes linear time, has no limit."""
    long = {**SAID, "text": 'It\'s "long".' + "x" * MOST_LITERAL_CHARS}
    at_limit = {**long, "text": long["text"][: -(len(repr(long)) - MOST_LITERAL_CHARS)]}
    assert len(repr(at_limit)) == MOST_LITERAL_CHARS
    assert one(repr(at_limit))["text"] == at_limit["text"]
    assert not one(repr(at_limit) + " ,")["is_object"]
    assert not one(repr(long))["is_object"]
    assert one(json.dumps(long))["text"] == long["text"]


def test_a_crafted_text_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys that all have the same hash: 200,000 of them would take a dict minutes."""
    monkeypatch.setattr(ast, "literal_eval", lambda body: pytest.fail(f"parsed {len(body)} characters"))
    same_hash = ",".join(f"{n * (2**61 - 1)}:0" for n in range(200_000))
    assert not one(f"[turn.log.reaction] {{{same_hash}}}")["is_object"]


@pytest.mark.parametrize("depth", [1_000, 1_000_000])
def test_deep_json_is_read(depth: int) -> None:
    """However deep it nests, and in whatever place."""
    deep = "[" * depth + "]" * depth
    found = one(f'{{"reaction": {{"reaction": "ok", "text": {deep}}}, "meta": {{"origin": {deep}}}}}')
    assert (found["reaction"], found["text_kind"], found["meta_origin_kind"]) == ("ok", "ARRAY", "ARRAY")


@pytest.mark.parametrize("operator", ["-", "not ", "lambda:", "1**", "1 if 1 else ", "(", "[", "{'a':", "a."])
def test_deep_literals_are_no_object(operator: str) -> None:
    assert not one("{'a': " + operator * (65_000 // len(operator)) + "1}")["is_object"]


def test_a_trailing_comma_is_a_literal() -> None:
    assert one('{"reaction": "ok",}')["reaction"] == "ok"


VALUES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()


@given(st.dictionaries(st.sampled_from(["text", "reaction", "origin", "k: None"]) | st.text(), VALUES, max_size=5))
def test_any_repr_and_any_json(said: dict[str, Any]) -> None:
    texts = [
        f"[turn.log.reaction] {said!r}",
        f"[turn.log.reaction] {json.dumps(said)}",
        json.dumps(said, ensure_ascii=False),
    ]
    assert [json.loads(text) for text in as_json(pl.Series(texts))] == [said, said, said]


@given(st.lists(st.text(alphabet="{}[]'\":, \\nNoneTrue01.abc\n"), max_size=4))
def test_any_text_at_all(texts: list[str]) -> None:
    """Nothing raises, and a frame of all texts says what each says alone."""
    together = parsed(pl.Series(texts, dtype=pl.String))
    assert together.rows() == [tuple(one(text).values()) for text in texts]
