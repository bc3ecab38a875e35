"""The parts that cost most, each by itself on one core: how many rows, texts or pairs a second."""

import sqlite3
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from dagster_project.columns.edit_distance import edit_changes
from dagster_project.columns.similarity import load_model, similarities, unit_vectors
from dagster_project.databases.sqlite import SqliteDatabase
from dagster_project.demo.conversations.sources import write_turns
from dagster_project.demo.feedback.sources import write_feedback
from dagster_project.intake.day_buffer import GROUP_ROWS
from dagster_project.intake.quarantine import split
from dagster_project.systems.conversations.head import Head, chances, decided
from dagster_project.systems.conversations.head_features import BUCKETS, features
from dagster_project.systems.conversations.implicit import detect
from dagster_project.systems.conversations.refers_back import refers_back
from dagster_project.systems.feedback import source as feedback
from dagster_project.systems.feedback.schema import ENTRIES
from tests.bench.measuring import told

TURNS = 60_000
CHECKED_ROWS = 1_000_000


def turns() -> pl.DataFrame:
    with tempfile.TemporaryDirectory() as folder:
        write_turns(Path(folder), TURNS, seed=7, is_bench=True)
        with sqlite3.connect(Path(folder) / "conversations.db") as connection:
            connection.text_factory = lambda stored: stored.decode(errors="replace")
            rows = connection.execute(
                "select query, response from turns where typeof(query) = 'text' and typeof(response) = 'text' "
                "order by user_id, timestamp"
            ).fetchall()
        connection.close()
    return pl.DataFrame(rows, schema={"query": pl.String, "response": pl.String}, orient="row")


def entries() -> pl.DataFrame:
    """As many clean feedback rows of about 1 KB as are checked at once."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "feedback.db"
        write_feedback(path, GROUP_ROWS + 5_000, seed=7, text_bytes=1000)
        with SqliteDatabase(path) as database:
            rows = pl.concat(feedback.canonical(batch, "thumbs") for batch in database.read_all(feedback.ENTRIES))
    kept, _ = split(rows, ENTRIES)
    return kept.head(GROUP_ROWS).with_columns(pl.lit([], dtype=pl.List(pl.String)).alias("problems"))


def main() -> None:
    clean = entries()
    told(
        "clean feedback rows checked (G5)",
        CHECKED_ROWS,
        lambda: [split(clean, ENTRIES) for _ in range(CHECKED_ROWS // GROUP_ROWS)],
    )
    rows = turns()
    model = load_model("wordllama")
    distinct = rows["query"].unique(maintain_order=True)
    told("distinct queries embedded (C2)", len(distinct), lambda: unit_vectors(distinct, model))
    pairs = rows.select(
        pl.col("query").alias("prev_query"),
        pl.col("response").alias("prev_response"),
        pl.col("query").shift(-1).fill_null("").alias("next_message"),
        pl.lit(None, dtype=pl.String).alias("prev_intent"),
        pl.lit(None, dtype=pl.String).alias("next_intent"),
    )
    alike = similarities(pairs["prev_query"], pairs["next_message"], model)
    pairs = pairs.with_columns(alike.alias("similarity"))
    detect(pairs.head(10))  # compiles the patterns
    told("pairs judged (C2)", pairs.height, lambda: detect(pairs))
    said = pairs.hstack(detect(pairs))
    heads = (Head(np.zeros(BUCKETS), 0.0),)
    of_no_fold = np.zeros(said.height, dtype=np.int64)
    told(
        "pairs judged by a head, features made again (C7)",
        said.height,
        lambda: decided(said, chances(features(said), heads, of_no_fold), 0.8, 0.7),
    )
    told("messages looked at for references (C6)", rows.height, lambda: refers_back(rows["query"]))
    long = rows.select(
        pl.concat_str(pl.col("response").shift(1).fill_null(""), "query", "response").repeat_by(12).list.join("")
    )
    kilobytes = long.to_series().str.head(1000)
    told("edit distances, 1 KB against 1 KB (S4)", rows.height, lambda: edit_changes(kilobytes, kilobytes.shift(7)))


if __name__ == "__main__":
    main()
