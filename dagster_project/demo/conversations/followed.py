"""Turns about which somebody will also press a button elsewhere, and what the next message said about them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random

from dagster_project.demo.conversations.rows import Turn, turn_name
from dagster_project.demo.conversations.talk import ACCEPT, DECLINE, FOLLOW, REJECTIONS, THANKS
from dagster_project.demo.conversations.turns import TIMEOUT
from dagster_project.demo.followed_turn import FollowedTurn

ACCEPTANCES = frozenset((ACCEPT, DECLINE, FOLLOW, THANKS))
UNKNOWN = (None, "", "default")


@dataclass
class FollowedTurns:
    """A fair sample of at most `wanted` of all turns whose next message says clearly what its user thinks."""

    wanted: int
    rng: Random
    chosen: list[FollowedTurn] = field(default_factory=list)
    _seen: int = 0

    def add(self, session: Sequence[Turn]) -> None:
        for turn, following in pairwise(session):
            if _is_sound(turn) and _is_sound(following) and _is_clear(turn, following):
                self._take(turn, following.sense in REJECTIONS)

    def _take(self, turn: Turn, is_rejected: bool) -> None:
        self._seen += 1
        place = len(self.chosen) if len(self.chosen) < self.wanted else int(self.rng.random() * self._seen)
        if place < self.wanted:
            found = FollowedTurn(str(turn.user_id), turn.session_id, turn_name(turn.number), turn.asked_at, is_rejected)
            self.chosen[place : place + 1] = [found]


def _is_clear(turn: Turn, following: Turn) -> bool:
    is_prompt = 0 < following.asked_at - turn.asked_at < TIMEOUT
    return is_prompt and (following.sense in REJECTIONS or following.sense in ACCEPTANCES)


def _is_sound(turn: Turn) -> bool:
    """Whether its row is as it was made, and says whose it is."""
    is_known = turn.user_id not in UNKNOWN and turn.session_id not in UNKNOWN
    return is_known and turn.turn_number == turn.number and turn.timestamp == turn.asked_at
