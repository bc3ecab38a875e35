"""What differs between SAM's attempt and the answer, word by word, for a person to see at a glance."""

import re
import unicodedata
from difflib import SequenceMatcher
from typing import NamedTuple

# A word, one character of a script that writes no spaces, one line break, a run of other space, or one sign.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_WORDS = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+|\n|[^\S\n]+|[^\w\s]")
# Comparing takes time that can grow with the square of the length; longer texts are compared line by line, then not at all.
MOST_WORDS = 6_000
MOST_LINES = 4_000


class Span(NamedTuple):
    """A stretch of one of the two texts."""

    text: str
    is_changed: bool


class Difference(NamedTuple):
    """Both texts in stretches. `changed_share`: how much of both is not common to them, by characters; null if not compared."""

    left: list[Span]
    right: list[Span]
    changed_share: float | None


def difference(left: str, right: str) -> Difference:
    """Mark the words that only one side has. Line ends of different systems are no difference."""
    left, right = left.replace("\r\n", "\n"), right.replace("\r\n", "\n")
    words = (_words(left), _words(right))
    if max(map(len, words)) > MOST_WORDS:
        words = (left.splitlines(keepends=True), right.splitlines(keepends=True))
        if max(map(len, words)) > MOST_LINES:
            return Difference([Span(left, False)], [Span(right, False)], None)
    blocks = _merged(_blocks(*words))
    both = len(left) + len(right)
    common = sum(len(before) for is_changed, before, _ in blocks if not is_changed)
    return Difference(
        [Span(before, is_changed) for is_changed, before, _ in blocks if before],
        [Span(after, is_changed) for is_changed, _, after in blocks if after],
        1 - 2 * common / both if both else 0.0,
    )


def _words(text: str) -> list[str]:
    found = _WORDS.findall(text)
    if text.isascii():
        return found
    words: list[str] = []
    for word in found:  # an accent or a joiner stays with what it belongs to
        if words and (unicodedata.category(word[0])[0] == "M" or word[0] == "\u200d" or words[-1].endswith("\u200d")):
            words[-1] += word
        else:
            words.append(word)
    return words


Block = tuple[bool, str, str]  # changed or not, what the left side has, what the right side has


def _blocks(left: list[str], right: list[str]) -> list[Block]:
    opcodes = SequenceMatcher(None, left, right).get_opcodes()
    return [(tag != "equal", "".join(left[i:j]), "".join(right[k:m])) for tag, i, j, k, m in opcodes]


def _merged(blocks: list[Block]) -> list[Block]:
    """Let a common stretch of under half the length of the changes around it be part of them: confetti helps nobody."""
    kept: list[Block] = []
    for block in blocks:
        kept.append(block)
        while len(kept) >= 3 and kept[-1][0] and not kept[-2][0] and kept[-3][0]:
            common = len(kept[-2][1].strip())
            if 2 * common > min(max(map(len, kept[-3][1:])), max(map(len, kept[-1][1:]))):
                break
            kept[-3:] = [(True, "".join(part[1] for part in kept[-3:]), "".join(part[2] for part in kept[-3:]))]
    return kept
