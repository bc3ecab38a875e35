"""Who speaks in a transcript (T7): the words for each role, and the ways a turn is marked, as data.

A `Family` is one way to write conversations down. Families are tried in order; the first whose markers make a transcript of
a text is the only one that counts in it, so a "Q:" within an answer to "User:" stays text. Its pattern has two groups, the
whole marker and the word in it. Patterns use no look-around and are written for lines of any text.
"""

from typing import NamedTuple

USER, ASSISTANT, SYSTEM, TOOL = "user", "assistant", "system", "tool"
ROLES = (SYSTEM, USER, ASSISTANT, TOOL)

_USERS = (
    "user",
    "human",
    "customer",
    "client",
    "you",
    "you said",
    "nutzer",
    "benutzer",
    "utilisateur",
    "usuario",
    "用户",
)
_ASSISTANTS = (
    *("assistant", "ai", "ai assistant", "bot", "chatbot", "agent", "support", "model", "llm", "assistent"),
    *("asistente", "助手"),
)
# Proper names: a conversation may change from one to another, while a generic word stays the same all through.
_NAMES = (
    *("sam", "claude", "chatgpt", "chatgpt said", "gpt", "gpt-3", "gpt-3.5", "gpt-4", "gpt-4o", "gemini", "copilot"),
    *("bard", "llama", "mistral"),
)
_ASKING = ("q", "question", "query", "prompt", "frage", "pregunta")
_ANSWERING = ("a", "answer", "response", "reply", "completion", "antwort", "réponse", "respuesta")
WORDS = {
    **dict.fromkeys((*_USERS, *_ASKING), USER),
    **dict.fromkeys((*_ASSISTANTS, *_NAMES, *_ANSWERING), ASSISTANT),
    "system": SYSTEM,
    "tool": TOOL,
}
NAMES = frozenset(_NAMES)
# The role of a message in JSON, as G8 compares words.
JSON_ROLES = {
    **{word: role for word, role in WORDS.items() if word not in (*_ASKING, *_ANSWERING)},
    **dict.fromkeys(("prompter", "question"), USER),
    **dict.fromkeys(("answer",), ASSISTANT),
    "developer": SYSTEM,
    **dict.fromkeys(("function", "ipython", "observation", "tool_result", "function_response"), TOOL),
}

_SPEAKERS = "|".join(sorted((*_USERS, *_ASSISTANTS, *_NAMES, "system", "tool"), key=len, reverse=True)).replace(
    ".", r"\."
)
_LETTERS = "|".join(sorted((*_ASKING, *_ANSWERING), key=len, reverse=True))
_TAIL = r"(?: ?#?[0-9]{1,3})?(?: ?\([^()\n]{1,40}\))?"  # the number of a turn, and a remark such as the time
_TIME = r"(?:\[[0-9][0-9T:., /Z+-]{2,30}\] ?)?"


def _marked(words: str) -> str:
    """A word as somebody who marks a line writes it: `User:`, `**User:**`, `**User**:`, `[user]`, `### User`, `> User:`."""
    return (
        rf"(^ {{0,3}}(?:[>*-] )?{_TIME}(?:"
        rf"(?:#{{1,6}} )?(?:\*\*|__|\*|_|\[)?({words}){_TAIL}\]?(?:(?:\*\*|__|\*|_)?[:：]|[:：](?:\*\*|__|\*|_))(?:\*\*|__|\*|_)?"
        rf"|\[({words})\]|#{{1,6}} (?:\*\*)?({words}){_TAIL}(?:\*\*)?[ \t\r]*$))"
    )


class Family(NamedTuple):
    """One way to mark turns. `pattern` has the groups marker, word, word ...: of the words one is there. Case does not count."""

    name: str
    pattern: str
    words: int  # how many groups hold the word
    is_questions: bool  # begins with a question and has an answer, or it is no transcript
    example: str
    counter_example: str


FAMILIES = (
    Family(
        "tokens of a chat template",
        r"((?:<s>[ \t]*)?(?:<\|im_start\|>[ \t]*(system|user|assistant|tool)\b[ \t]*|<\|(system|user|assistant|tool)\|>"
        r"|<\|start_header_id\|>[ \t]*(system|user|assistant|tool)[ \t]*<\|end_header_id\|>"
        r"|<start_of_turn>[ \t]*(user|model)\b[ \t]*))",
        4,
        False,
        "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello<|im_end|>",
        "Write <user> before what a user says.",
    ),
    Family(
        "speakers",
        _marked(_SPEAKERS),
        3,
        False,
        "**User:** Hi\n**SAM:** Hello",
        "Note: the user said hi.\nWarning: it is late.",
    ),
    Family(
        "questions and answers",
        _marked(_LETTERS),
        3,
        True,
        "Q: What is 2 + 2?\nA: 4",
        "A: Rome\nB: Paris",
    ),
)
# What a turn ends with in a template; only at the end of a turn it is taken off.
ENDS = r"(?:\s|<\|im_end\|>|<\|eot_id\|>|<\|end\|>|<\|endoftext\|>|<end_of_turn>|</s>)+\z"
CHOICES = r"(?m)^ {0,3}[BC][:.)] "  # of the possible answers to a question of choice, "A:" is one
