"""The two queues in which there is nothing to vote on (F12): harmful flags, and answers rated down that nobody corrected.

A person takes care of an item and settles it with a note; from then on it is in no list, and the next run leaves it out of
its table. What became of it stays: in the log, in `core__settlements`, in `gristmill why` and in `list --all`.
"""

from collections.abc import Collection
from typing import Any

import polars as pl

from dagster_project.columns.content_hashes import shown
from dagster_project.columns.printable import cut, one_line, printable
from dagster_project.errors import GristmillError
from dagster_project.lake.lake import Lake
from dagster_project.review.decisions import Decision, Decisions
from dagster_project.review.texts import ENTRIES, scan

QUEUES = {"safety": "core__safety_queue", "corrections": "core__correction_requests"}
FEEDBACK = "core__feedback"
TEXTS = ("original_query", "original_response", "conversation_context", "flag_details")
FACTS = ("feedback_id", "response_id", "session_id", "user_id", "occurred_at", "domain", "quality_weight")
Row = dict[str, Any]


def check_queue(queue: str) -> str:
    if queue not in QUEUES:
        raise GristmillError(f"--queue must be one of {', '.join(QUEUES)}, not {queue!r}")
    return queue


# --- looking -----------------------------------------------------------------------------------------------------


def waiting(lake: Lake, queue: str) -> list[Row]:
    """What is open, in the order of the queue; what was settled since the newest run is gone already."""
    settled = Decisions(lake.home).settled()["feedback_id"].implode()
    rows = scan(lake, QUEUES[queue]).filter(~pl.col("feedback_id").is_in(settled)).sort("rank")
    found = rows.collect()
    found = _comments_shown(shown(found, *(name for name in TEXTS if name in found.columns)))
    return [{"status": "open", **row} for row in found.iter_rows(named=True)]


def _comments_shown(rows: pl.DataFrame) -> pl.DataFrame:
    """A list in every row of the correction requests; flags have none."""
    if "comments" not in rows.columns:
        return rows
    each = shown(rows.select("feedback_id", "comments").explode("comments"), "comments")
    said = each.group_by("feedback_id", maintain_order=True).agg(pl.col("comments").drop_nulls())
    told = rows.drop("comments").join(said, on="feedback_id", how="left", maintain_order="left")
    return told.with_columns(pl.coalesce("comments", pl.lit([], dtype=pl.List(pl.String))))


def settled(lake: Lake, queue: str) -> list[Row]:
    """What was settled, the latest first, with its texts as far as the lake has them."""
    done = Decisions(lake.home).settled()
    is_meant = pl.col("effective_type") == "flag" if queue == "safety" else pl.col("sentiment") == "negative"
    is_wanted = pl.col("feedback_id").is_in(done["feedback_id"].implode())
    facts = scan(lake, FEEDBACK).filter(is_wanted & is_meant).select(*FACTS, "event_date").collect()
    if facts.is_empty():
        return []
    texts = scan(lake, ENTRIES, facts["event_date"].unique()).filter(is_wanted).select("feedback_id", *TEXTS).collect()
    found = shown(facts.drop("event_date").join(done, on="feedback_id").join(texts, on="feedback_id"), *TEXTS)
    latest_first = found.sort("settled_at", "feedback_id", descending=[True, False])
    return [{"status": "settled", **row} for row in latest_first.iter_rows(named=True)]


def place_in_queue(lake: Lake, feedback_id: str) -> Row | None:
    """Where a feedback row stands in one of the queues: its rank, or how it was settled; null where in none."""
    done = Decisions(lake.home).settled().filter(pl.col("feedback_id") == feedback_id)
    if done.height:
        return {"status": "settled", **done.drop("feedback_id").row(0, named=True)}
    for queue, table in QUEUES.items():
        found = scan(lake, table).filter(pl.col("feedback_id") == feedback_id).select("rank").collect()
        if found.height:
            return {"status": "open", "queue": queue, "rank": found.item()}
    return None


def listed(row: Row, columns: int) -> str:
    """One line about an item, for people."""
    who = row["user_id"] or row["session_id"] or "unknown"
    head = f"{row['feedback_id']}  {row['status']}  {row['occurred_at']:%Y-%m-%d}  {row['domain']}  {row['quality_weight']:.2f}"
    told = f"{row['reviewer']}: {row['note']}  " if row["status"] == "settled" else ""
    return cut(one_line(f"{head}  by {who}  {told}{row['original_query'][:200]}"), columns)


def told(row: Row) -> str:
    """An item in full, for people."""
    who = f"by {row['user_id'] or 'an unknown user'}, session {row['session_id'] or 'unknown'}"
    times = f", rated down {row['negative_count']} times" if row.get("negative_count", 1) > 1 else ""
    lines = [
        one_line(
            f"{row['feedback_id']}  on {row['response_id']}, {row['occurred_at']:%Y-%m-%d %H:%M:%S} UTC {who}{times}"
        ),
        one_line(f"domain {row['domain']}  weight {row['quality_weight']:.6f}"),
    ]
    lines += [f"users: {one_line(said)}" for said in row.get("comments") or []]
    parts = (
        ("what was reported", row.get("flag_details")),
        ("context", row["conversation_context"]),
        ("query", row["original_query"]),
        ("answer", row["original_response"]),
    )
    lines += [f"\n--- {name}\n{printable(text)}" for name, text in parts if text is not None]
    return "\n".join(lines)


# --- deciding ----------------------------------------------------------------------------------------------------


def settle(lake: Lake, ids: Collection[str], note: str, reviewer: str) -> list[str]:
    """Settle items, all or none; each is on disk when this returns. One that is settled gets the new note."""
    if not note.strip():
        raise GristmillError("a note is needed: what became of it?")
    known = set(Decisions(lake.home).settled()["feedback_id"])
    for table in QUEUES.values():
        found = scan(lake, table).filter(pl.col("feedback_id").is_in(list(ids))).select("feedback_id").collect()
        known |= set(found["feedback_id"])
    return _append(
        lake, ids, known, "is in neither the safety queue nor the correction requests", "settled", note, reviewer
    )


def reopen(lake: Lake, ids: Collection[str], note: str, reviewer: str) -> list[str]:
    """Take settlements back, all or none: the next run has the items in their queues again."""
    known = set(Decisions(lake.home).settled()["feedback_id"])
    return _append(lake, ids, known, "is not settled", "reopened", note, reviewer)


def _append(
    lake: Lake, ids: Collection[str], known: Collection[str], problem: str, verdict: str, note: str, reviewer: str
) -> list[str]:
    wanted = list(dict.fromkeys(ids))
    for feedback_id in wanted:
        if feedback_id not in known:
            raise GristmillError(f"{feedback_id!r} {problem}; nothing was recorded")
    Decisions(lake.home).append(*(Decision(feedback_id, verdict, reviewer, note.strip()) for feedback_id in wanted))
    return wanted
