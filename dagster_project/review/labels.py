"""What `gristmill label` is about (C7): pairs of a response and the next message, chosen for what a label of them teaches, and the
labels there are.

A pair is judged as an item of the review desk is: what the person sees is masked, a verdict is one line of an append-only log, and
it is about the texts that were seen. The choice is `core__label_queue`; who is offered what, the desk decides.
"""

from collections.abc import Collection, Mapping

import polars as pl

from dagster_project.columns.content_hashes import JUDGED, content_hashes, shown
from dagster_project.columns.printable import cut, one_line, short
from dagster_project.engines import reading
from dagster_project.lake.lake import Lake
from dagster_project.review.decision_lines import LABELS
from dagster_project.review.decisions import Decisions
from dagster_project.review.items import ReviewItem
from dagster_project.systems.conversations.head import FEWEST_JUDGED, FEWEST_LABELS, FEWEST_OF_A_CLASS

QUEUE, PAIRS, LABELLED = "core__label_queue", "core__turn_pairs", "core__turn_labels"
WITH_TEXTS = (
    "raw_conversations__turns",
    "raw_conversations__turn_index",
)  # of a turn in both the first one's text counts
PAIRS_WANTED = 200
KIND = "turn"
TEXTS = pl.Schema(dict.fromkeys(("id", "query", "attempt", "answer"), pl.String))
FACTS = ("turn_key", "user_id", "turn_number", "session_id", "source_file", "event_date", "next_turn_key", "next_at")


def label_items(lake: Lake, reviewer: str, pairs: int = PAIRS_WANTED, wanted: Collection[str] = ()) -> list[ReviewItem]:
    """What somebody has judged, as far as it is in the queue, and the next pairs: enough for this person to have `pairs` of them.

    `wanted` are turns to be found wherever they are.
    """
    queue = reading.scan(lake, QUEUE).select("rank", "lesson", *FACTS).sort("rank").collect()
    votes = Decisions(lake.home, LABELS).latest_votes()
    judged = pl.col("turn_key").is_in(votes["example_id"].implode())
    mine = queue["turn_key"].is_in(votes.filter(pl.col("reviewer") == reviewer)["example_id"].implode()).sum()
    others = queue.filter(~judged).head(max(pairs - int(mine or 0), 0))
    chosen = pl.concat([queue.filter(judged), others]).sort("rank")
    missing = sorted({*wanted} - {*chosen["turn_key"]})
    more = (
        judged_pairs(lake, missing)
        .drop_nulls("next_turn_key")
        .with_columns(
            pl.lit("asked for").alias("lesson"), (pl.int_range(pl.len()) + 1 + (queue["rank"].max() or 0)).alias("rank")
        )
    )
    return _items(lake, pl.concat([chosen, more.select(chosen.columns)]))


def _items(lake: Lake, rows: pl.DataFrame) -> list[ReviewItem]:
    texts = shown(pair_texts(lake, rows), *JUDGED)
    told = rows.join(texts, left_on="turn_key", right_on="id", maintain_order="left")
    return [
        ReviewItem(
            id=row["turn_key"],
            kind=KIND,
            domain="",
            query=row["query"] or "",
            context=None,
            attempt=row["attempt"],
            answer=row["answer"] or "",
            reasons=[row["lesson"]],
            rank=row["rank"],
        )
        for row in told.iter_rows(named=True)
    ]


def judged_pairs(lake: Lake, turn_keys: Collection[str]) -> pl.DataFrame:
    """Of these turns what places them and the message that follows; those that vanished are not there."""
    is_meant = pl.col("turn_key").is_in(list(turn_keys))
    return reading.scan(lake, PAIRS).filter(is_meant).select(FACTS).collect().sort("turn_key")


