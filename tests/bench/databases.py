"""The feedback databases the contestants read: written once per size under `bench/`, and kept."""

import shutil
import sqlite3
from contextlib import closing
from datetime import date
from pathlib import Path

from dagster_project.demo.feedback.sources import write_feedback

FOLDER = Path("bench")
DAYS = 90
LAST_DAY = date(2026, 1, 31)
LAST_DAY_START = 1_769_817_600
DAY_SECONDS = 86_400
SEEDED_ROWS = 100_000  # of a narrow database; the others are copies of them under other names
# the floor has no answer to a value of another type, so the few there are go; all other hazards stay
NUMBERS = ("timestamp", "response_timestamp", "rating", "response_confidence", "escalated_to_claude", "processed")


def database(rows: int, days: int = DAYS) -> Path:
    """A feedback table of about 1 KB of text a row, distinct texts."""
    path = FOLDER / (f"feedback_{rows}.db" if days == DAYS else f"feedback_{rows}_{days}.db")
    if not path.exists():
        temporary = _written(path, rows, days, text_bytes=1000)
        temporary.rename(path)
    return path


def narrow_database(rows: int, days: int) -> Path:
    """Short texts, so that ten million rows are a matter of minutes: a seed of rows, told again on every stretch of days.

    Copies have ids, responses, sessions and users of their own: nobody has more to say than in the seed.
    """
    path = FOLDER / f"narrow_{rows}_{days}.db"
    if path.exists():
        return path
    copies = max(1, rows // SEEDED_ROWS)
    stretch = max(1, days // copies)
    temporary = _written(path, min(rows, SEEDED_ROWS), stretch, text_bytes=None)
    with closing(sqlite3.connect(temporary)) as connection:
        names = [name for _, name, *_ in connection.execute("pragma table_info(feedback)")]
        own = ("feedback_id", "response_id", "session_id", "user_id", "original_query")
        for number in range(1, copies):
            back = (number * stretch) % days * DAY_SECONDS
            taken = ", ".join(
                f"{name} || '-{number}'" if name in own else f"{name} - {back}" if name == "timestamp" else name
                for name in names
            )
            is_of_seed = f"rowid <= {SEEDED_ROWS} and typeof(timestamp) = 'real'"
            connection.execute(f"insert into feedback select {taken} from feedback where {is_of_seed} order by rowid")
            connection.commit()
    temporary.rename(path)
    return path


def _written(path: Path, rows: int, days: int, text_bytes: int | None) -> Path:
    temporary = path.with_suffix(".part")
    temporary.unlink(missing_ok=True)
    write_feedback(temporary, rows, seed=7, days=days, last_day=LAST_DAY, text_bytes=text_bytes)
    with closing(sqlite3.connect(temporary, isolation_level=None)) as connection:
        for table in ("responses", "feedback_aggregates", "feedback_sessions"):
            connection.execute(f"drop table {table}")
        connection.execute("drop trigger if exists update_feedback_aggregates")
        wrong = " or ".join(f"typeof({name}) in ('text', 'blob')" for name in NUMBERS)
        connection.execute(f"delete from feedback where {wrong} or (typeof(rating) = 'real')")
        connection.execute("pragma journal_mode = delete")
        connection.execute("vacuum")
        connection.execute("pragma journal_mode = wal")
    return temporary


def on_a_single_day(source: Path, rows: int) -> Path:
    """The same rows, all of them on the last day."""
    path = FOLDER / f"single_day_{rows}.db"
    if not path.exists():
        temporary = path.with_suffix(".part")
        shutil.copyfile(source, temporary)
        with closing(sqlite3.connect(temporary)) as connection:
            into_day = f"{LAST_DAY_START} + (timestamp - {DAY_SECONDS} * floor(timestamp / {DAY_SECONDS}))"
            valid = f"typeof(timestamp) = 'real' and timestamp between 1e9 and {LAST_DAY_START + DAY_SECONDS}"
            connection.execute(f"update feedback set timestamp = {into_day} where {valid}")
            connection.commit()
        temporary.rename(path)
    return path


def without_last_day(source: Path) -> Path:
    """A copy that lacks the last day, to measure what one new day costs."""
    copy = source.with_name(f"growing_{source.name}")
    shutil.copyfile(source, copy)
    with closing(sqlite3.connect(copy)) as connection:
        connection.execute(f"delete from feedback where {_of_last_day()}")
        connection.commit()
    return copy


def add_last_day(copy: Path, source: Path) -> None:
    with closing(sqlite3.connect(copy)) as connection:
        connection.execute("attach ? as whole", (str(source),))
        connection.execute(f"insert into feedback select * from whole.feedback where {_of_last_day()} order by rowid")
        connection.commit()


def _of_last_day() -> str:
    return f"timestamp >= {LAST_DAY_START} and timestamp < {LAST_DAY_START + DAY_SECONDS}"


def read_once(source: Path) -> None:
    """Into the page cache, for every contestant alike."""
    with source.open("rb") as file:
        while file.read(2**20):
            pass
