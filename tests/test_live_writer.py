"""Sources are live: another process writes while a run reads. A run sees whole transactions, waits for locks, loses nothing."""

import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

from tests.conftest import catalog, complaint, gristmill, main_source, published_content, run

pytestmark = pytest.mark.slow

# Writes pairs of rows that always agree, one transaction after the other, until a file appears.
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
print(number, flush=True)
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


def begin(script: str, *arguments: object) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() in ("writing\n", "locked\n")
    return process


def pairs(home: Path) -> pl.DataFrame:
    files = sorted((home / "lake" / "raw_feedback__entries").rglob("*.parquet"))
    rows = pl.read_parquet(files, columns=["feedback_id", "rating", "event_date"], hive_partitioning=False)
    return rows.filter(pl.col("feedback_id").str.starts_with("pair_"))


def accounted(output: str) -> int:
    """Rows read, which must be kept, quarantined or copies."""
    numbers = re.search(r"read ([\d ]+) = kept ([\d ]+) \+ quarantined ([\d ]+) \+ copies ([\d ]+)", output)
    assert numbers, output
    read, kept, quarantined, copies = (int(number.replace(" ", "")) for number in numbers.groups())
    assert read == kept + quarantined + copies
    return read


def test_a_run_sees_whole_transactions(published: Path, tmp_path: Path) -> None:
    stop = tmp_path / "stop"
    writer = begin(WRITER, main_source(published), stop)
    earlier = 0
    try:
        for arguments in ((), ("--full",)):
            read = accounted(run(published, *arguments).stdout)
            rows = pairs(published)
            numbers = rows["feedback_id"].str.extract(r"pair_(\d+)_").cast(pl.Int64)
            assert rows.height == 2 * numbers.n_unique() == 2 * (int(str(numbers.max())) + 1)
            assert rows["rating"].n_unique() == 1  # every transaction turns all of them
            assert rows["rating"][0] == (1 if int(str(numbers.max())) % 2 else -1)
            assert rows.height > earlier
            assert read > earlier
            earlier = rows.height
    finally:
        stop.touch()
    output, errors = writer.communicate()
    assert writer.returncode == 0, errors
    accounted(run(published).stdout)
    assert pairs(published).height == 2 * int(output.splitlines()[-1])


def test_rows_that_are_only_in_the_wal_are_seen(published: Path) -> None:
    source = main_source(published)
    with closing(sqlite3.connect(source, isolation_level=None)) as database:
        assert database.execute("pragma journal_mode = wal").fetchone() == ("wal",)
        database.execute("pragma wal_autocheckpoint = 0")
        (known,) = database.execute("select response_id from responses limit 1").fetchone()
        database.execute(
            "insert into feedback (feedback_id, response_id, session_id, timestamp, feedback_type, rating, "
            "original_query, original_response) values ('pair_only_in_wal', ?, 's', 1769000000, 'rating', 1, 'q', 'r')",
            [known],
        )
        assert b"pair_only_in_wal" not in source.read_bytes()
        assert b"pair_only_in_wal" in source.with_name(source.name + "-wal").read_bytes()
        run(published)
    assert pairs(published)["feedback_id"].to_list() == ["pair_only_in_wal"]


def test_a_lock_of_a_few_seconds_is_waited_for(published: Path) -> None:
    locker = begin(LOCKER, main_source(published), 6)
    accounted(run(published).stdout)
    locker.communicate()
    assert catalog(published)["publication"] == 1


def test_a_lock_that_stays_is_one_line(published: Path) -> None:
    before = published_content(published)
    locker = begin(LOCKER, main_source(published), 600)
    done = gristmill(published, "run", env={"GRISTMILL_BUSY_TIMEOUT_SECONDS": "0.2"})
    locker.communicate("let go")
    line = complaint(done)
    assert "feedback.db" in line
    assert "locked" in line
    assert published_content(published) == before
