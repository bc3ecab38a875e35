"""`make bench`: one process per contestant, wall and CPU seconds, peak memory, ratios to the floor, and every bar at the end.

What was measured while other processes took part of the machine is called no result. Contestants: (a) the floor: stream, write
once, write the records that leave; (b) plain Python row by row; (c) the obvious pandas script; (d) `gristmill run`.

    ROWS=1000000        feedback rows; 0 leaves out (a) to (d) and all that is compared with them
    INTERACTIONS, TURNS, REACTIONS, SESSIONS    rows of the other systems; 0 leaves one out
    PARTS=1             costly parts by themselves on one core
    WORKERS=1           1, 2, 3 and 8 workers: wall and bytes
    LARGE=1             four times the rows
    SINGLE_DAY=2000000  rows on a single day; 0 leaves it out
    LONG=10000000       narrow rows on 900 days; 0 leaves it out
    HUGE=0              1: raw and core of four and sixteen times the rows, 20 GB of databases and half an hour

Databases are written once per size under `bench/` and kept.
"""

import os
import subprocess
import sys

from tests.bench import feedback, measuring
from tests.bench.bars import Results
from tests.bench.databases import FOLDER
from tests.bench.other_systems import OTHERS, system


def asked(name: str, usual: int) -> int:
    return int(os.environ.get(name, usual))


def main() -> None:
    rows, results = asked("ROWS", 1_000_000), Results()
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "log.txt").unlink(missing_ok=True)
    print(measuring.machine(), flush=True)
    small = feedback.contestants(results, rows) if rows else None
    for name in OTHERS:
        system(results, name)
    if asked("PARTS", 1):
        print("\nparts by themselves, one core", flush=True)
        environment = os.environ | {"POLARS_MAX_THREADS": "1"}
        for parts in ("tests.bench.parts", "tests.bench.training_parts"):
            subprocess.run([sys.executable, "-m", parts], check=True, env=environment)
    if rows and asked("WORKERS", 1):
        feedback.workers(results, rows)
    if small and asked("LARGE", 1):
        feedback.large(results, rows, small)
    if count := asked("SINGLE_DAY", 2_000_000):
        feedback.single_day(results, count)
    if count := asked("LONG", 10_000_000):
        feedback.long_history(results, count)
    if rows and asked("HUGE", 0):
        feedback.huge(results, rows)
    print(f"\n{results.table()}", flush=True)
    if results.noisy:
        raise SystemExit("not quiet enough to be a result: run it again on a quiet machine")


if __name__ == "__main__":
    main()
