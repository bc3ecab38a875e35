"""Text from the data made safe for a terminal, measured and cut in cells.

A terminal obeys what it is sent: an escape sequence in an answer could move the cursor, retitle the window or repaint the
verdict. So nothing but printable characters goes out. Everything else becomes visible, which a reviewer wants anyway: text
that hides or reorders itself (zero-width and direction controls, tag characters) has no place in a training set unseen.
"""

from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from rich.cells import cell_len, split_graphemes

TAB = "    "
JOINERS = "\u200c\u200d"  # part of words in some scripts, and of emoji
LINE_SYMBOLS = {"\n": "↵\n", "\t": "→   ", " ": "·"}


class Piece(NamedTuple):
    """Text of one look. Marks go around the part of it on each line, and are part of it once it is wrapped."""

    text: str
    style: str = ""
    opening: str = ""
    closing: str = ""


Line = list[Piece]
Drawn = tuple[str, int, str]  # what is drawn as one character, its cells, its style


def printable(text: str) -> str:
    """`text` with line breaks as they are, tabs as spaces, and all that is not printable made visible."""
    text = text.replace("\r\n", "\n")
    if text.isprintable():
        return text
    return "\n".join(line if line.isprintable() else _visible(line) for line in text.split("\n"))


def one_line(text: str) -> str:
    """`printable`, with line breaks made visible, too."""
    return printable(text).replace("\n", "␊")


def visible_space(text: str) -> str:
    """White space that makes a difference, and therefore has to be seen."""
    return "".join(LINE_SYMBOLS.get(character) or printable(character) for character in text.replace("\r\n", "\n"))


def _visible(line: str) -> str:
    shown, before = [], ""
    for character in line:
        shown.append(character if character.isprintable() else _symbol(character, before))
        before = character
    return "".join(shown)


def _symbol(character: str, before: str) -> str:
    code = ord(character)
    if character == "\t":
        return TAB
    if code < 0x20:
        return chr(0x2400 + code)  # the control pictures
    if character in JOINERS and before > "\x7f" and before.isprintable():
        return character
    if character.isspace() and code not in (0x85, 0x2028, 0x2029):
        return character  # a space of another width
    return f"<U+{code:04X}>"


def cut(text: str, cells: int) -> str:
    """As much of a printable line as fits, with a mark where something is missing."""
    if cell_len(text) <= cells:
        return text
    kept, used = "", 0
    for cluster, width in clusters(text):
        if used + width > cells - 1:
            break
        kept += cluster
        used += width
    return f"{kept}…" if cells > 0 else ""


def tail(text: str, cells: int) -> str:
    """The end of a printable line, where a person is typing."""
    kept, used = "", 0
    for cluster, width in reversed(clusters(text)):
        if used + width > cells:
            break
        kept = cluster + kept
        used += width
    return kept


def clusters(text: str) -> list[tuple[str, int]]:
    """What is drawn as one character, and how many cells it takes."""
    if text.isascii():
        return [(character, 1) for character in text]
    return [(text[start:end], width) for start, end, width in split_graphemes(text)[0]]


def wrap(pieces: Iterable[Piece], cells: int) -> list[Line]:
    """Printable text broken into lines of at most so many cells, after a space where there is one."""
    lines: list[Line] = []
    for logical in _split_at_breaks(pieces):
        lines += _wrap_line(logical, max(cells, 1))
    return lines


def _split_at_breaks(pieces: Iterable[Piece]) -> list[Line]:
    lines: list[Line] = [[]]
    for piece in pieces:
        first, *others = piece.text.split("\n")
        lines[-1].append(piece._replace(text=first))
        lines += [[piece._replace(text=other)] for other in others]
    return lines


def _wrap_line(pieces: Line, cells: int) -> list[Line]:
    drawn = [part for piece in pieces for part in _drawn(piece)]
    lines: list[Line] = []
    start = used = 0
    after_space = 0  # where the line could be broken
    for position, (cluster, width, _) in enumerate(drawn):
        while used + width > cells and position > start and not cluster.isspace():
            end = after_space if after_space > start else position
            lines.append(_joined(drawn[start:end], cells))
            used = sum(earlier for _, earlier, _ in drawn[end:position])
            start = end
        used += width
        if cluster.isspace():
            after_space = position + 1
    return [*lines, _joined(drawn[start:], cells)]


def _drawn(piece: Piece) -> list[Drawn]:
    """A piece in clusters. Its marks are drawn with its first and its last one, so that no line break tears them off."""
    if piece.text.isascii() and not piece.opening:
        return [(character, 1, piece.style) for character in piece.text]
    found = [(cluster, width, piece.style) for cluster, width in clusters(piece.text)]
    if found and piece.opening:
        found[0] = (piece.opening + found[0][0], len(piece.opening) + found[0][1], piece.style)
        found[-1] = (found[-1][0] + piece.closing, found[-1][1] + len(piece.closing), piece.style)
    return found


def _joined(drawn: list[Drawn], cells: int) -> Line:
    """Neighbours of the same style in one piece again; spaces that hang over the edge are left out."""
    over = sum(width for _, width, _ in drawn) - cells
    while over > 0 and drawn and drawn[-1][0].isspace():
        over -= drawn[-1][1]
        drawn = drawn[:-1]
    grouped = groupby(drawn, key=itemgetter(2))
    return [Piece("".join(cluster for cluster, _, _ in part), style) for style, part in grouped]


def short(text: str, width: int = 100) -> str:
    """On one line, and not more of it than tells which text it is."""
    folded = " ".join(text.split())
    return folded if len(folded) <= width else folded[: width - 1] + "…"
