"""A feedback database of a few rows, for tests that care about runs and not about what is said in them."""

import sqlite3
from contextlib import closing
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any

from dagster_project.systems.feedback.source import ENTRIES

KINDS = {"text": "TEXT", "id": "TEXT", "integer": "INTEGER", "real": "REAL", "time": "REAL"}
PLAIN = {
    "session_id": "s1",
    "feedback_type": "rating",
    "rating": 1,
    "original_query": "How do tides work?",
    "original_response": "The moon pulls at the sea.",
    "domain": "general",
    "processed": 0,
    "escalated_to_claude": 0,
}


def noon(day: date) -> float:
    return datetime.combine(day, time(12), UTC).timestamp()


def add_feedback(database: Path, *rows: dict[str, Any], without: tuple[str, ...] = ()) -> None:
    """Rows into a database that is made if it is not there; `day` dates one at noon, every row has ids of its own."""
    database.parent.mkdir(parents=True, exist_ok=True)
    columns = {name: KINDS[kind] for name, kind in ENTRIES.columns.items() if name not in without}
    with closing(sqlite3.connect(database)) as connection:
        connection.execute(f"create table if not exists feedback ({', '.join(f'{n} {k}' for n, k in columns.items())})")
        known = connection.execute("select count(*) from feedback").fetchone()[0]
        for number, row in enumerate(rows, known):
            own = {"feedback_id": f"f{number}", "response_id": f"r{number}", "user_id": f"u{number}"}
            said = {name: value for name, value in row.items() if name != "day"}
            whole = own | PLAIN | ({"timestamp": noon(row["day"])} if "day" in row else {}) | said
            names = [name for name in whole if name not in without]
            marks = ", ".join(f":{name}" for name in names)
            connection.execute(f"insert into feedback ({', '.join(names)}) values ({marks})", whole)
        connection.commit()
