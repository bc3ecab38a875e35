"""The contestants on feedback: the floor, what one writes by hand, and `gristmill run` in all the ways the bars ask about."""

import hashlib
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.bench import databases, measuring
from tests.bench.bars import Results
from tests.bench.databases import FOLDER
from tests.bench.measuring import Cost

PROGRAM = str(Path(sys.executable).parent / "gristmill")
WORKERS = (1, 2, 3, 8)
RELEASE_NEVER = {"GRISTMILL_RELEASE_EVERY": "never"}
OWN_TABLES = ("core__", "metric__", "train__", "raw_")


def measure(*command: str, **environment: str) -> Cost:
    """With the settings `gristmill` gives itself, for every contestant alike."""
    return measuring.measure(FOLDER / "log.txt", *command, **measuring.SETTINGS, **environment)


def mill(home: Path, source: Path, *arguments: str, system: str = "feedback", **environment: str) -> Cost:
    variables = {f"GRISTMILL_{system.upper()}": str(source), **environment}
    return measure(PROGRAM, "--home", str(home), "run", *arguments, **variables)


def empty(name: str) -> Path:
    home = FOLDER / name
    shutil.rmtree(home, ignore_errors=True)
    return home


def show(results: Results, name: str, cost: Cost, floor: Cost | None = None) -> None:
    ratio = f"{cost.cpu / floor.cpu:6.2f}x CPU  {cost.wall / floor.wall:6.2f}x wall of (a)" if floor else ""
    noisy = f"   NO RESULT: others took {cost.noise:.0%} of the machine" if cost.is_noisy else ""
    results.noisy.extend([name.strip()] if noisy else [])
    told = f"{cost.wall:8.1f} s wall {cost.cpu:8.1f} s CPU {cost.peak_mb:8.0f} MB"
    print(f"{name:<42} {told}   {ratio}{noisy}", flush=True)


def contestants(results: Results, rows: int) -> Cost:
    """(a) to (d), (d) again, and one new day. Bars are about (d) without a release, which has one of its own (issue 12)."""
    print(f"\n{rows:,} rows", flush=True)
    source = databases.database(rows)
    databases.read_once(source)
    released = empty(f"home_released_{rows}")
    whole = mill(released, source)
    floor = measure(sys.executable, "-m", "tests.bench.floor", str(source), str(released), str(FOLDER / "floor"))
    show(results, "(a) floor", floor)
    by_hand = {"(b) plain Python, row by row": "plain", "(c) the obvious pandas script": "with_pandas"}
    costs = {}
    for name, module in by_hand.items():
        costs[module] = measure(sys.executable, "-m", f"tests.bench.{module}", str(source), str(FOLDER / module))
        show(results, name, costs[module], floor)
    show(results, "(d) gristmill run", whole, floor)
    release = last_run(released)["release_cpu_seconds"]
    print(f"    of which the release {release:.1f} s CPU", flush=True)
    home = empty(f"home_{rows}")
    first = mill(home, source, **RELEASE_NEVER)
    show(results, "(d) without a release", first, floor)
    again = mill(home, source, **RELEASE_NEVER)
    show(results, "    again, nothing new", again, floor)
    results.put("floor", first.cpu / floor.cpu)
    results.put("floor_wall", first.wall / floor.wall)
    results.put("pandas", first.wall / costs["with_pandas"].wall)
    results.put("release", release / (whole.cpu - release))
    results.put("memory", first.peak_mb)
    results.put("again", again.cpu)
    day, own_share = new_day(results, "one new day among 90", source)
    results.put("new_day", 100 * day / first.cpu)
    results.put("dagster", own_share)
    return first


def last_run(home: Path) -> dict[str, float]:
    """What the log of runs says of the last one."""
    return json.loads((home / "runs" / "runs.jsonl").read_text(encoding="utf-8").splitlines()[-1])


