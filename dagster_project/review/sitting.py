"""One person's walk through the queue: what is before them, what comes next, and how to go back. Knows no screen.

Every verdict is in the log before the walk moves on. What others decide meanwhile is looked at before every step, so an item
somebody else has just judged is not offered, and one that somebody else has open is passed over.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from dagster_project.review.assignment import SECOND_REVIEW_SHARE, Offers, offers
from dagster_project.review.claims import Claims
from dagster_project.review.decisions import Decision, Decisions
from dagster_project.review.items import ReviewItem


@dataclass(frozen=True)
class Voice:
    """What somebody has said about an item: a verdict, a note, or both."""

    reviewer: str
    verdict: str | None = None
    note: str = ""


@dataclass
class Sitting:
    """`claims` is left out where nobody else can be working."""

    items: Sequence[ReviewItem]
    decisions: Decisions
    reviewer: str
    share: float = SECOND_REVIEW_SHARE
    claims: Claims | None = None
    position: int | None = None  # of the item before the person; none at the end
    _offers: Offers = field(init=False)
    _offers_version: object = field(init=False)
    _trail: list[int] = field(default_factory=list)  # what was before them earlier
    _done: dict[int, str] = field(default_factory=dict)  # what they did here: a verdict or `skipped`; not offered again
    _undoable: list[tuple[int, Voice | None, str | None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._offers_version = self.decisions.version()
        self._offers = offers(self.items, self.decisions, self.reviewer, self.share)
        # Fixed for the sitting: whoever gives a second opinion and corrects a slip has still not seen the first.
        self._with_verdicts = self._offers.with_verdicts
        self._move_on()

    # --- looking -------------------------------------------------------------------------------------------------

    @property
    def item(self) -> ReviewItem | None:
        return None if self.position is None else self.items[self.position]

    @property
    def left(self) -> int:
        """How many items wait for this person, the one before them included."""
        self._look()
        return len(self._offers.positions) - sum(position in self._offers.as_set for position in self._done)

    @property
    def counts(self) -> Counter[str]:
        """How often what was done in this sitting: approved, rejected, skipped."""
        return Counter(self._done.values())

    def own_voice(self) -> Voice | None:
        """What this person has said about the item before them, on its texts as they are now."""
        item = self.item
        if item is None:
            return None
        mine = self.decisions.log().filter(
            pl.col("example_id") == item.id,
            pl.col("reviewer") == self.reviewer,
            (pl.col("content_hash") == item.content_hash).fill_null(True),
        )
        if mine.is_empty():
            return None
        verdict = mine.filter(pl.col("verdict") != "noted")["verdict"].tail(1).to_list()
        return Voice(
            self.reviewer,
            verdict[0] if verdict and verdict[0] in self.decisions.about.verdicts else None,
            mine["note"][-1],
        )

    def shown_verdicts(self) -> list[Voice]:
        """What others decided, where this person may know: they judged it, too, and the verdicts are evenly split."""
        item = self.item
        if item is None or self.position not in self._with_verdicts:
            return []
        others = self.decisions.latest_votes().filter(
            pl.col("example_id") == item.id,
            pl.col("reviewer") != self.reviewer,
            (pl.col("content_hash") == item.content_hash).fill_null(True),
        )
        return [Voice(*row) for row in others.select("reviewer", "verdict", "note").iter_rows()]

    # --- deciding ------------------------------------------------------------------------------------------------

    def decide(self, verdict: str) -> None:
        """Give a verdict on the item before the person, with the note they left on it, and move on."""
        if self.position is not None:
            before = self.own_voice()
            self._append(verdict, before.note if before else "")
            self._undoable.append((self.position, before, self._done.get(self.position)))
            self._pass(verdict)

    def keep_note(self, note: str) -> None:
        """Keep a note: with the verdict there is, or alone until there is one."""
        voice = self.own_voice()
        self._append((voice and voice.verdict) or "noted", note)

    def undo(self) -> bool:
        """Take back the latest verdict of this sitting and go to its item. What the person had said before holds again."""
        if not self._undoable:
            return False
        position, before, done_before = self._undoable[-1]
        if self.position is not None:
            self._trail.append(self.position)
        self._show(position)
        taken_back = self.own_voice()
        self._append((before and before.verdict) or "undone", taken_back.note if taken_back else "")
        self._undoable.pop()
        self._done.pop(position, None)
        if done_before:
            self._done[position] = done_before
        return True

    def skip(self) -> None:
        """Move on without a verdict; at the end, look whether something is waiting by now."""
        self._pass("skipped" if self.position is None else self._done.get(self.position, "skipped"))

    def back(self) -> bool:
        """Go to what was before the person earlier; false where there was nothing."""
        while self._trail:
            position = self._trail.pop()
            if position != self.position:
                self._show(position)
                return True
        return False

    # --- moving --------------------------------------------------------------------------------------------------

    def _append(self, verdict: str, note: str) -> None:
        if (item := self.item) is not None:
            is_blind = self.position not in self._with_verdicts
            self.decisions.append(Decision(item.id, verdict, self.reviewer, note, item.content_hash, is_blind))

    def _pass(self, done: str) -> None:
        if self.position is not None:
            self._done[self.position] = done
            self._trail.append(self.position)
        self._move_on()

    def _show(self, position: int | None) -> None:
        self.position = position
        if self.claims and position is None:
            self.claims.release()
        elif self.claims and position is not None:
            self.claims.take(self.items[position].id)

    def _look(self) -> None:
        version = self.decisions.version()
        if version != self._offers_version:
            self._offers = offers(self.items, self.decisions, self.reviewer, self.share)
            self._offers_version = version

    def _move_on(self) -> None:
        self._look()
        waiting = (position for position in self._offers.positions if position not in self._done)
        free = (position for position in waiting if not self.claims or self.claims.take(self.items[position].id))
        self._show(next(free, None))
