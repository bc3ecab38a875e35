"""`make bench [ROWS=1000000]`: one process per contestant, wall and CPU seconds, peak memory, ratios to the floor;
what was measured while other processes took part of the machine is called no result.

Contestants: (a) the floor: stream, write once, write the records that leave; (b) plain Python row by row; (c) the obvious
pandas script; (d) `gristmill run` with everything on, then again with nothing new, then with one new day.
Then the other systems by themselves (INTERACTIONS=200000, TURNS=1000000, ...; 0 leaves one out) and costly parts alone.
Databases are written once per size under `bench/` and kept.
"""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path

from dagster_project.demo.distillation import write_distillation
from dagster_project.demo.feedback import write_feedback
from dagster_project.demo.reaction_sources import write_reactions
from dagster_project.demo.session_sources import write_sessions
from dagster_project.demo.turn_sources import write_turns
from tests.bench import measuring
from tests.bench.measuring import Cost

FOLDER = Path("bench")
DAYS = 90
LAST_DAY = date(2026, 1, 31)
LAST_DAY_START = 1_769_817_600
NOISY: list[str] = []  # what was measured while others worked


def measure(*command: str, **environment: str) -> Cost:
    return measuring.measure(FOLDER / "log.txt", *command, **environment)


def database(rows: int) -> Path:
    """A feedback table of about 1 KB of text a row, distinct texts, 90 days."""
    path = FOLDER / f"feedback_{rows}.db"
    if not path.exists():
        temporary = path.with_suffix(".part")
        temporary.unlink(missing_ok=True)
        write_feedback(temporary, rows, seed=7, days=DAYS, last_day=LAST_DAY, text_bytes=1000)
        with sqlite3.connect(temporary, isolation_level=None) as connection:
            for table in ("responses", "feedback_aggregates", "feedback_sessions"):
                connection.execute(f"drop table {table}")
            connection.execute("drop trigger if exists update_feedback_aggregates")
            # the floor has no answer to a value of another type, so the few there are go; all other hazards stay
            numbers = (
                "timestamp",
                "response_timestamp",
                "rating",
                "response_confidence",
                "escalated_to_claude",
                "processed",
            )
            wrong = " or ".join(f"typeof({name}) in ('text', 'blob')" for name in numbers)
            connection.execute(f"delete from feedback where {wrong} or (typeof(rating) = 'real')")
            connection.execute("pragma journal_mode = delete")
            connection.execute("vacuum")
            connection.execute("pragma journal_mode = wal")
        connection.close()
        temporary.rename(path)
    return path


def without_last_day(source: Path) -> Path:
    """A copy that lacks the last day, to measure what one new day costs."""
    copy = source.with_name(f"growing_{source.name}")
    shutil.copyfile(source, copy)
    with sqlite3.connect(copy) as connection:
        connection.execute(
            "delete from feedback where timestamp >= ? and timestamp < ?", (LAST_DAY_START, LAST_DAY_START + 86400)
        )
    connection.close()
    return copy


def add_last_day(copy: Path, source: Path) -> None:
    with sqlite3.connect(copy) as connection:
        connection.execute("attach ? as whole", (str(source),))
        connection.execute(
            "insert into feedback select * from whole.feedback where timestamp >= ? and timestamp < ? order by rowid",
            (LAST_DAY_START, LAST_DAY_START + 86400),
        )
    connection.close()


def mill(home: Path, source: Path, system: str = "feedback") -> Cost:
    program = str(Path(sys.executable).parent / "gristmill")
    return measure(program, "--home", str(home), "run", **{f"GRISTMILL_{system.upper()}": str(source)})


def show(name: str, cost: Cost, floor: Cost | None = None) -> None:
    ratio = f"{cost.cpu / floor.cpu:6.2f}x CPU  {cost.wall / floor.wall:6.2f}x wall of (a)" if floor else ""
    noisy = f"   NO RESULT: others took {cost.noise:.0%} of the machine" if cost.is_noisy else ""
    NOISY.extend([name.strip()] if noisy else [])
    print(
        f"{name:<42} {cost.wall:8.1f} s wall {cost.cpu:8.1f} s CPU {cost.peak_mb:8.0f} MB   {ratio}{noisy}", flush=True
    )