def new_day(results: Results, name: str, source: Path) -> tuple[float, float]:
    """CPU seconds of a run after one more day, without a release; and what of them is neither imports nor the making of
    tables: Dagster's own share."""
    home, growing = empty(f"home_growing_{source.stem}"), databases.without_last_day(source)
    mill(home, growing, **RELEASE_NEVER)
    databases.add_last_day(growing, source)
    day = mill(home, growing, **RELEASE_NEVER)
    making = last_run(home)["making_cpu_seconds"]
    imports = measure(sys.executable, "-c", "import dagster_project.definitions, dagster_project.lookups.questions").cpu
    show(results, f"    {name}", day)
    print(f"    of which imports {imports:.1f}, making tables {making:.1f} s CPU", flush=True)
    growing.unlink()
    return day.cpu, day.cpu - making - imports


def long_history(results: Results, rows: int) -> None:
    """One new day among 900 against one among 90, the day as large in both: a tenth of the rows for a tenth of the days."""
    print(f"\n{rows:,} narrow rows on 900 days, {rows // 10:,} on 90", flush=True)
    few, _ = new_day(results, "one new day among 90, narrow", databases.narrow_database(rows // 10, 90))
    many, _ = new_day(results, "one new day among 900, narrow", databases.narrow_database(rows, 900))
    results.put("new_day_900", many / few)


def large(results: Results, rows: int, small: Cost) -> Cost:
    """Four times the rows."""
    print(f"\n{4 * rows:,} rows", flush=True)
    cost = mill(empty(f"home_{4 * rows}"), databases.database(4 * rows), **RELEASE_NEVER)
    show(results, "(d) without a release", cost)
    results.put("memory_4", cost.peak_mb / small.peak_mb)
    results.put("row_4", cost.cpu / 4 / small.cpu)
    return cost


def huge(results: Results, rows: int) -> None:
    """Raw and core alone, at four and at sixteen times the rows."""
    print(f"\n{16 * rows:,} rows, without a release", flush=True)
    costs = []
    for times in (4, 16):
        home = empty(f"home_huge_{times}")
        costs.append(mill(home, databases.database(times * rows), **RELEASE_NEVER))
        show(results, f"(d) raw and core, {times * rows:,} rows", costs[-1])
        shutil.rmtree(home)
    results.put("memory_16", costs[1].peak_mb / costs[0].peak_mb)


def single_day(results: Results, rows: int) -> None:
    """All rows on one day: no group of days is small."""
    print(f"\n{rows:,} rows on a single day", flush=True)
    spread = databases.database(rows)
    costs = []
    for name, source in (("over 90 days", spread), ("on a single day", databases.on_a_single_day(spread, rows))):
        home = empty("home_single_day")
        costs.append(mill(home, source, **RELEASE_NEVER))
        show(results, f"(d) {rows:,} rows {name}", costs[-1])
    results.put("single_day", costs[1].peak_mb)


def workers(results: Results, rows: int, numbers: Sequence[int] = WORKERS) -> None:
    """The same bytes for every number of workers, and what two of them save."""
    print(f"\n{rows:,} rows with {', '.join(map(str, numbers))} workers", flush=True)
    costs, contents = {}, {}
    for number in numbers:
        home = empty(f"home_workers_{number}")
        costs[number] = mill(home, databases.database(rows), "--workers", str(number))
        show(results, f"(d) --workers {number}", costs[number])
        contents[number] = published(home)
        shutil.rmtree(home)
    first = contents[numbers[0]]
    others = [found for number, found in contents.items() if number != numbers[0]]
    differing = {name for found in others for name in {*first, *found} if first.get(name) != found.get(name)}
    for name in sorted(differing)[:10]:
        print(f"    other bytes: {name}", flush=True)
    results.put("bytes", len(differing))
    results.put("workers", costs[2].wall / costs[1].wall)


def published(home: Path) -> dict[str, str]:
    """The hash of every file of the tables and of the releases."""
    tables = [
        path for path in (home / "lake").rglob("*.parquet") if path.relative_to(home).parts[1].startswith(OWN_TABLES)
    ]
    files = [*tables, *(path for path in (home / "exports").rglob("*") if path.is_file())]
    return {str(path.relative_to(home)): _hash(path) for path in files}


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
