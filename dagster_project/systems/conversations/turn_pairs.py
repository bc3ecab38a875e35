"""What the next message says of a turn (C1-C3), made by day while the texts are in memory, and kept (G12).

A pair belongs to its first turn's day. It may cross midnight, so a day looks half an hour into the next one and is made
again when that changes. Nothing else of another day is looked at.
"""

import hashlib
import json
from datetime import UTC, date, datetime, time, timedelta

import polars as pl

from dagster_project.code_identity import code_identity
from dagster_project.columns.similarity import TextModel, load_model, similarities
from dagster_project.columns.text_keys import has_text, prompt_keys
from dagster_project.columns.words import word
from dagster_project.config import OF_A_RUN
from dagster_project.engines import reading
from dagster_project.engines.kept_days import KeptDays, grouped
from dagster_project.lake import parquet
from dagster_project.run.made import Made
from dagster_project.run.mill_run import MillRun
from dagster_project.systems.conversations.columns import FEEDBACK_STATUSES
from dagster_project.systems.conversations.implicit import detect
from dagster_project.systems.conversations.refers_back import refers_back
from dagster_project.systems.conversations.source import DATED, known_id
from dagster_project.systems.conversations.tables import TABLES

TABLE = "core__turn_pairs"
NEW, OLD = "raw_conversations__turns", "raw_conversations__turn_index"
SESSION_GAP = timedelta(minutes=30)
NEUTRAL_CONFIDENCE = 0.5
GROUP_TURNS = 50_000
COLUMNS = tuple(
    """
    turn_key turn_number user_id session_id occurred_at event_date query response intent validation_outcome
    quality_score strategy_summary user_feedback_status feedback_confidence source_correction_type
    query_source response_source source_file
""".split()
)


def make_turn_pairs(run: MillRun) -> list[Made]:
    """Judge the turns of the days that are not current."""
    copies = _copies(run)
    kept = KeptDays(run.lake, TABLE, _made_from(run, copies))
    made = 0
    model = load_model(run.config.similarity_model) if kept.stale else None

    def turns_on(day: date) -> int:
        files = (run.lake.partitions(table).get(f"event_date={day}") for table in DATED)
        return sum(file.rows for file in files if file)

    # some thousand turns together, so that a text is embedded once and memory stays bounded
    for days in grouped(kept.stale, turns_on, GROUP_TURNS):
        assert model is not None
        turns = _turns(run, days, copies)
        judged = judge(turns, run.as_of, model, run.config.similarity_threshold, run.config.split_key)
        rows = judged.filter(pl.col("event_date").is_in(days)).sort("event_date", "turn_key")
        kept.store(days, rows)  # of a day may be none: every turn of it is at or after as_of
        made += rows.height
        run.report(TABLE, rows.height)
    return [Made(TABLE, is_current=made == 0, told={"made_again": made})]


def _copies(run: MillRun) -> pl.DataFrame:
    """Key and day of the turns of the older table that the newer one has too: one turn is one row, whoever wrote it down.

    They share the key; or the older one, whose user is often unknown, has the file, number and session of a newer one of
    about that day.
    """
    columns = ("turn_key", "source_file", "turn_number", known_id("user_id"), known_id("session_id"), "event_date")
    old, new = (reading.scan(run.lake, table).select(columns).collect() for table in (OLD, NEW))
    same_key = old.join(new, on="turn_key", how="semi")
    same_turn = old.join(new, on=["source_file", "turn_number", "session_id"], nulls_equal=True).filter(
        (pl.col("user_id").is_null() | (pl.col("user_id") == pl.col("user_id_right")))
        & ((pl.col("event_date") - pl.col("event_date_right")).dt.total_days().abs() <= 1)
    )
    return (
        pl.concat([found.select("turn_key", "event_date") for found in (same_key, same_turn)]).unique().sort("turn_key")
    )


def _made_from(run: MillRun, copies: pl.DataFrame) -> dict[str, str]:
    """Per day a hash of all that decides about its pairs."""
    versions = {
        (table, partition.removeprefix("event_date=")): version
        for table in DATED
        for partition, version in run.lake.versions(table)
    }
    days = sorted({day for _, day in versions if day <= str(run.as_of.date())})
    if not days:
        return {}
    settings = [run.config.similarity_threshold, run.config.split_key, load_model(run.config.similarity_model).name]
    decided = [code_identity(__name__), TABLES[TABLE].digest, settings]
    left_out = {str(day): keys for day, keys in copies.group_by("event_date").agg("turn_key").iter_rows()}
    found = {}
    for day in days:
        following = date.fromisoformat(day) + timedelta(days=1)
        used = [versions.get((table, str(near))) for table in DATED for near in (day, following)]
        used += [left_out.get(str(near)) for near in (day, following)]
        # as_of decides which turns count, and whether a last turn may still be followed by a message
        horizon = min(run.as_of, datetime.combine(following, time(), UTC) + SESSION_GAP)
        found[day] = hashlib.sha256(json.dumps([decided, used, str(horizon)]).encode()).hexdigest()
    return found


def _turns(run: MillRun, days: list[date], copies: pl.DataFrame) -> pl.DataFrame:
    """The turns of these days and of half an hour after each, before as_of, without the copies in the older table."""
    after = [day + timedelta(days=1) for day in days if day + timedelta(days=1) not in days]
    frames = {}
    for table in (NEW, OLD):
        whole = run.lake.files(table, [f"event_date={day}" for day in days])
        heads = [(day, path) for day in after for path in run.lake.files(table, [f"event_date={day}"])]
        scans = [parquet.scan(whole)] if whole else []
        scans += [
            parquet.scan(path).filter(pl.col("occurred_at") <= datetime.combine(day, time(), UTC) + SESSION_GAP)
            for day, path in heads
        ]
        rows = [scan.filter(pl.col("occurred_at") < run.as_of).select(COLUMNS).collect() for scan in scans]
        frames[table] = pl.concat([TABLES[table].empty().select(COLUMNS), *rows])
    return pl.concat([frames[NEW], frames[OLD].join(copies, on="turn_key", how="anti")])


