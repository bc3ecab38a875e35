"""Tokens of chat templates in a text, and answers that begin with a role marker (T8, `control_tokens`).

A trainer's tokenizer takes such a token for the end of a turn, or the begin of one, wherever it stands, in code too. So there
is no excuse for one, but for what is no token: `TOKENS` is all this knows, each record with an example and a counter-example.

`<s>` and `</s>` are HTML's strike-through, too: a pair close around words of one line ("<s>old</s> new") is none, unless it
holds the whole text. `### Instruction:` alone is a heading; with `### Response:` on a later line it is Alpaca's template.
`<think>` and tags of tools are what a model writes, not where a turn ends: they stay.
"""

from typing import NamedTuple

import polars as pl


class Token(NamedTuple):
    """One family of tokens. `literals` are looked for first: without any of them the pattern matches nothing."""

    family: str
    literals: tuple[str, ...]
    pattern: str
    example: str
    counter_example: str


TOKENS = (
    Token(
        "words between bars: ChatML, Llama 3, Phi, GPT, Command R, Granite, harmony",
        ("<|",),
        r"<\|/?[A-Za-z][A-Za-z0-9_.▁-]{2,40}\|>",
        "Hi<|im_end|>\n<|im_start|>assistant",
        "xs |> List.map f, and f <| x |> g, and a<|b|>c",
    ),
    Token(
        "words between full-width bars: DeepSeek",
        ("<｜",),
        r"<｜[^\s<>｜]{2,40}｜>",
        "<｜begin▁of▁sentence｜>Hi",
        "在表格里写 <｜｜> 表示空白",
    ),
    Token(
        "turns in brackets: Llama 2, Mistral",
        ("INST]", "SYSTEM_PROMPT]", "TOOL_CALLS]", "TOOL_RESULTS]", "AVAILABLE_TOOLS]"),
        r"\[/?(?:INST|SYSTEM_PROMPT|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS)\]",
        "Hi[/INST] Hello",
        "opcode = memory[FIRST_INST] & 0xff",
    ),
    Token(
        "system prompts of Llama 2",
        ("<<SYS>>", "<</SYS>>"),
        r"<</?SYS>>",
        "<<SYS>>\nBe kind.\n<</SYS>>",
        "cat <<SYS > file",
    ),
    Token(
        "turns and ends of texts in angle brackets: Gemma, Command R, GLM, Idefics, StarCoder",
        ("_of_turn>", "_of_utterance>", "<bos>", "<eos>", "<pad>", "<unk>", "_TOKEN>", "<sop>", "<fim_", "[gMASK]"),
        r"<(?:start_of_turn|end_of_turn|end_of_utterance|bos|eos|pad|unk|BOS_TOKEN|EOS_TOKEN|sop|fim_(?:prefix|middle|suffix|pad))>"
        r"|\[gMASK\]",
        "<start_of_turn>user\nHi<end_of_turn>",
        "<type_of_turn>, <API_TOKEN> and <boss> are to be filled in.",
    ),
    Token(
        "numbered tokens: T5, Nemotron, Baichuan",
        ("<extra_id_", "<reserved_"),
        r"<(?:extra_id|reserved)_[0-9]+>",
        "<extra_id_1>User",
        "<reserved_words> and <extra_id_of_user>",
    ),
    Token(
        "begin and end of a text: Llama, Mistral",
        ("<s>", "</s>"),
        r"</?s>",
        "Hello</s>",
        "It costs <s>20</s> 15 euros, <s>no refunds</s>.",
    ),
    Token(
        "Alpaca's template",
        ("### ",),
        r"(?s:^|\n)### (?:Instruction|Human|User):(?s:.)*\n### (?:Response|Assistant):",
        "### Instruction:\nAdd 2 and 2.\n\n### Response:\n4",
        "### Instruction:\nMix the flour with the eggs.\n### Result:\nA dough",
    ),
)
_LITERALS = [literal for token in TOKENS for literal in token.literals]
# HTML's strike-through, and the one text that looks like it and is not: a whole text between begin and end.
STRUCK_THROUGH = r"<s>[^\s<>](?:[^<>\n]*[^\s<>])?</s>"
WHOLE_TEXT = r"\A\s*<s>[^<>]*</s>\s*\z"

# A role marker an answer may begin with. In plain writing mostly with a capital: `user: root` begins a file of settings.
_WORDS = "Human|User|Assistant|AI Assistant|AI|System|Bot|Chatbot|SAM|ChatGPT|GPT|GPT-4|Claude"
_ANY_WORDS = f"(?i:{_WORDS})"
ROLE_MARKERS = (
    rf"\A\s*(?:{_WORDS}|{_WORDS.upper()}|human|assistant) ?[:：]",
    rf"\A\s*(?:<{_ANY_WORDS}>[:：]|(?i:assistant)[ \t]*\n)",
    rf"\A\s*(?:[*_]{{1,2}}{_ANY_WORDS}(?::[*_]{{1,2}}|[*_]{{1,2}}:)|\[{_ANY_WORDS}\](?::|[ \t]*\n))",
    rf"\A\s*#{{1,6}} (?:(?i:{_WORDS}|Response|Instruction)[ \t]*:|{_ANY_WORDS}[ \t]*\n)",
)


def has_control_tokens(texts: pl.Series) -> pl.Series:
    """Whether a text holds a token of a chat template; false for null."""
    places = texts.str.contains_any(_LITERALS).fill_null(False).arg_true()
    some = texts.gather(places)
    is_whole = some.str.contains(WHOLE_TEXT)
    without_pairs = pl.select(
        pl.when(is_whole).then(some).otherwise(some.str.replace_all(STRUCK_THROUGH, ""))
    ).to_series()
    found = without_pairs.str.contains("|".join(token.pattern for token in TOKENS))
    return pl.repeat(False, len(texts), dtype=pl.Boolean, eager=True).scatter(places, found).rename(texts.name)


def begins_with_role(answers: pl.Series) -> pl.Series:
    """Whether an answer begins with a role marker, as `Human:` does; false for null."""
    return answers.str.contains("|".join(ROLE_MARKERS)).fill_null(False)