def compare(rows: int, only_mill: bool = False) -> Cost:
    print(f"\n{rows:,} rows", flush=True)
    source = database(rows)
    with source.open("rb") as file:  # into the page cache, for every contestant alike
        while file.read(2**20):
            pass
    home = FOLDER / f"home_{rows}"
    shutil.rmtree(home, ignore_errors=True)
    first = mill(home, source)
    floor = None
    if not only_mill:
        floor = measure(sys.executable, "-m", "tests.bench.floor", str(source), str(home), str(FOLDER / "floor"))
        show("(a) floor", floor)
        show(
            "(b) plain Python, row by row",
            measure(sys.executable, "-m", "tests.bench.plain", str(source), str(FOLDER / "plain")),
            floor,
        )
        show(
            "(c) the obvious pandas script",
            measure(sys.executable, "-m", "tests.bench.with_pandas", str(source), str(FOLDER / "pandas")),
            floor,
        )
    show("(d) gristmill run", first, floor)
    second = mill(home, source)
    show("    again, nothing new", second, floor)
    print(f"    again / first: {100 * second.cpu / first.cpu:.1f} % of CPU", flush=True)
    if not only_mill:
        _one_new_day(rows, source, first)
    return first


def _one_new_day(rows: int, source: Path, first: Cost) -> None:
    """Everything but writing the release, so the release's own share is measured and taken off."""
    home, growing = FOLDER / f"home_growing_{rows}", without_last_day(source)
    shutil.rmtree(home, ignore_errors=True)
    mill(home, growing)
    add_last_day(growing, source)
    day = mill(home, growing)
    last_run = (home / "runs" / "runs.jsonl").read_text(encoding="utf-8").splitlines()[-1]
    release = json.loads(last_run)["release_cpu_seconds"]
    show("    one new day among 90", day)
    print(
        f"    of which writing the release {release:.1f} s CPU; the rest / first: {100 * (day.cpu - release) / first.cpu:.1f} %",
        flush=True,
    )
    growing.unlink()


def write_distilled(folder: Path, interactions: int) -> None:
    write_distillation(folder / "distillation.db", interactions, seed=7, days=DAYS, last_day=LAST_DAY, text_bytes=2000)


def write_conversations(folder: Path, turns: int) -> None:
    write_turns(folder, turns, seed=7, days=DAYS, last_day=LAST_DAY, is_bench=True)


def write_ai_sessions(folder: Path, sessions: int) -> None:
    write_sessions(folder, sessions, seed=7, is_bench=True)


def write_conv_messages(folder: Path, reactions: int) -> None:
    write_reactions(folder, reactions, seed=7, is_bench=True)


# The other systems, each by itself: how its demo database is written, how many rows, what a row is called.
OTHERS: dict[str, tuple[Callable[[Path, int], object], int, str]] = {
    "distillation": (write_distilled, 200_000, "interactions"),
    "conversations": (write_conversations, 1_000_000, "turns"),
    "reactions": (write_conv_messages, 1_000_000, "reactions"),
    "sessions": (write_ai_sessions, 1_000_000, "sessions"),
}


def system(name: str) -> None:
    """Everything one system's rows go through, then again with nothing new. `TURNS=0` and the like leave it out."""
    write, usual, noun = OTHERS[name]
    count = int(os.environ.get(noun.upper(), usual))
    if not count:
        return
    print(f"\n{count:,} {noun}", flush=True)
    folder, home = FOLDER / f"{name}_{count}", FOLDER / f"home_{name}_{count}"
    if not folder.exists():
        temporary = folder.with_suffix(".part")
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir()
        write(temporary, count)
        temporary.rename(folder)
    shutil.rmtree(home, ignore_errors=True)
    first = mill(home, folder / f"{name}.db", name)
    show("(d) gristmill run", first)
    print(f"    {count / first.cpu:,.0f} {noun} per second of CPU", flush=True)
    show("    again, nothing new", mill(home, folder / f"{name}.db", name))


def main() -> None:
    rows = int(os.environ.get("ROWS", "1000000"))
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "log.txt").unlink(missing_ok=True)
    print(measuring.machine(), flush=True)
    small = compare(rows) if rows else None
    for name in OTHERS:
        system(name)
    print("\nparts by themselves, one core", flush=True)
    subprocess.run(
        [sys.executable, "-m", "tests.bench.parts"], check=True, env=os.environ | {"POLARS_MAX_THREADS": "1"}
    )
    if small and os.environ.get("LARGE", "1") == "1":
        large = compare(4 * rows, only_mill=True)
        print(
            f"\n4x the rows: CPU per row {large.cpu / 4 / small.cpu:.2f}x, peak memory {large.peak_mb / small.peak_mb:.2f}x"
        )
    if NOISY:
        raise SystemExit(f"not quiet enough to be a result: {', '.join(NOISY)}; run it again on a quiet machine")


if __name__ == "__main__":
    main()
