"""What the person sees: an item laid out for a window of any size. Pure: a view and a size in, lines of styled text out.

What is asked of them is a `Task`: which key gives which verdict, and how an item is laid out. Here is that of reviews;
labels of turns are in `label_screen`.

From top to bottom: a header, the item (which scrolls: why it is here, the query, attempt and answer side by side with what
differs marked, the context), a line for messages, and the keys. Differences are marked with `[-...-]` and `{+...+}` and by a sign in
the margin, so that they can be told apart without colour.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from rich.cells import cell_len

from dagster_project.columns.printable import Line, Piece, cut, one_line, printable, tail, visible_space, wrap
from dagster_project.review.difference import Span, difference
from dagster_project.review.items import ReviewItem
from dagster_project.review.sitting import Voice

SIDE_BY_SIDE_CELLS = 60  # in a narrower window the answer stands below the attempt
MARGIN_CELLS = 2
MOST_CHARACTERS = 100_000  # of one text: more than anyone reads in a terminal, laid out before they notice
KEYS = ("a approve  r reject  s skip  n note  u undo  b back  q quit  ? help", "a r s n u b q ?help", "arsnubq?")
NOTE_KEYS = ("Enter keeps the note  Esc leaves it as it was", "Enter/Esc")
MARKS = {"removed": ("[-", "-]", "-"), "added": ("{+", "+}", "+")}
TITLES = {
    "example": ("SAM's attempt", "the teacher's answer"),
    "correction": ("the answer users saw", "the user's correction"),
}
HELP = (
    ("a", "approve: it may be used for training"),
    ("r", "reject: it never leaves"),
    ("s", "skip: not again in this sitting"),
    ("n", "note: kept with your verdict, or alone"),
    ("u", "undo your latest verdict in this sitting"),
    ("b", "back to what you saw before"),
    ("q", "quit; ctrl-c does the same"),
    ("up down", "scroll a line; j and k as well"),
    ("PgUp PgDn", "scroll a page; space as well; Home, End"),
    ("?", "this help; any key leaves it"),
)
HELP_REMARKS = (
    "Every verdict is on disk before the next item is shown. It can be changed at any time: go back and decide again.",
    "[-words-] stand only on the left, {+words+} only on the right; - and + in the margin mark their lines. A difference "
    "of white space alone is shown as · (space), → (tab) and ↵ (line break).",
)


@dataclass(frozen=True)
class Row:
    """One line of the window. `right` starts at cell `middle`, wherever the terminal thinks the left part ended."""

    left: Line = field(default_factory=list)
    right: Line | None = None
    middle: int = 0


@dataclass(frozen=True)
class View:
    """Everything that decides what is on the screen but for its size."""

    reviewer: str
    item: ReviewItem | None
    left: int = 0  # items that wait for this person
    own: Voice | None = None
    others: tuple[Voice, ...] = ()
    message: str = ""
    typing: str | None = None  # the note being written
    is_help: bool = False
    top: int = 0  # the first line of the body that is shown
    is_whole: bool = False  # long texts are not folded, where the task folds them
    progress: str = ""  # how far they are, where that is not how many are left


class Task(NamedTuple):
    """What is asked of a person."""

    verdicts: Mapping[str, str]  # by key
    keys: tuple[str, ...]  # the line of keys, and shorter ones for narrower windows
    help: tuple[tuple[str, str], ...]
    remarks: tuple[str, ...]
    item_rows: Callable[[View, ReviewItem, int], list["Row"]]
    has_notes: bool = False
    folds: bool = False


@dataclass(frozen=True)
class Frame:
    rows: list[Row]
    top: int  # `top` of the view, within bounds
    page: int  # lines of the body that fit
    cursor: tuple[int, int] | None = None  # row and column while a note is written


def body(view: View, columns: int, task: Task) -> list[Row]:
    """The part that scrolls."""
    if view.is_help:
        return _help_rows(columns, task)
    if view.item is None:
        waiting = (
            f"What is left ({view.left:,}) is open elsewhere just now." if view.left else "Nothing is left to judge."
        )
        return text_rows(f"{waiting}\n\ns looks again, b goes back, u undoes, q quits.", columns)
    return task.item_rows(view, view.item, columns)


def _example_rows(view: View, item: ReviewItem, columns: int) -> list[Row]:
    rows = text_rows("\n".join(_about(view, item)), columns)
    rows += [rule("query", columns), *text_rows(shortened(item.query), columns)]
    rows += _answers(item, columns)
    if item.context:
        rows += [rule("context: what came before the query", columns), *text_rows(shortened(item.context), columns)]
    return rows


def frame(view: View, rows: list[Row], columns: int, height: int, task: Task) -> Frame:
    """The window: `rows` is the body for this view and width."""
    is_typing = view.typing is not None
    chrome = 3 if height >= 6 else 2 if height >= 3 else 1 if height == 2 or is_typing else 0
    page = max(height - chrome, 0)
    top = max(0, min(view.top, len(rows) - page))
    shown = rows[top : top + page]
    shown += [Row()] * (page - len(shown))
    header = [Row([Piece(_header(view, columns), "header")])] if chrome >= 2 else []
    message = [Row([Piece(_message(view, len(rows), top, page, columns), "message")])] if chrome == 3 else []
    keys = [Row([Piece(_first_that_fits(task.keys, columns), "keys")])] if chrome else []
    cursor = None
    if view.typing is not None:
        prompt = "note: " if columns >= 20 else ""
        written = prompt + tail(one_line(view.typing), max(columns - len(prompt) - 1, 0))
        keys = [Row([Piece(_first_that_fits(NOTE_KEYS, columns), "keys")])] if chrome == 3 else []
        message = [Row([Piece(written, "message")])]
        cursor = (height - 1 if chrome == 3 else height, min(cell_len(written) + 1, max(columns, 1)))
    return Frame([*header, *shown, *message, *keys], top, page, cursor)


def _header(view: View, columns: int) -> str:
    what = f"{one_line(view.item.id)}  {view.item.kind}" if view.item else "the end of the queue"
    verdict = f"  you: {view.own.verdict}" if view.own and view.own.verdict else ""
    how_far = view.progress or f"{view.left:,} left"
    text = cut(f" {what}{verdict}  {how_far}  {one_line(view.reviewer)} ", columns)
    return text + " " * (columns - cell_len(text))


def _message(view: View, lines: int, top: int, page: int, columns: int) -> str:
    where = f"{top + 1}-{min(top + page, lines)} of {lines}" if lines > page else ""
    room = columns - cell_len(where) - 2
    if room < 10:
        return cut(one_line(view.message) or where, columns)
    left = cut(one_line(view.message), room)
    return left + " " * (columns - cell_len(left) - cell_len(where)) + where


def _first_that_fits(texts: tuple[str, ...], columns: int) -> str:
    return next((text for text in texts if len(text) <= columns), cut(texts[-1], columns))


def _about(view: View, item: ReviewItem) -> list[str]:
    score = "none" if item.score is None else f"{item.score:.2f}"
    lines = [f"domain {one_line(item.domain)}   score {score}   rank {item.rank}"]
    lines += [f"why here: {', '.join(map(one_line, item.reasons))}"] if item.reasons else []
    lines += [f"flags: {', '.join(map(one_line, item.flags)) or 'none'}"]
    lines += [f"users: {one_line(line)}" for line in item.feedback]
    return lines + voices(view)


def voices(view: View) -> list[str]:
    """What was said of the item, as far as the person may know."""
    lines = []
    if view.others:
        lines += ["reviewers differ; your verdict again, or another, settles what you think:"]
        lines += [_said(voice) for voice in view.others]
    if view.own and (view.own.verdict or view.own.note):
        lines += [_said(replace(view.own, reviewer="you"))]
    return lines


def _said(voice: Voice) -> str:
    note = f"note: {one_line(voice.note)}" if voice.note else ""
    return f"  {one_line(voice.reviewer)}: {', '.join(part for part in (voice.verdict, note) if part)}"


def _answers(item: ReviewItem, columns: int) -> list[Row]:
    titles = TITLES.get(item.kind, TITLES["example"])
    answer = shortened(item.answer)
    if item.attempt is None:
        return [rule(f"{titles[1]} (there is no attempt)", columns), *text_rows(answer, columns)]
    found = difference(shortened(item.attempt), answer)
    left_title, right_title = titles[0], f"{titles[1]}, {_how_different(found.changed_share)}"
    if columns < SIDE_BY_SIDE_CELLS:
        left, right = _side(found.left, "removed", columns), _side(found.right, "added", columns)
        return [rule(left_title, columns), *map(Row, left), rule(right_title, columns), *map(Row, right)]
    width = (columns - 3) // 2
    middle = width + 1
    left, right = _side(found.left, "removed", width), _side(found.right, "added", columns - width - 3)
    heading = Row(
        rule(left_title, width + 1).left, [Piece("┬─", "rule"), *rule(right_title, columns - width - 3).left], middle
    )
    rows = [heading]
    for position in range(max(len(left), len(right))):
        of_left = left[position] if position < len(left) else []
        of_right = right[position] if position < len(right) else []
        rows.append(Row(of_left, [Piece("│ ", "rule"), *of_right], middle))
    return rows


def _how_different(changed_share: float | None) -> str:
    if changed_share is None:
        return "too long to compare"
    if 0 < changed_share < 0.01:
        return "under 1% changed"
    return f"{changed_share:.0%} changed" if changed_share else "the same"


def _side(spans: list[Span], style: str, columns: int) -> list[Line]:
    """One of the two texts, changed stretches in marks, lines with one in them marked in the margin."""
    opening, closing, sign = MARKS[style]
    pieces: list[Piece] = []
    for span in spans:
        if not span.is_changed:
            pieces.append(Piece(printable(span.text)))
            continue
        shown = visible_space(span.text) if span.text.isspace() else printable(span.text)
        pieces.append(Piece(shown, style, opening, closing))
    lines = wrap(pieces, columns - MARGIN_CELLS)
    return [[_margin(line, style, sign), *line] for line in lines]


def _margin(line: Line, style: str, sign: str) -> Piece:
    is_changed = any(piece.style == style for piece in line)
    return Piece(f"{sign} ", style) if is_changed else Piece("  ")


def text_rows(text: str, columns: int) -> list[Row]:
    return [Row(line) for line in wrap([Piece(printable(text))], columns)]


def rule(title: str, columns: int) -> Row:
    text = cut(f"── {title} ", columns)
    return Row([Piece(text + "─" * (columns - cell_len(text)), "rule")])


def shortened(text: str) -> str:
    if len(text) <= MOST_CHARACTERS:
        return text
    return (
        f"{text[:MOST_CHARACTERS]}\n(... {len(text) - MOST_CHARACTERS:,} more characters: the batch file has them all)"
    )


def _help_rows(columns: int, task: Task) -> list[Row]:
    keys = "\n".join(f"{key:<10} {what}" for key, what in task.help)
    return text_rows("\n\n".join((keys, *task.remarks)), columns)


REVIEWING = Task({"a": "approved", "r": "rejected"}, KEYS, HELP, HELP_REMARKS, _example_rows, has_notes=True)
