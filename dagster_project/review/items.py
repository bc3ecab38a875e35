"""What a person judges: one example or one user's correction, with everything they need to decide."""

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl

from dagster_project.columns.content_hashes import CONTENT_HASH_DIGITS

KINDS = ("example", "correction")


@dataclass(frozen=True)
class ReviewItem:
    """One entry of the review queue; `rank` 1 is the most valuable."""

    id: str
    kind: str  # 'example': a teacher's answer; 'correction': a user's
    domain: str
    query: str
    context: str | None
    attempt: str | None  # SAM's answer
    answer: str  # the teacher's answer, or the user's correction
    flags: list[str] = field(default_factory=list)
    score: float | None = None
    reasons: list[str] = field(default_factory=list)  # why it is in the queue
    feedback: list[str] = field(default_factory=list)  # what users said about it, a line each
    rank: int = 0

    @cached_property
    def content_hash(self) -> str:
        """Identity of the texts a verdict is about."""
        return content_hash(self.query, self.answer, self.attempt)


def content_hash(query: str, answer: str, attempt: str | None) -> str:
    """The first digits of the SHA-256 of the texts' own digests: no text can pretend to be two."""
    digests = (
        hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
        for text in (query, answer, attempt)
        if text is not None
    )
    return hashlib.sha256("".join(digests).encode()).hexdigest()[:CONTENT_HASH_DIGITS]


def items_from_frame(rows: pl.DataFrame) -> list[ReviewItem]:
    """Items in queue order: by `rank` where there is one, then as the rows come. A null list is an empty one."""
    if "rank" not in rows.columns:
        rows = rows.with_row_index("rank", offset=1)
    ordered = rows.sort("rank", maintain_order=True).select(list(ReviewItem.__dataclass_fields__))
    return [_item(row) for row in ordered.iter_rows(named=True)]


def _item(row: dict[str, Any]) -> ReviewItem:
    lists: dict[str, Any] = {name: row[name] or [] for name in ("flags", "reasons", "feedback")}
    return ReviewItem(**row | lists)
