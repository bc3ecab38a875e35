"""What the `review` commands do, one method each: a queue, the log, and who is asking."""

import getpass
import os
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from dagster_project.columns.printable import cut, one_line, printable
from dagster_project.errors import GristmillError
from dagster_project.review.assignment import SECOND_REVIEW_SHARE, Offers, offers
from dagster_project.review.decision_lines import REVIEWS, Log
from dagster_project.review.decisions import Decision, Decisions
from dagster_project.review.items import ReviewItem

LONGEST_NAME = 100


def reviewer_name(given: str | None, environ: Mapping[str, str] = os.environ) -> str:
    """Who is deciding: as given, else GRISTMILL_REVIEWER, else the login name."""
    try:
        name = given or environ.get("GRISTMILL_REVIEWER") or getpass.getuser()
    except (KeyError, OSError) as error:
        raise GristmillError("who is reviewing? say it with --reviewer NAME or GRISTMILL_REVIEWER") from error
    name = unicodedata.normalize("NFC", name).strip()
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise GristmillError(f"a reviewer's name has 1 to {LONGEST_NAME} printable characters, not {name!r}")
    return name


class Desk:
    def __init__(
        self,
        home: Path,
        items: Iterable[ReviewItem],
        reviewer: str,
        share: float = SECOND_REVIEW_SHARE,
        about: Log = REVIEWS,
    ) -> None:
        self.home = home
        self.items = list(items)
        self.by_id = {item.id: item for item in self.items}
        self.decisions = Decisions(home, about)
        self.reviewer = reviewer
        self.share = share

    def offers(self) -> Offers:
        return offers(self.items, self.decisions, self.reviewer, self.share)

    def waiting(self) -> list[ReviewItem]:
        """What this reviewer is to judge, most valuable first."""
        return [self.items[position] for position in self.offers().positions]

    def judged(self) -> int:
        """How many of the items this reviewer has a verdict on, on their texts as they are."""
        mine = self.decisions.latest_votes().filter(pl.col("reviewer") == self.reviewer)
        seen = mine.select("example_id", "content_hash").iter_rows()
        return sum(item.content_hash == hash for name, hash in seen if (item := self.by_id.get(name)))

    def status(self) -> dict[str, str]:
        """What holds for every item of the queue, as far as this reviewer may know: `pending` where they are to judge blind."""
        judged = [
            self.by_id[name] for name in self.decisions.latest_votes()["example_id"].unique() if name in self.by_id
        ]
        contents = {"example_id": [item.id for item in judged], "content_hash": [item.content_hash for item in judged]}
        held = self.decisions.current(pl.DataFrame(contents, schema=dict.fromkeys(contents, pl.String)))
        known = dict(held.select("example_id", "verdict").iter_rows())
        found = self.offers()
        for position in found.positions:
            if position not in found.with_verdicts:
                known.pop(self.items[position].id, None)
        return {item.id: known.get(item.id, "pending") for item in self.items}

    def decide(self, ids: Iterable[str], verdict: str, note: str) -> list[str]:
        """Record one verdict on every id; on none if one of them is unknown."""
        wanted = list(dict.fromkeys(ids))
        log = self.decisions.log()
        last_seen = dict(log.select("example_id", "content_hash").iter_rows())
        for example_id in wanted:
            if example_id not in self.by_id and example_id not in last_seen:
                raise GristmillError(f"{example_id!r} is not in the review queue; nothing was recorded")
        seen_verdicts = self.seen_verdicts()
        self.decisions.append(
            *(
                Decision(
                    example_id,
                    verdict,
                    self.reviewer,
                    note,
                    self._hash(example_id, last_seen),
                    example_id not in seen_verdicts,
                )
                for example_id in wanted
            )
        )
        return wanted

    def undo(self, example_id: str | None) -> str:
        """Take back this reviewer's verdict on an example, or the latest they gave."""
        mine = self.decisions.latest_votes().filter(pl.col("reviewer") == self.reviewer)
        if example_id is not None:
            mine = mine.filter(pl.col("example_id") == example_id)
        if mine.is_empty():
            what = "" if example_id is None else f" on {example_id!r}"
            raise GristmillError(f"{self.reviewer} has no verdict{what} to take back")
        taken_back = str(mine["example_id"][-1])
        self.decide([taken_back], "undone", str(mine["note"][-1]))
        return taken_back

    def seen_verdicts(self) -> set[str]:
        """Ids of which this reviewer may have seen what others decided."""
        return {self.items[position].id for position in self.offers().with_verdicts}

    def _hash(self, example_id: str, last_seen: Mapping[str, str | None]) -> str | None:
        item = self.by_id.get(example_id)
        return item.content_hash if item else last_seen.get(example_id)


def listed(item: ReviewItem, status: str, columns: int) -> str:
    """One line about an item, for people."""
    score = "     " if item.score is None else f"{item.score:5.2f}"
    reasons = ",".join(item.reasons) or "-"
    return cut(
        one_line(f"{item.rank:>6}  {item.id}  {status}  {item.domain}  {score}  {reasons}  {item.query[:200]}"), columns
    )


def told(item: ReviewItem) -> str:
    """An item in full, for people without the window."""
    score = "none" if item.score is None else f"{item.score:.2f}"
    about = f"{item.id}  {item.kind}  domain {item.domain}  score {score}  flags {', '.join(item.flags) or 'none'}"
    lines = [one_line(about), one_line(f"why here: {', '.join(item.reasons) or '-'}")]
    lines += [f"users: {one_line(line)}" for line in item.feedback]
    parts: list[tuple[str, Any]] = [
        ("context", item.context),
        ("query", item.query),
        ("attempt", item.attempt),
        ("answer", item.answer),
    ]
    lines += [f"\n--- {name}\n{printable(text)}" for name, text in parts if text is not None]
    return "\n".join(lines)
