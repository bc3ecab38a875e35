"""Which earlier turn a message means that points at one (C6): the five best of its thread's last 365 days, kept by day.

Only threads with such a message are looked at. A day is made again if the texts of one of these threads changed.
"""

import hashlib
import json
from datetime import timedelta

import polars as pl

from dagster_project.code_identity import code_identity
from dagster_project.columns.similarity import load_model
from dagster_project.engines.kept_days import KeptDays
from dagster_project.engines.stored_tables import shaped
from dagster_project.lake import parquet
from dagster_project.lake.lake import Lake
from dagster_project.run.made import Made
from dagster_project.run.mill_run import MillRun
from dagster_project.systems.conversations.kept_texts import texts_of
from dagster_project.systems.conversations.reference_targets import best_targets
from dagster_project.systems.conversations.tables import TABLES
from dagster_project.systems.conversations.turn_pairs import SESSION_GAP

TABLE, PAIRS = "core__turn_references", "core__turn_pairs"
REACH = timedelta(days=365)


def make_turn_references(run: MillRun) -> list[Made]:
    """Look up the references of the days that are not current."""
    turns = _threads_with_references(run.lake)
    kept = KeptDays(run.lake, TABLE, _made_from(run, turns))
    made, found = 0, [TABLES[TABLE].empty()]
    for day in kept.stale:
        references = turns.filter((pl.col("event_date") == day) & pl.col("refers_back"))
        rows = _found(run, references, turns).with_columns(pl.lit(day).alias("event_date"))
        found.append(shaped(TABLE, rows))
        made += references.height
    kept.store(kept.stale, pl.concat(found))
    run.report(TABLE, made)
    return [Made(TABLE, is_current=made == 0, told={"made_again": made})]


def _threads_with_references(lake: Lake) -> pl.DataFrame:
    """The turns, without texts, of every thread in which a message points back."""
    columns = ("turn_key", "thread_id", "occurred_at", "event_date", "text_hash", "refers_back")
    files = lake.files(PAIRS)
    if not files:
        return TABLES[PAIRS].empty().select(*columns, pl.lit(False).alias("is_in_session"))
    rows = parquet.scan(files).select(columns)
    threads = rows.filter("refers_back").select(pl.col("thread_id").unique())
    turns = rows.join(threads, on="thread_id", how="semi").collect(engine="streaming").sort("occurred_at", "turn_key")
    gap = pl.col("occurred_at") - pl.col("occurred_at").shift(1).over("thread_id")
    return turns.with_columns((gap <= SESSION_GAP).fill_null(False).alias("is_in_session"))


def _made_from(run: MillRun, turns: pl.DataFrame) -> dict[str, str]:
    """Per day with references a hash of the threads they are in, up to that day."""
    references = turns.filter("refers_back")
    if references.is_empty():
        return {}
    decided = [code_identity(__name__), TABLES[TABLE].digest, load_model(run.config.similarity_model).name]
    histories = turns.select(
        "thread_id",
        "occurred_at",
        "event_date",
        "refers_back",
        pl.struct("turn_key", "occurred_at", "text_hash").hash(seed=0).cum_sum().over("thread_id").alias("history"),
    )
    days = (
        histories.filter("refers_back").group_by("event_date").agg(pl.col("history").sum(), pl.len()).sort("event_date")
    )
    return {
        str(day): hashlib.sha256(json.dumps([decided, history, count]).encode()).hexdigest()
        for day, history, count in days.iter_rows()
    }


def _found(run: MillRun, references: pl.DataFrame, turns: pl.DataFrame) -> pl.DataFrame:
    """The best targets of some messages of one day, with the texts of their threads."""
    times = references["occurred_at"]
    near = turns.filter(
        pl.col("thread_id").is_in(references["thread_id"].unique().implode())
        & (pl.col("occurred_at") >= pl.lit(times).min() - REACH)
        & (pl.col("occurred_at") <= pl.lit(times).max())
    )
    texts = texts_of(run.lake, near["turn_key"], near["event_date"].unique().sort())
    told = near.join(texts, on="turn_key")
    messages = references.select("turn_key").join(told, on="turn_key")
    model = load_model(run.config.similarity_model)
    # within a session "earlier than the last" leaves out the last turn; after a pause that may be the one that is meant
    found = [
        best_targets(
            some.select(
                pl.col("turn_key").alias("reference_key"),
                pl.col("thread_id").alias("thread"),
                pl.col("query").alias("message"),
                "occurred_at",
            ),
            told.select("turn_key", pl.col("thread_id").alias("thread"), "query", "response", "occurred_at"),
            model,
            skip_last=is_in_session,
        )
        for is_in_session, some in (
            (True, messages.filter("is_in_session")),
            (False, messages.filter(~pl.col("is_in_session"))),
        )
    ]
    return pl.concat(found).rename({"reference_key": "message_turn_key"}).sort("message_turn_key", "rank")
