"""PandaAI conversations (seed 1): what `turn_index.db` and the files beside it hold, and how a row becomes one of ours.

Two generations of one table: `turns`, and the older `turn_index`. The text is often in neither; `turn_texts.py` finds it.
Only what depends on one row lives here; what it must be is its schema's. What the next message says of a turn is `turn_pairs.py`'s.
"""

import os
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from dagster_project.columns.instants import day_numbers, instant, repair_milliseconds
from dagster_project.columns.json_columns import strings_at
from dagster_project.columns.words import word
from dagster_project.contracts.source_table import TableSpec
from dagster_project.databases.source_database import SourceDatabase
from dagster_project.databases.sqlite import SqliteDatabase
from dagster_project.systems.conversations.turn_folders import FROM_METADATA
from dagster_project.systems.conversations.turn_texts import UNKNOWN_IDS, TurnTexts

OUTCOMES = ("approve", "revise", "retry", "fail")
# The source's words for how a user rejected an answer begin like ours: explicit_correction, rephrased_query, abandoned (C3).
CORRECTION_TYPES = {"explicit": "explicit", "rephras": "rephrased", "abandon": "abandonment"}


def texts_beside(database: SourceDatabase, spec: TableSpec) -> TurnTexts:
    """What lies beside a file; beside a Postgres database lies nothing."""
    if not isinstance(database, SqliteDatabase):
        return TurnTexts(Path(os.devnull))
    texts = TurnTexts(database.path.parent)
    if texts.has_texts:
        texts.shared_numbers, texts.twins = database.shared_numbers(spec, "turn_number", "session_id")
    return texts


def dated_by_metadata(database: SourceDatabase, spec: TableSpec, rowids: Sequence[int]) -> dict[int, int]:
    """Rows without a time of their own whose turn folder has one: rowid -> day number."""
    texts = texts_beside(database, spec)
    found: dict[int, int] = {}
    for stored in database.read_rows(spec, rowids) if texts.has_folders else ():
        rows = without_blanks(stored, spec, database)
        timeless = rows.filter(pl.col(str(spec.event_time)).is_null() & (pl.col("problems").list.len() == 0))
        dated = canonical(timeless, spec, texts, Path(database.path).name).with_columns(
            day_numbers(pl.col("timestamp")).alias("day")
        )
        found |= dict(dated.filter(pl.col("day").is_not_null()).select("source_rowid", "day").iter_rows())
    return found


def without_blanks(rows: pl.DataFrame, spec: TableSpec, database: SourceDatabase) -> pl.DataFrame:
    """'' in any column of this system is null: in a column of numbers it is no wrong type either (seed 1)."""
    numbers = [column for column, kind in spec.columns.items() if kind in ("integer", "real", "time")]
    blamed = [f"wrong_type:{column}" for column in numbers]
    is_blamed = pl.col("problems").list.eval(pl.element().is_in(blamed)).list.any()
    suspects = rows.filter(is_blamed)["source_rowid"].to_list()
    if not suspects:
        return rows
    stored = database.originals(spec, suspects)
    said = strings_at(stored["row"], numbers)
    blanks = pl.concat_list(
        pl.when(pl.col(column) == "").then(pl.lit(reason)) for column, reason in zip(numbers, blamed, strict=True)
    ).list.drop_nulls()
    forgiven = stored.select("source_rowid", said.select(blanks.alias("blanks"))["blanks"])
    rows = rows.join(forgiven, on="source_rowid", how="left", maintain_order="left")
    left = pl.col("problems").list.set_difference(pl.col("blanks"))
    return rows.with_columns(
        pl.when(pl.col("blanks").list.len() > 0).then(left).otherwise("problems").alias("problems")
    ).drop("blanks")


_COMMON = {
    "turn_number": "integer",
    "user_id": "id",
    "session_id": "id",
    "topic": "text",
    "intent": "text",
    "keywords": "text",
    "validation_outcome": "text",
    "strategy_summary": "text",
    "quality_score": "real",
    "user_feedback_status": "text",
    "feedback_confidence": "real",
    "rejection_detected_in": "id",
    "query": "text",
    "response": "text",
}
_EDITED = tuple(
    """
    turn_number user_id session_id intent validation_outcome quality_score user_feedback_status
    feedback_confidence rejection_detected_in
""".split()
)
_MEASURED = ("topic", "strategy_summary", "keywords", "query", "response")
TURNS = TableSpec(
    system="conversations",
    name="turns",
    columns={**_COMMON, "timestamp": "real", "goals_json": "text"},
    required=("turn_number", "timestamp"),
    key="turn_key",
    blamed_key="turn_number",
    event_time="timestamp",
    edited=("timestamp", *_EDITED),
    measured=(*_MEASURED, "goals_json"),
    is_optional=True,
    dated_beside=dated_by_metadata,
)
OLD_TURNS = TableSpec(
    system="conversations",
    name="turn_index",
    columns={**_COMMON, "id": "id", "created_at": "time", "doc_path": "text"},
    required=("turn_number", "created_at"),
    key="turn_key",
    blamed_key="turn_number",
    event_time="created_at",
    edited=("created_at", *_EDITED),
    measured=(*_MEASURED, "doc_path"),
    is_optional=True,
    dated_beside=dated_by_metadata,
)
DATED = {f"raw_conversations__{spec.name}": spec for spec in (TURNS, OLD_TURNS)}
# What the source rewrites after the fact, wipes or degrades: two copies of a turn may differ in these and still be one.
REWRITTEN = (
    "source_correction_type",
    "user_feedback_status",
    "feedback_confidence",
    "rejection_detected_in",
    "quality_score",
)


