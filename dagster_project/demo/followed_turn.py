"""A turn whose next message says what its user thinks: one system's demo finds it, another's rates it by button."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FollowedTurn:
    user_id: str
    session_id: str
    turn_id: str
    asked_at: float
    is_rejected: bool
