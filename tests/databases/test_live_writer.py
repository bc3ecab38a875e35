"""Sources are live: another process writes while a run reads. A run sees whole transactions, waits for locks, loses nothing."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dagster_project.intake.dated_tables import DatedIntake
from dagster_project.orchestration import publication, sql_tables
from tests.conftest import catalog, change, complaint, gristmill, main_source, published_content, run
from tests.tables import table

pytestmark = pytest.mark.slow

# Writes pairs of rows that always agree, one transaction after the other, until a file appears. Then one more row, which
# stays in the write-ahead log until the input ends.
WRITER = """
import sqlite3, sys, time
from pathlib import Path
source, stop = sys.argv[1], Path(sys.argv[2])
database = sqlite3.connect(source, isolation_level=None, timeout=60)
assert database.execute("pragma journal_mode = wal").fetchone() == ("wal",)
database.execute("pragma wal_autocheckpoint = 50")
known = [row[0] for row in database.execute("select distinct response_id from responses limit 20")]
first = 1769000000
number = 0
while not stop.exists():
    database.execute("begin immediate")
    for side in "ab":
        database.execute(
            "insert into feedback (feedback_id, response_id, session_id, user_id, timestamp, feedback_type, rating, "
            "original_query, original_response, domain) values (?, ?, 's', ?, ?, 'rating', 1, ?, 'answer', 'code')",
            [f"pair_{number}_{side}", known[number % 20], f"user_{side}_{number}", first + number * 60 % 800000, "q" * 500],
        )
    turn = 1 if number % 2 else -1
    database.execute("update feedback set rating = ? where feedback_id like 'pair_%'", [turn])
    database.execute("commit")
    number += 1
    if number == 3:
        print("writing", flush=True)
    time.sleep(0.01)
database.execute("pragma wal_checkpoint(truncate)")
database.execute("pragma wal_autocheckpoint = 0")
database.execute(
    "insert into feedback (feedback_id, response_id, session_id, timestamp, feedback_type, rating, original_query, "
    "original_response) values ('only_in_wal', ?, 's', 1769000000, 'rating', 1, 'q', 'r')", [known[0]],
)
print(number, flush=True)
sys.stdin.read()
"""
# Holds a database for itself and says so; lets go after some seconds, or when its input ends.
LOCKER = """
import select, sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
assert database.execute("pragma journal_mode = delete").fetchone() == ("delete",)
database.execute("begin exclusive")
print("locked", flush=True)
select.select([sys.stdin], [], [], float(sys.argv[2]))
database.execute("rollback")
"""
# Writes at once or not at all. A process of its own: locks of one process do not keep each other out.
IMPATIENT = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], timeout=0)
database.execute(
    "insert or replace into feedback (feedback_id, response_id, session_id, timestamp, feedback_type, rating, "
    "original_query, original_response) values ('impatient', 'r', 's', 1769000000, 'rating', 1, 'q', 'r')"
)
database.commit()
"""


def begin(script: str, *arguments: object) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() in ("writing\n", "locked\n")
    return process


def entries(home: Path) -> pl.DataFrame:
    return table(home, "raw_feedback__entries").select("feedback_id", "rating", "event_date")


def pairs(home: Path) -> pl.DataFrame:
    return entries(home).filter(pl.col("feedback_id").str.starts_with("pair_"))


def accounted(output: str) -> int:
    """Rows read, which must be kept, quarantined or copies."""
    numbers = re.search(r"read ([\d ]+) = kept ([\d ]+) \+ quarantined ([\d ]+) \+ copies ([\d ]+)", output)
    assert numbers, output
    read, kept, quarantined, copies = (int(number.replace(" ", "")) for number in numbers.groups())
    assert read == kept + quarantined + copies
    return read


def test_a_run_sees_whole_transactions(published: Path, tmp_path: Path) -> None:
    source, stop = main_source(published), tmp_path / "stop"
    writer = begin(WRITER, source, stop)
    assert writer.stdout is not None
    try:
        accounted(run(published, "--full").stdout)
    finally:
        stop.touch()
    written = int(writer.stdout.readline())
    rows = pairs(published)
    numbers = rows["feedback_id"].str.extract(r"pair_(\d+)_").cast(pl.Int64)
    newest = int(str(numbers.max()))
    assert 3 <= newest + 1 < written  # the run began while it wrote, and it wrote on during the run
    assert rows.height == 2 * numbers.n_unique() == 2 * (newest + 1)
    assert rows["rating"].to_list() == [1 if newest % 2 else -1] * rows.height  # every transaction turns all of them
    assert b"only_in_wal" not in source.read_bytes()
    assert b"only_in_wal" in source.with_name(source.name + "-wal").read_bytes()
    accounted(run(published).stdout)
    _, errors = writer.communicate("end")
    assert writer.returncode == 0, errors
    assert pairs(published).height == 2 * written
    assert entries(published).filter(pl.col("feedback_id") == "only_in_wal").height == 1


def test_a_lock_of_a_few_seconds_is_waited_for(published: Path) -> None:
    before = published_content(published)
    locker = begin(LOCKER, main_source(published), 3)
    accounted(run(published).stdout)
    assert locker.poll() == 0  # the run did not end before the lock did
    assert published_content(published) == before


def test_a_source_is_free_once_it_is_read(published: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a write-ahead log a reader keeps writers waiting: they wait for the extraction, and for nothing after it."""
    source = main_source(published)
    change(source, "pragma journal_mode = delete", "delete from feedback where feedback_type = 'flag'")
    written: dict[str, bool] = {}

    def trying(function: Callable[..., Any]) -> Callable[..., Any]:
        def tried(*arguments: Any) -> Any:
            result = function(*arguments)
            stage = arguments[1] if function in (store, view) else function.__name__
            done = subprocess.run(
                [sys.executable, "-c", IMPATIENT, source], capture_output=True, text=True, check=False
            )
            assert done.returncode == 0 or "database is locked" in done.stderr
            written[stage] = done.returncode == 0
            return result

        return tried

    store, view = sql_tables.store_query, sql_tables._made_view
    monkeypatch.setattr(DatedIntake, "bring_up_to_date", trying(DatedIntake.bring_up_to_date))
    monkeypatch.setattr(sql_tables, "store_query", trying(store))
    monkeypatch.setattr(sql_tables, "_made_view", trying(view))
    monkeypatch.setattr(publication, "_publish", trying(publication._publish))
    run(published)
    assert written.pop("bring_up_to_date") is False
    assert {"core__voices", "core__answers", "core__feedback", "train__excluded", "_publish"} < written.keys()
    assert all(written.values()), written
    assert catalog(published)["publication"] == 2
    assert entries(published).filter(pl.col("feedback_id") == "impatient").is_empty()


def test_a_lock_that_stays_is_one_line(published: Path) -> None:
    before = published_content(published)
    locker = begin(LOCKER, main_source(published), 600)
    done = gristmill(published, "run", env={"GRISTMILL_BUSY_TIMEOUT_SECONDS": "0.2"})
    locker.communicate("let go")
    line = complaint(done)
    assert "feedback.db" in line
    assert "locked" in line
    assert published_content(published) == before
