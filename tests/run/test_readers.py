"""Readers of the warehouse never fail, block or see half a publication while runs publish."""

import json
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from tests.conftest import ask, change, main_source, run

pytestmark = pytest.mark.slow

# Reads until a file appears; prints one line of figures per distinct answer, or dies of the first error.
READER = """
import json, sys, time
from pathlib import Path
import duckdb
warehouse, stop, keeps_open = sys.argv[1], Path(sys.argv[2]), sys.argv[3] == "held"
QUERY = '''select
    (select count(*) from core__feedback) as feedback,
    (select sum(n) from (select status, count(*) as n from core__feedback group by status)) as by_status,
    (select count(*) from core__feedback where status = 'active') as active,
    (select sum(feedback_count) from metric__feedback_daily) as daily,
    (select total_feedback from metric__feedback_stats) as total,
    (select count(*) from raw_feedback__entries where occurred_at < (select as_of from metric__feedback_stats)) as raw,
    (select count(*) from core__feedback_keys where occurred_at < (select as_of from metric__feedback_stats)) as keys,
    (select count(*) from quarantine) as quarantined,
    (select count(distinct (format, id, release)) = count(*) from training_examples) as ids_are_once
'''
held = duckdb.connect(warehouse, read_only=True, config={"threads": 1}) if keeps_open else None
seen, reads, last = [], 0, False
while True:
    last = stop.exists()
    connection = held or duckdb.connect(warehouse, read_only=True, config={"threads": 1})
    rows = connection.execute(QUERY)
    figures = dict(zip([column[0] for column in rows.description], rows.fetchone()))
    figures = {name: int(value) for name, value in figures.items()}
    if not held:
        connection.close()
    reads += 1
    if figures not in seen:
        seen.append(figures)
    if last:
        break
    if reads == 1:
        print("reading", flush=True)
    time.sleep(0.1)
print(json.dumps({"seen": seen, "reads": reads}), flush=True)
"""


def start_reader(home: Path, stop: Path, how: str) -> subprocess.Popen[str]:
    reader = subprocess.Popen(
        [sys.executable, "-c", READER, str(home / "warehouse.duckdb"), str(stop), how],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert reader.stdout is not None
    assert reader.stdout.readline() == "reading\n"
    return reader


def test_readers_see_one_publication_at_a_time(published: Path, tmp_path: Path) -> None:
    source, stop = main_source(published), tmp_path / "stop"
    anew, held = start_reader(published, stop, "anew"), start_reader(published, stop, "held")
    publications = 1
    fallback = source.with_name("feedback_fallback.db")
    copied = [key for (key,) in ask(fallback, "select feedback_id from feedback")] if fallback.exists() else []
    with duckdb.connect(str(published / "warehouse.duckdb"), read_only=True) as warehouse:
        kept = "select feedback_id from raw_feedback__entries where feedback_type = 'rating' order by 1"
        ids = [key for (key,) in warehouse.execute(kept).fetchall() if key not in copied]
    for number in range(2):  # the snapshot of the reader that holds on is kept through this many publications
        gone = ", ".join(f"'{key}'" for key in ids[number * 5 : number * 5 + 5])
        change(source, f"delete from feedback where feedback_id in ({gone})")
        run(published)
        publications += 1
    stop.touch()
    for reader, answers in ((anew, publications), (held, 1)):
        output, errors = reader.communicate()
        assert reader.returncode == 0, errors
        found = json.loads(output.splitlines()[-1])
        assert len(found["seen"]) == answers
        assert found["reads"] > answers
        for figures in found["seen"]:
            assert figures["feedback"] == figures["by_status"] == figures["raw"] == figures["keys"]
            assert figures["active"] == figures["daily"] == figures["total"]
            assert figures["ids_are_once"]
        raw = [figures["raw"] for figures in found["seen"]]
        assert raw == [raw[0] - 5 * number for number in range(answers)]