def judge(
    turns: pl.DataFrame,
    as_of: datetime,
    model: TextModel,
    threshold: float,
    split_key: str = OF_A_RUN["split_key"].default,
) -> pl.DataFrame:
    """Every turn with the one that follows it and what that says (C1, C2). Columns as in core__turn_pairs."""
    turns = turns.with_columns(known_id("user_id"), known_id("session_id"))
    turns = turns.with_columns(
        _thread().alias("thread_id"),
        pl.format("turn_{}", pl.col("turn_number").cast(pl.String).str.zfill(6)).alias("turn_id"),
        has_text("query").alias("has_query"),
    ).sort("thread_id", "occurred_at", "turn_number", "turn_key")
    following = {"next_turn_key": "turn_key", "next_turn_id": "turn_id", "next_at": "occurred_at"}
    beside = {"next_message": "query", "next_intent": "intent", "next_has_text": "has_query"}
    turns = turns.with_columns(
        pl.col(column).shift(-1).over("thread_id").alias(name) for name, column in (following | beside).items()
    )
    is_followed = (pl.col("next_at") - pl.col("occurred_at") <= SESSION_GAP).fill_null(False)
    turns = turns.with_columns(pl.when(is_followed).then(pl.col(name)).alias(name) for name in (*following, *beside))
    silence = (
        pl.when(pl.col("next_turn_key").is_not_null())
        .then(pl.lit("no_text"))
        .when(pl.lit(as_of) - pl.col("occurred_at") < SESSION_GAP)
        .then(pl.lit("open"))
        .otherwise(pl.lit("session_end"))
    )
    keys = prompt_keys(turns["query"].fill_null(""), split_key)["prompt_key"]
    turns = turns.with_columns(
        silence.alias("reason"),
        pl.when("has_query").then(pl.lit(keys)).alias("prompt_key"),
        pl.struct("query", "response").hash(seed=0).reinterpret(signed=True).alias("text_hash"),
        pl.lit("neutral").alias("feedback_status"),
        pl.lit(NEUTRAL_CONFIDENCE).alias("feedback_confidence_found"),
        pl.lit(NEUTRAL_CONFIDENCE).alias("nominal_confidence"),
        pl.lit(0.0).alias("confidence_low"),
        pl.lit(None, dtype=pl.String).alias("correction_type"),
        pl.lit(None, dtype=pl.Float64).alias("similarity"),
        pl.lit(refers_back(turns["query"])).alias("refers_back"),
    ).with_row_index("place")
    pairs, pointing = turns.filter(pl.col("next_has_text").fill_null(False)), turns.filter("refers_back")
    alike = similarities(pairs["query"], pairs["next_message"], model)
    # a call of the detector costs the same for a row as for thousands: both questions in one
    said = detect(pl.concat([_as_answers(pairs, alike), _by_themselves(pointing)]), threshold)
    of_the_last = said.head(pairs.height).rename({"feedback_confidence": "feedback_confidence_found"})
    of_an_earlier = said.slice(pairs.height).select(
        pl.col("feedback_status").alias("said_status"),
        pl.col("feedback_confidence").alias("said_confidence"),
        pl.col("confidence_low").alias("said_confidence_low"),
        pl.col("reason").alias("said_reason"),
    )
    judged = pairs.select("place").hstack(of_the_last).with_columns(alike.alias("similarity"))
    turns = turns.update(judged, on="place", maintain_order="left")
    turns = turns.join(pointing.select("place").hstack(of_an_earlier), on="place", how="left", maintain_order="left")
    return turns.with_columns(
        pl.when(word("user_feedback_status").is_in(FEEDBACK_STATUSES))
        .then(word("user_feedback_status"))
        .alias("source_status"),
        pl.col("feedback_confidence").alias("source_confidence"),
        pl.col("feedback_confidence_found").alias("feedback_confidence"),
    )


def _thread() -> pl.Expr:
    """(user_id, session_id) as one text, different for different ones; of unknown users the file tells them apart."""
    user = pl.col("user_id").str.replace_many(["\\", "/"], ["\\\\", "\\/"]).str.replace("^file:", r"\file:")
    session = pl.col("session_id").str.replace(r"^(\\*\?)$", r"\${1}").fill_null("?")
    return pl.concat_str(pl.coalesce(user, pl.concat_str(pl.lit("file:"), "source_file")), pl.lit(" / "), session)


def _as_answers(pairs: pl.DataFrame, alike: pl.Series) -> pl.DataFrame:
    """Messages as the detector sees them: each after the turn before it."""
    return pairs.select(
        pl.col("query").fill_null("").alias("prev_query"),
        pl.col("response").alias("prev_response"),
        "next_message",
        alike.alias("similarity"),
        pl.col("intent").alias("prev_intent"),
        "next_intent",
    )


def _by_themselves(pointing: pl.DataFrame) -> pl.DataFrame:
    """The same of messages that point at an earlier turn (C6): the turn before them is not what they are about."""
    nothing = pl.lit(None, dtype=pl.String)
    return pointing.select(
        pl.lit("").alias("prev_query"),
        nothing.alias("prev_response"),
        pl.col("query").alias("next_message"),
        pl.lit(None, dtype=pl.Float64).alias("similarity"),
        nothing.alias("prev_intent"),
        nothing.alias("next_intent"),
    )
