"""Questions, answers and attempts for dirty distillation databases, each answer for one thing the law says of texts.

No answer leaves open what the law leaves open: sentences repeat to the letter, refusals are blunt, and what is no
refusal says nothing of the kind.
"""

import unicodedata
from collections.abc import Callable

PROMPTS = (
    "How do I centre a div in a page?",
    "What is the capital of Österreich, and since when?",
    "Explain RAID 5\tplease",
    "Why is the sky blue?",
    "Write a haiku about tea in a café",
    "Which sort is stable?",
    "How many sheep are left?",
    "What does git rebase do?",
)
FILLER = (
    "The first part looks at the question as it was asked. ",
    "Another part compares two ways of doing it. ",
    "Some readers will want a figure, and there is one. ",
    "Others would rather see where it goes wrong. ",
    "A table would be too much for so little. ",
    "The rest is a matter of taste and of time. ",
    "Nothing here depends on the version in use. ",
    "A menu is a list of prices, for example. ",
    "Water boils earlier on a mountain than at sea. ",
    "Every list has an end, even a long one. ",
)


def prose(length: int, start: int = 0, end: str = ".") -> str:
    """Exactly so many characters of sentences that do not repeat, ending in `end`."""
    text = ""
    number = start
    while len(text) < length:
        round_number = number // len(FILLER)
        text += (f"Point {round_number}: " if round_number else "") + FILLER[number % len(FILLER)]
        number += 1
    body = text[: length - len(end)]
    return (body[:-1] + "x" if not body[-1].isalpha() else body) + end


SENTENCE = "This sentence is here again and again. "
REPEATED_LINE = "exactly twenty chars"
ALMOST_REPEATED = "nineteen characters"
assert (len(REPEATED_LINE), len(ALMOST_REPEATED)) == (20, 19)
CODE = "```python\n{}\n```"
LOOP = "print('the very same line of code')\n"

PLAIN_ANSWERS = (  # prose on one line or several, which may be flattened and spread
    prose(300),
    prose(300, 3),
    prose(240, 5),
    prose(99, 1),
    prose(100, 1),
    prose(196, 2),
    prose(197, 2),
    prose(40, 4),
    prose(150, 6, ","),
    prose(150, 7, "and"),
    prose(150, 8, " 42"),
    prose(150, 1, "-"),
    prose(220, 2, "?"),
    prose(160, 4, ":"),
    f"{prose(120, 2)}\n\nA café is not a cafeteria. {prose(110, 6)}",
    f"{prose(120, 3)}\n{SENTENCE * 3}",
    f"{prose(120, 5)}\n{SENTENCE * 2}",
    f"{prose(130, 1)} {SENTENCE}{prose(60, 4)} {SENTENCE}{prose(70, 6)} {SENTENCE}",
)
SHAPED_ANSWERS = (  # their lines matter
    f"{prose(150, 4)}\n\n1. Look at the log\n2. Find the cause\n3. Mend it",
    f"{prose(120, 4)}\n\n- one thing\n- another thing",
    f"{prose(120, 7)}\n\n# The last word",
    f"{prose(120, 8)}\n\n| a | b |\n| 1 | 2 |",
    f"{prose(130, 2)}\n\n{CODE.format('x = 1')}",
    f"{prose(130, 3)}\n\n```python\nx = 1.",
    f"{prose(130, 5)}\n\n{CODE.format('x = 1')}\n\nAnd so on",
    f"{prose(120, 1)}\n\n" + f"{REPEATED_LINE}\n\n" * 3 + "The end.",
    f"{prose(120, 2)}\n\n" + f"{ALMOST_REPEATED}\n\n" * 3 + "The end.",
    f"{prose(120, 6)}\n\n{CODE.format(LOOP * 4)}\n\nThat is all.",
    CODE.format("def centre(div):\n    return div"),
)
REFUSALS = (
    "I'm sorry, but I can't help with that request.",
    "I cannot assist with this. " + prose(200, 3),
    "I won't help with that, because somebody could be hurt. " + prose(120, 5),
    "I am unable to provide that. " + prose(599 - 29, 2),
)
NO_REFUSALS = (
    "I am unable to provide that. " + prose(600 - 29, 2),
    prose(210, 4) + " I cannot assist with anything beyond that.",
    "You cannot divide a number by zero, so the loop stops early. " + prose(200, 6),
)
TALK_OF_ATTEMPTS = (
    "Your answer is wrong. " + prose(230, 3),
    f"{prose(130, 5)}\n\nThe previous response missed this point. {prose(90, 7)}",
    "SAM's attempt is too short. " + prose(230, 6),
)
NO_TALK_OF_ATTEMPTS = (
    "Your question is a good one, and your code is fine. " + prose(200, 4),
    "The previous section has more of it. " + prose(210, 8),
)
LONG_ANSWERS = (prose(16_000, 1), prose(16_001, 1))
# The first few are without fault; they come often, so that something is left to export.
ANSWERS = (
    *PLAIN_ANSWERS[:3] * 8,
    *PLAIN_ANSWERS,
    *SHAPED_ANSWERS,
    *REFUSALS,
    *NO_REFUSALS,
    *TALK_OF_ATTEMPTS,
    *NO_TALK_OF_ATTEMPTS,
)
ATTEMPTS = (
    "Try float: left",
    "Use a table!",
    "I think it is Graz?",
    prose(120, 9),
    "It depends - on the weather",
)
OTHER_ANSWERS = ("Something else was said here.", "And here something else again, at some length.")

Change = Callable[[str], str]
QUESTION_STYLES: tuple[Change, ...] = (
    str,
    str,
    str.upper,
    str.lower,
    str.swapcase,
    lambda t: t.replace(" ", " \u00a0 "),
    lambda t: f"\n{t} ",
    lambda t: unicodedata.normalize("NFD", t),
)
# The same interaction to D2, though not always the same answer to G10.
LINE_STYLES: tuple[Change, ...] = (
    str,
    str,
    lambda t: t.replace("\n", "\r\n"),
    lambda t: f"{t}\n",
    lambda t: unicodedata.normalize("NFD", t),
)
PLAIN_STYLES: tuple[Change, ...] = (
    *LINE_STYLES,
    str.upper,
    str.swapcase,
    lambda t: " ".join(t.split()),
    lambda t: t.replace(" ", "  "),
    lambda t: f"\n  {t}",
)
# The same answer to G10.
SAME_ANSWER: tuple[Change, ...] = (
    str,
    str,
    lambda t: t.replace("\n", "\r\n") if "\r" not in t else t,
    lambda t: f" {t}\n",
    lambda t: unicodedata.normalize("NFD", t),
)


def nearly(answer: str) -> str:
    """One word off."""
    return answer.replace("part", "piece", 1) if "part" in answer else f"{answer} Ok."
