"""Who is offered which item: what nobody judged, a share for a blind second look, and what reviewers differ on.

A verdict of another person is shown only to somebody who has judged the same texts themselves, and only when the two differ.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from dagster_project.config import OF_A_RUN
from dagster_project.review.decisions import Decisions
from dagster_project.review.items import ReviewItem

SECOND_REVIEW_SHARE: float = OF_A_RUN["second_review_share"].default


@dataclass(frozen=True)
class Offers:
    """Positions in the queue, in queue order, and for which of them the verdicts so far may be shown."""

    positions: list[int]
    with_verdicts: frozenset[int]

    @cached_property
    def as_set(self) -> frozenset[int]:
        return frozenset(self.positions)


def is_second_look(example_id: str, share: float) -> bool:
    """Whether an example is among those a second person judges, too: the same ones for everybody, for ever."""
    return int(hashlib.sha256(f"second look:{example_id}".encode()).hexdigest()[:8], 16) / 2**32 < share


def offers(items: Sequence[ReviewItem], decisions: Decisions, reviewer: str, share: float) -> Offers:
    """What `reviewer` is to judge.

    Verdicts on other texts than today's do not count here: such an item is offered again. An item is offered to a person who
    has not judged it if nobody has, if exactly one has and it is due for a second look, or if the others are evenly split; to
    one who has, only if the verdicts are evenly split.
    """
    queue = pl.DataFrame({"example_id": pl.Series([item.id for item in items], dtype=pl.String)}).with_row_index(
        "position"
    )
    voices = decisions.latest_votes().join(queue, on="example_id")
    judged = voices["position"].unique().sort().to_list()
    hashes = pl.DataFrame(
        {
            "position": pl.Series(judged, dtype=pl.UInt32),
            "hash_now": pl.Series([items[position].content_hash for position in judged], dtype=pl.String),
            "is_due": pl.Series([is_second_look(items[position].id, share) for position in judged], dtype=pl.Boolean),
        }
    )
    is_mine = pl.col("reviewer") == reviewer
    votes = (
        voices.join(hashes, on="position")
        .filter((pl.col("content_hash") == pl.col("hash_now")).fill_null(True))
        .group_by("position")
        .agg(
            is_mine.any().alias("has_mine"),
            pl.len().alias("judges"),
            (pl.col("verdict").mode().len() > 1).alias("is_split"),
            pl.col("is_due").first(),
        )
    )
    second = ~pl.col("has_mine") & (pl.col("judges") == 1) & pl.col("is_due")
    done = votes.filter(~(pl.col("is_split") | second))
    positions = queue.join(done, on="position", how="anti")["position"].sort().to_list()
    return Offers(positions, frozenset(votes.filter("is_split", "has_mine")["position"].to_list()))
