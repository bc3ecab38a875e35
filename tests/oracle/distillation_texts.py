"""What can be told from the texts alone: the five flags the law fixes (D4) and how much of a text was changed (S4)."""

import math
import re
from collections import Counter
from collections.abc import Iterator

from tests.oracle.edits import changed_and_total

FIXED_FLAGS = ("repetition", "incomplete", "refusal", "too_short", "too_long")
REPEATED, REPEATED_LENGTH = 3, 20
REFUSAL_LENGTH, REFUSAL_START = 600, 200
NOT_PROSE = re.compile(r"\s*([-*+•]\s|\d+[.)]\s|#{1,6}\s|\|)|\t| {4}")
REFUSALS = re.compile(
    r"\b(can't|can’t|cannot|can not|won't|won’t|will not|unable to|not able to|not going to)\s+"
    r"(\w+\s+){0,2}?(help|assist|comply|provide|answer|fulfil|fulfill|support|write|do that|do this)\b",
    re.IGNORECASE,
)


def is_fence(line: str) -> bool:
    return line.lstrip(" ").startswith(("```", "~~~"))


def prose_lines(text: str) -> Iterator[str]:
    """The lines outside fenced code."""
    inside = False
    for line in text.replace("\r\n", "\n").split("\n"):
        if is_fence(line):
            inside = not inside
        elif not inside:
            yield line


def has_repetition(text: str) -> bool:
    """A sentence or line of 20 or more characters, outside code, occurs three times."""
    lines = [line.strip() for line in prose_lines(text)]
    sentences = [sentence.strip() for line in lines for sentence in re.split(r"(?<=[.!?])\s+", line)]
    counts = [Counter(lines), Counter(sentences)]
    return any(n >= REPEATED and len(t) >= REPEATED_LENGTH for count in counts for t, n in count.items())


def is_incomplete(text: str) -> bool:
    """An open fence, or a last line of prose that ends in a letter, digit, comma or hyphen."""
    lines = [line for line in text.replace("\r\n", "\n").split("\n") if line.strip()]
    if sum(is_fence(line) for line in lines) % 2:
        return True
    if not lines or is_fence(lines[-1]) or NOT_PROSE.match(lines[-1]):
        return False
    last = lines[-1].rstrip()[-1]
    return last.isalnum() or last in ",-"


def is_refusal(text: str) -> bool:
    """An answer under 600 characters whose first 200 say that it will not or cannot help."""
    return len(text) < REFUSAL_LENGTH and REFUSALS.search(text[:REFUSAL_START]) is not None


def fixed_flags(text: str) -> set[str]:
    tokens = math.ceil(len(text) / 4)
    found = {
        "repetition": has_repetition(text),
        "incomplete": is_incomplete(text),
        "refusal": is_refusal(text),
        "too_short": tokens < 50,
        "too_long": tokens > 4000,
    }
    return {flag for flag, is_there in found.items() if is_there}


def changed_share(before: str, after: str) -> float:
    """S4: (removed + added) / (common + removed + added); 0 for two empty texts."""
    changed, total = changed_and_total(before, after)
    return changed / total if total else 0.0