def pair_texts(lake: Lake, pairs: pl.DataFrame) -> pl.DataFrame:
    """`id`, query, attempt (the response) and answer (the next message) of turns, not masked yet; only their days are read."""
    if pairs.is_empty():
        return pl.DataFrame(schema=TEXTS)
    keys = pl.concat([pairs["turn_key"], pairs["next_turn_key"]]).drop_nulls().unique()
    days = pl.concat([pairs["event_date"], pairs["next_at"].dt.date()]).drop_nulls().unique().sort()
    found = pl.concat(
        [
            reading.scan(lake, table, [f"event_date={day}" for day in days])
            .filter(pl.col("turn_key").is_in(keys.implode()))
            .select("turn_key", "query", "response")
            .collect()
            for table in WITH_TEXTS
        ]
    ).unique("turn_key", keep="first", maintain_order=True)
    messages = found.select(next_turn_key="turn_key", answer="query")
    told = pairs.select("turn_key", "next_turn_key").join(found, on="turn_key", maintain_order="left")
    told = told.join(messages, on="next_turn_key", how="left", maintain_order="left")
    return told.select(id="turn_key", query="query", attempt="response", answer="answer")


def held_labels(lake: Lake, decisions: Decisions) -> pl.DataFrame:
    """The labels that hold: a row per judged turn that is there with the texts that were judged, and that no tie leaves open.

    Where several people judged one turn, the verdict most of them gave.
    """
    pairs = judged_pairs(lake, decisions.latest_votes()["example_id"].unique().to_list())
    texts = pair_texts(lake, pairs).with_columns(pl.col("query", "answer").fill_null(""))
    now = (
        content_hashes(texts)
        if texts.height
        else pl.DataFrame(schema={"example_id": pl.String, "content_hash": pl.String})
    )
    held = decisions.current(now).filter(pl.col("verdict") != "disputed").rename({"example_id": "turn_key"})
    return (
        pairs.join(held, on="turn_key", maintain_order="left")
        .rename({"decided_at": "judged_at"})
        .select(
            "turn_key",
            "user_id",
            "turn_number",
            "session_id",
            "source_file",
            "verdict",
            "judged_at",
            "reviewer",
            "event_date",
            "next_turn_key",
            "next_at",
        )
        .sort("turn_key")
    )


# --- how many labels there are ---------------------------------------------------------------------------------------


def label_counts(lake: Lake, held: pl.DataFrame) -> dict[str, int]:
    """Explicit labels of turns by where they are from and what they say; a turn counts once, a verdict before what users said."""
    users = reading.columns(lake, LABELLED, "turn_key", "label", "label_kind").filter(pl.col("label_kind") != "verdict")
    others = users.filter(~pl.col("turn_key").is_in(held["turn_key"].implode()))
    said = pl.concat([others["label"], held["verdict"]])
    rejected, unpicked = int((said == "rejected").sum()), int((others["label"] == "rejected").sum())
    return {
        "labels": said.len(),
        "rejected": rejected,
        "not_rejected": said.len() - rejected,
        "rated": int((others["label_kind"] == "rating").sum()),
        "reacted_to": int((others["label_kind"] == "reaction").sum()),
        "judged": held.height,
        "users_rejected": unpicked,
        "users_not_rejected": others.height - unpicked,
    }


def what_is_missing(found: Mapping[str, int]) -> str:
    """What the labels lack to fit a head on them, and to judge it by; empty where it is nothing.

    Pairs that were picked say little of all turns, so a head is judged by what users said themselves.
    """
    lacking = {
        "labels": FEWEST_LABELS - found["labels"],
        "rejected ones": FEWEST_OF_A_CLASS - found["rejected"],
        "others": FEWEST_OF_A_CLASS - found["not_rejected"],
        "turns users rated down": FEWEST_JUDGED - found["users_rejected"],
        "turns users rated otherwise": FEWEST_JUDGED - found["users_not_rejected"],
    }
    return ", ".join(f"{count:,} {what}" for what, count in lacking.items() if count > 0)


def listed(item: ReviewItem, columns: int) -> str:
    """One line about a pair, for people."""
    return cut(one_line(f"{item.rank:>6}  {item.id}  {item.reasons[0]}  {short(item.answer, 160)}"), columns)
