"""What the next message says of a turn (C1-C3), made by day while the texts are in memory, and kept (G12).

A pair belongs to its first turn's day. It may cross midnight, so a day looks half an hour into the next one and is made
again when that changes. Nothing else of another day is looked at.
"""

import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta

import polars as pl

from dagster_project.code_identity import code_identity
from dagster_project.columns.similarity import TextModel, load_model, similarities
from dagster_project.columns.text_keys import has_text, prompt_keys
from dagster_project.columns.words import word
from dagster_project.contracts import TABLES
from dagster_project.engines.stored_tables import store_days
from dagster_project.lake import parquet
from dagster_project.run.mill_run import MillRun
from dagster_project.systems.conversations.implicit import detect
from dagster_project.systems.conversations.references import refers_back
from dagster_project.systems.conversations.source import DATED, STATUSES, known_id

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


def bring_turn_pairs_up_to_date(run: MillRun) -> int:
    """Make the days that are not current; returns how many turns were judged again."""
    lake, prefix = run.lake, f"{TABLE}/"
    copies = _copies(run)
    wanted = _made_from(run, copies)
    for day in [key.removeprefix(prefix) for key in lake.catalog.inputs if key.startswith(prefix)]:
        if day not in wanted:
            lake.drop(TABLE, f"event_date={day}")
            del lake.catalog.inputs[prefix + day]
    stale = [day for day, inputs in wanted.items() if lake.catalog.inputs.get(prefix + day) != inputs]
    made = 0
    model = load_model(run.config.similarity_model) if stale else None
    for days in _groups(run, stale):
        assert model is not None
        turns = _turns(run, days, copies)
        judged = judge(turns, run.as_of, model, run.config.similarity_threshold, run.config.split_key)
        rows = judged.filter(pl.col("event_date").is_in(days)).sort("event_date", "turn_key")
        store_days(lake, TABLE, rows)
        for day in set(days) - set(rows["event_date"]):  # every turn of it is at or after as_of
            lake.drop(TABLE, f"event_date={day}")
        lake.catalog.inputs |= {f"{prefix}{day}": wanted[str(day)] for day in days}
        made += rows.height
        run.report(TABLE, rows.height)
    return made


def _copies(run: MillRun) -> pl.DataFrame:
    """Key and day of the turns of the older table that the newer one has too: one turn is one row, whoever wrote it down.

    They share the key; or the older one, whose user is often unknown, has the file, number and session of a newer one of
    about that day.
    """
    if not run.lake.files(OLD) or not run.lake.files(NEW):
        return TABLES[OLD].empty().select("turn_key", "event_date")
    columns = ("turn_key", "source_file", "turn_number", known_id("user_id"), known_id("session_id"), "event_date")
    old, new = (parquet.scan(run.lake.files(table)).select(columns).collect() for table in (OLD, NEW))
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
    decided = [code_identity(__name__), TABLES[TABLE].layout, settings]
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


def _groups(run: MillRun, stale: list[str]) -> Iterator[list[date]]:
    """Stale days, some thousand turns together, so that a text is embedded once and memory stays bounded."""
    group: list[date] = []
    rows = 0
    for day in stale:
        group.append(date.fromisoformat(day))
        files = (run.lake.partitions(table).get(f"event_date={day}") for table in DATED)
        rows += sum(file.rows for file in files if file)
        if rows >= GROUP_TURNS:
            yield group
            group, rows = [], 0
    if group:
        yield group


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
    turns: pl.DataFrame, as_of: datetime, model: TextModel, threshold: float, split_key: str = "gristmill"
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
        pl.lit(None, dtype=pl.String).alias("correction_type"),
        pl.lit(None, dtype=pl.Float64).alias("similarity"),
    ).with_row_index("place")
    judged = _judged_pairs(turns.filter(pl.col("next_has_text").fill_null(False)), model, threshold)
    turns = turns.update(judged, on="place", maintain_order="left")
    return _with_references(turns).with_columns(
        pl.when(word("user_feedback_status").is_in(STATUSES)).then(word("user_feedback_status")).alias("source_status"),
        pl.col("feedback_confidence").alias("source_confidence"),
        pl.col("feedback_confidence_found").alias("feedback_confidence"),
    )


def _thread() -> pl.Expr:
    """(user_id, session_id) as one text, different for different ones; of unknown users the file tells them apart."""
    user = pl.col("user_id").str.replace_many(["\\", "/"], ["\\\\", "\\/"]).str.replace("^file:", r"\file:")
    session = pl.col("session_id").str.replace(r"^(\\*\?)$", r"\${1}").fill_null("?")
    return pl.concat_str(pl.coalesce(user, pl.concat_str(pl.lit("file:"), "source_file")), pl.lit(" / "), session)


def _judged_pairs(pairs: pl.DataFrame, model: TextModel, threshold: float) -> pl.DataFrame:
    alike = similarities(pairs["query"], pairs["next_message"], model)
    said = detect(
        pairs.select(
            pl.col("query").fill_null("").alias("prev_query"),
            pl.col("response").alias("prev_response"),
            "next_message",
            alike.alias("similarity"),
            pl.col("intent").alias("prev_intent"),
            "next_intent",
        ),
        threshold,
    )
    said = said.rename({"feedback_confidence": "feedback_confidence_found"})
    return pairs.select("place").hstack(said).with_columns(alike.alias("similarity"))


def _with_references(turns: pl.DataFrame) -> pl.DataFrame:
    """Whether a turn's own message points at an earlier turn, and what it says by itself (C6)."""
    turns = turns.with_columns(refers_back(turns["query"]).alias("refers_back"))
    pointing = turns.filter("refers_back")
    nothing = pl.lit(None, dtype=pl.String)
    said = detect(
        pointing.select(
            pl.lit("").alias("prev_query"),
            nothing.alias("prev_response"),
            pl.col("query").alias("next_message"),
            pl.lit(None, dtype=pl.Float64).alias("similarity"),
            nothing.alias("prev_intent"),
            nothing.alias("next_intent"),
        )
    ).select(
        pl.col("feedback_status").alias("said_status"),
        pl.col("feedback_confidence").alias("said_confidence"),
        pl.col("reason").alias("said_reason"),
    )
    return turns.join(pointing.select("place").hstack(said), on="place", how="left", maintain_order="left")
