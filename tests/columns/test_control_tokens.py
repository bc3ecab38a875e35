"""Rule T8: tokens of chat templates in a text, and answers that begin with a role marker."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagster_project.columns.control_tokens import TOKENS, Token, begins_with_role, has_control_tokens

EVERY = """
<|im_start|> <|im_end|> <|eot_id|> <|begin_of_text|> <|end_of_text|> <|start_header_id|> <|end_header_id|> <|eom_id|> [INST] [/INST]
<<SYS>> <</SYS>> <s> </s> <|endoftext|> <|user|> <|assistant|> <|system|> <|end|> <start_of_turn> <end_of_turn> <|channel|>
<|message|> <|START_OF_TURN_TOKEN|> <|END_OF_TURN_TOKEN|> <|CHATBOT_TOKEN|> <BOS_TOKEN> <｜begin▁of▁sentence｜> <｜User｜>
<｜end▁of▁sentence｜> <|im_sep|> <|fim_prefix|> <|start_of_role|> <|return|> <|pad|> <bos> <eos> [gMASK] <extra_id_0> <reserved_102>
[SYSTEM_PROMPT] [/SYSTEM_PROMPT] [TOOL_CALLS] [AVAILABLE_TOOLS] <end_of_utterance> <|end▁of▁sentence|> <pad> <unk> <fim_middle>
""".split()


@pytest.mark.parametrize("token", EVERY)
def test_every_token_anywhere(token: str) -> None:
    texts = [token, f"Hi{token}there", f"```\nx {token}\n```", f"Was ist `{token}`?"]
    assert has_control_tokens(pl.Series(texts)).to_list() == [True] * 4


@pytest.mark.parametrize("token", TOKENS, ids=lambda token: token.family)
def test_every_record_finds_its_example_and_nothing_finds_its_counter_example(token: Token) -> None:
    assert has_control_tokens(pl.Series([token.example, token.counter_example])).to_list() == [True, False]
    assert any(literal in token.example for literal in token.literals)
    assert pl.Series([token.example]).str.contains(token.pattern).to_list() == [True]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (None, False),
        ("", False),
        ("Plain text.", False),
        ("<s>old price</s> new price", False),
        ("<p><s>a</s><s>b c</s></p>", False),
        ("<s>a</s> b</s>", True),
        ("<s> a </s>", True),
        ("<s>a</s>", True),
        ("a <s>b\nc</s>", True),
        ("<strong>a</strong> <span>b</span>", False),
        ("if (a <| b |> c)", False),
        ("<|x|>", False),
        ("array[INST]", True),  # a tokenizer takes it for one, too
        ("the end[/INST]", True),
        ("### Response:\nyes", False),
        ("### Instruction: a\nb", False),
        ("Use\n### Human: a\n### Assistant: b", True),
        ("<think>Hm.</think> 4", False),
    ],
)
def test_what_is_one(text: str | None, found: bool) -> None:
    assert has_control_tokens(pl.Series([text], dtype=pl.String)).to_list() == [found]


@pytest.mark.parametrize(
    ("answer", "begins"),
    [
        ("Human: hi", True),
        ("HUMAN: hi", True),
        ("human: hi", True),
        ("Assistant：hi", True),
        ("Human : hi", True),
        ("<assistant>: hi", True),
        ("assistant\nhi", True),
        (" \nUser: hi", True),
        ("Assistant:\nhi", True),
        ("AI: hi", True),
        ("SAM: hi", True),
        ("**Assistant:** hi", True),
        ("**User**: hi", True),
        ("[user]: hi", True),
        ("[Assistant]\nhi", True),
        ("### Response:\nhi", True),
        ("### Instruction: hi", True),
        ("### Assistant\nhi", True),
        ("## human: hi", True),
        (None, False),
        ("", False),
        ("hi\nHuman: hi", False),
        ("Humans: a history", False),
        ("user: root\npassword: x", False),
        ("Response: hi", False),
        ("### Responses\nhi", False),
        ("[User] may be null.", False),
        ("Users: 3", False),
        ("System requirements: none", False),
        ("The user: who is it?", False),
    ],
)
def test_answers_that_begin_with_a_role(answer: str | None, begins: bool) -> None:
    assert begins_with_role(pl.Series([answer], dtype=pl.String)).to_list() == [begins]


@given(st.lists(st.none() | st.text(), max_size=5), st.sampled_from(EVERY), st.text(), st.text())
def test_laws(texts: list[str | None], token: str, before: str, after: str) -> None:
    """One answer a text, never null; a token is found between any texts (a strike-through's pair and an index aside)."""
    assert has_control_tokens(pl.Series(texts, dtype=pl.String)).null_count() == 0
    assert begins_with_role(pl.Series(texts, dtype=pl.String)).null_count() == 0
    if token not in ("<s>", "</s>"):
        assert has_control_tokens(pl.Series([f"{before} {token}{after}"])).to_list() == [True]
