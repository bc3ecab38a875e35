"""What a person sees of a pair they label (C7): question, response and the message after it on one screen, whatever the detector
says of them, so that nothing sways the verdict. Long texts are folded; one key unfolds them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from time import monotonic

from dagster_project.columns.printable import Line, Piece
from dagster_project.review.items import ReviewItem
from dagster_project.review.screen import Row, Task, View, rule, shortened, text_rows, voices
from dagster_project.review.sitting import Sitting

QUERY_LINES, RESPONSE_LINES, MESSAGE_LINES = 4, 8, 5  # of 24 lines 21 are the item's
USUAL_SECONDS = 6.0  # 200 pairs in 20 minutes
GAPS_NEEDED = 5  # before one's own pace is known
LONGEST_GAP = 120.0  # whoever was away longer was not judging


def _pair_rows(view: View, item: ReviewItem, columns: int) -> list[Row]:
    rows = text_rows("\n".join(said), columns) if (said := voices(view)) else []
    parts = (
        ("the user asked", item.query, QUERY_LINES),
        ("the response", item.attempt, RESPONSE_LINES),
        ("then the user wrote", item.answer, MESSAGE_LINES),
    )
    for title, text, most in parts:
        lines = text_rows(shortened(text), columns) if text else [Row([Piece("(nothing is known of it)")])]
        rows += [rule(title, columns), *(lines if view.is_whole else _folded(lines, most))]
    return rows


def _folded(lines: list[Row], most: int) -> list[Row]:
    """The beginning and the end, which tell most: a response asks at its end."""
    if len(lines) <= most:
        return lines
    first = (most - 1) // 2
    last = most - 1 - first
    left_out: Line = [Piece(f"(... {len(lines) - first - last:,} more lines: f shows them)", "rule")]
    return [*lines[:first], Row(left_out), *lines[-last:]]


LABELLING = Task(
    {"r": "rejected", "a": "accepted", "n": "neutral"},
    (
        "r reject  a accept  n neutral  s skip  u undo  b back  f unfold  q quit  ? help",
        "r a n s u b f q ?help",
        "ransubfq?",
    ),
    (
        ("r", "rejected: the user is not content with the response"),
        ("a", "accepted: the user takes it, thanks, or builds on it"),
        ("n", "neutral: the message does not tell"),
        ("s", "skip: not again in this sitting"),
        ("u", "undo your latest verdict in this sitting"),
        ("b", "back to what you saw before"),
        ("f", "unfold long texts, or fold them again"),
        ("q", "quit; ctrl-c does the same"),
        ("up down", "scroll a line; j and k as well"),
        ("PgUp PgDn", "scroll a page; space as well; Home, End"),
        ("?", "this help; any key leaves it"),
    ),
    (
        "What does the message say of the response above it? Judge by what is written, not by how good the response is. Do "
        "not think long: where you cannot tell, it is neutral.",
        "Every verdict is on disk before the next pair is shown. It can be changed at any time: go back and judge again.",
    ),
    _pair_rows,
    folds=True,
)


@dataclass
class Progress:
    """How far a person is: `31 of 200, about 17 min`. The pace is that of their own verdicts, once there are a few."""

    already: int  # judged by them before this sitting
    clock: Callable[[], float] = monotonic
    _gaps: list[float] = field(default_factory=list)
    _latest: tuple[int, float] | None = None

    def __call__(self, sitting: Sitting) -> str:
        done = self.already + sum(count for what, count in sitting.counts.items() if what != "skipped")
        now = self.clock()
        if self._latest is not None and done > self._latest[0] and now - self._latest[1] <= LONGEST_GAP:
            self._gaps.append(now - self._latest[1])
        if self._latest is None or done != self._latest[0]:
            self._latest = (done, now)
        left = sitting.left
        pace = median(self._gaps) if len(self._gaps) >= GAPS_NEEDED else USUAL_SECONDS
        minutes = max(1, round(left * pace / 60))
        return f"{done:,} of {done + left:,}" + (f", about {minutes:,} min left" if left else "")
