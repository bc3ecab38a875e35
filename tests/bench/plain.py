"""(b) What one writes first: a loop over rows with sqlite3 and json. Weights and three formats, nothing else."""

import json
import sqlite3
import sys
from pathlib import Path

TYPE_WEIGHTS = {"correction": 0.3, "preference": 0.2, "rating": 0.1}
AS_OF = 1_769_904_000.0


def weight(row: sqlite3.Row) -> float:
    value = 0.5 + TYPE_WEIGHTS.get(row["feedback_type"], 0.0)
    value *= 0.5 + 0.5 * 0.5 ** (max(0.0, AS_OF - row["timestamp"]) / 3600 / 720)
    if row["feedback_type"] == "correction":
        value += 0.05 * (len(row["what_was_wrong"] or "") > 50) + 0.05 * (len(row["correction"] or "") > 100)
        value += 0.05 * (row["correction_type"] == "full_replacement")
    if row["feedback_type"] == "preference":
        value += 0.05 * (len(row["comparison_basis"] or "") > 30)
    value += 0.05 * bool(row["escalated_to_claude"])
    value += 0.1 * ((row["response_confidence"] or 0) > 0.8 and row["rating"] == -1)
    return round(max(0.0, min(1.0, value)), 6)


def main() -> None:
    source, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(exist_ok=True)
    connection = sqlite3.connect(f"file:{source}?mode=ro", uri=True)
    connection.row_factory = sqlite3.Row
    connection.text_factory = lambda raw: raw.decode(errors="replace")
    with (
        (folder / "instruction.jsonl").open("w", encoding="utf-8") as instruction,
        (folder / "correction.jsonl").open("w", encoding="utf-8") as correction,
        (folder / "preference.jsonl").open("w", encoding="utf-8") as preference,
    ):
        for row in connection.execute("select * from feedback"):
            if not isinstance(row["timestamp"], float):
                continue
            common = {"source": "feedback", "quality_weight": weight(row), "domain": row["domain"]}
            query, answer = row["original_query"], row["original_response"]
            if row["feedback_type"] == "rating" and row["rating"] == 1:
                print(
                    json.dumps({"instruction": query, "input": "", "output": answer} | common, default=str),
                    file=instruction,
                )
            elif row["feedback_type"] == "correction":
                output = f"The issue was: {row['what_was_wrong']}\n\nCorrected answer: {row['correction']}"
                print(
                    json.dumps(
                        {"instruction": f"SAM said: '{answer}'", "input": query, "output": output} | common, default=str
                    ),
                    file=correction,
                )
            elif row["feedback_type"] == "preference":
                print(
                    json.dumps(
                        {"prompt": query, "chosen": row["preferred_response"], "rejected": answer} | common, default=str
                    ),
                    file=preference,
                )


if __name__ == "__main__":
    main()
