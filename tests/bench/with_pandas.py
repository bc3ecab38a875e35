"""(c) What a data scientist writes: read_sql, vectorised columns, to_parquet, to_json. No quarantine, no splits."""

import sqlite3
import sys
from pathlib import Path

import numpy as np
import pandas as pd

AS_OF = 1_769_904_000.0


def main() -> None:
    source, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(exist_ok=True)
    connection = sqlite3.connect(f"file:{source}?mode=ro", uri=True)
    connection.text_factory = lambda raw: raw.decode(errors="replace")
    rows = pd.read_sql("select * from feedback", connection)
    for column in ("timestamp", "rating", "response_confidence", "escalated_to_claude", "processed", "quality_weight"):
        rows[column] = pd.to_numeric(rows[column], errors="coerce")
    for column in ("original_query", "original_response", "correction", "what_was_wrong", "preferred_response"):
        rows[column] = rows[column].map(lambda text: text.decode(errors="replace") if isinstance(text, bytes) else text)
    rows = rows[rows["timestamp"].between(946_684_800, 4_102_444_800)]
    rows = rows.sort_values("timestamp").drop_duplicates(["response_id", "user_id", "feedback_type"], keep="last")
    weight = 0.5 + rows["feedback_type"].map({"correction": 0.3, "preference": 0.2, "rating": 0.1}).fillna(0.0)
    weight *= 0.5 + 0.5 * np.power(0.5, (AS_OF - rows["timestamp"]).clip(lower=0) / 3600 / 720)
    weight += 0.05 * (rows["what_was_wrong"].str.len() > 50) + 0.05 * (rows["correction"].str.len() > 100)
    weight += 0.05 * (rows["correction_type"] == "full_replacement") + 0.05 * (rows["escalated_to_claude"] == 1)
    rows["weight"] = weight.clip(0, 1).round(6)
    rows["event_date"] = pd.to_datetime(rows["timestamp"], unit="s").dt.date.astype(str)
    rows.to_parquet(folder / "feedback.parquet", compression="zstd")
    rows.groupby(["event_date", "domain"]).agg(rows=("feedback_id", "count"), weight=("weight", "mean")).to_csv(
        folder / "daily.csv"
    )
    common = ["weight", "domain", "feedback_id"]
    liked = rows[(rows["feedback_type"] == "rating") & (rows["rating"] == 1)]
    rated = rows[rows["feedback_type"] == "rating"]
    corrected = rows[rows["feedback_type"] == "correction"]
    preferred = rows[rows["feedback_type"] == "preference"]
    texts = ["original_query", "original_response"]
    for name, part in {
        "instruction": liked[[*texts, *common]],
        "unpaired": rated[[*texts, "rating", *common]],
        "correction": corrected[[*texts, "what_was_wrong", "correction", *common]],
        "preference": preferred[[*texts, "preferred_response", *common]],
    }.items():
        part.to_json(folder / f"{name}.jsonl", orient="records", lines=True)
        part.to_parquet(folder / f"{name}.parquet", compression="zstd")


if __name__ == "__main__":
    main()