def known_id(column: str) -> pl.Expr:
    """A user or session, null where nobody in particular is meant (G9)."""
    return pl.when(~pl.col(column).is_in(UNKNOWN_IDS)).then(pl.col(column))


def is_unread(problems: pl.Expr, column: str) -> pl.Expr:
    """Whether a column's value could not be read at all (G5), which is not the same as none."""
    return problems.list.eval(pl.element().str.ends_with(f":{column}")).list.any()


def canonical(rows: pl.DataFrame, spec: TableSpec, texts: TurnTexts, source_file: str) -> pl.DataFrame:
    """Source columns to canonical ones: empty texts are nothing, times in seconds (G1), texts from where they lie."""
    absent = {"doc_path": pl.String, "goals_json": pl.String, "source_correction_type": pl.String}
    rows = rows.with_columns(pl.lit(None, dtype=kind).alias(c) for c, kind in absent.items() if c not in rows.columns)
    rows = rows.with_columns(
        pl.when(pl.col(column) != "").then(pl.col(column)).alias(column)
        for column, kind in {**spec.columns, **dict.fromkeys(absent, "text")}.items()
        if kind in ("text", "id")
    ).rename({"created_at": "timestamp"}, strict=False)
    rows = texts.beside(repair_milliseconds(rows, ("timestamp",)))
    # a time that cannot be read is no missing one: nothing stands in for it
    has_time = ~is_unread(pl.col("problems"), str(spec.event_time))
    rows = rows.with_columns(pl.when(has_time).then("metadata_timestamp").alias("metadata_timestamp"))
    scores = {c: pl.coalesce(c, f"metadata_{c}") for c in ("quality_score", "feedback_confidence")}
    is_odd = {c: (~score.is_between(0, 1)).fill_null(False) for c, score in scores.items()}
    rows = rows.with_columns(
        pl.coalesce("query", "transcript_query", "folder_query", "topic").alias("query"),
        pl.coalesce("response", "folder_response").alias("response"),
        pl.when(pl.col("query").is_not_null())
        .then(pl.lit("column"))
        .when(pl.col("transcript_query").is_not_null())
        .then(pl.lit("transcript"))
        .when(pl.col("folder_query").is_not_null())
        .then(pl.lit("folder"))
        .when(pl.col("topic").is_not_null())
        .then(pl.lit("topic"))
        .alias("query_source"),
        pl.when(pl.col("response").is_not_null())
        .then(pl.lit("column"))
        .when(pl.col("folder_response").is_not_null())
        .then(pl.lit("folder"))
        .alias("response_source"),
        *(pl.coalesce(column, f"metadata_{column}").alias(column) for column in FROM_METADATA if column not in scores),
        *(pl.when(~odd).then(scores[column]).alias(column) for column, odd in is_odd.items()),
        pl.concat_list(
            "repairs",
            "folder_repairs",
            pl.when(pl.col("timestamp").is_null() & pl.col("metadata_timestamp").is_not_null()).then(
                pl.lit("timestamp:metadata")
            ),
            *(pl.when(odd).then(pl.lit(f"{column}:out_of_range")) for column, odd in is_odd.items()),
        )
        .list.drop_nulls()
        .alias("repairs"),
        pl.when(~is_unread(pl.col("problems"), "user_id"))
        .then(
            pl.concat_str(
                known_id("user_id").fill_null(source_file), pl.lit("/"), pl.col("turn_number").cast(pl.String)
            )
        )
        .alias("turn_key"),
    )
    rows = rows.drop(
        "transcript_query",
        "folder_query",
        "folder_response",
        "folder_repairs",
        *(f"metadata_{c}" for c in FROM_METADATA),
    )
    said = word("source_correction_type")
    mapped = pl.coalesce(
        pl.when(said.str.starts_with(start)).then(pl.lit(ours)) for start, ours in CORRECTION_TYPES.items()
    )
    rows = rows.with_columns(instant(pl.col("timestamp")).alias("occurred_at"), mapped.alias("source_correction_type"))
    return rows.with_columns(pl.col("occurred_at").dt.date().alias("event_date"))
