"""A run killed at any moment leaves the old publication or the new one, and the next run ends as if nothing had happened.

A killed run is a real process under SIGKILL: from outside after a seeded delay, or at an exact step. For the latter
the process watches its own file operations through Python's audit hooks and kills itself just before the chosen one.
"""

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

from dagster_project.contracts.work import WORK
from tests.conftest import (
    catalog,
    change,
    content,
    copy_home,
    environment,
    gristmill,
    made_once,
    main_source,
    published_content,
    run,
    start,
)

pytestmark = pytest.mark.slow
SEED = random.Random(20260131)

KILL_AT = """
import os, signal, sys
event, part, left = sys.argv[1], sys.argv[2], int(sys.argv[3])
def watch(name, arguments):
    global left
    if name == event and any(part in str(argument) for argument in arguments[:2]):
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(watch)
sys.argv = ["gristmill", *sys.argv[4:]]
from dagster_project.cli import main
main()
"""

# What a source's owner did between two runs: edits, a late row's day emptied (its files go), and new rows.
EDITS = (
    "update feedback set rating = -rating where rating in (-1, 1) and rowid % 3 = 0",
    "delete from feedback where cast(timestamp / 86400 as integer) = 20475",
    "insert into feedback select 'new_' || feedback_id, response_id, session_id, user_id, timestamp + 60, "
    "response_timestamp, feedback_type, rating, correction, correction_type, what_was_wrong, preferred_response, "
    "comparison_basis, flag_type, flag_details, original_query, original_response, conversation_context, domain, "
    "response_confidence, escalated_to_claude, processed, training_format, quality_weight, processed_at, created_at "
    "from feedback where typeof(timestamp) = 'real' and rowid % 5 = 0",
)


def kill_at(home: Path, event: str, part: str, nth: int) -> None:
    """Run until just before the nth file operation of a kind on such a path, and no further."""
    done = subprocess.run(
        [sys.executable, "-c", KILL_AT, event, part, str(nth), "--home", str(home), "run"],
        cwd=home.parent,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, f"never came to {event} {part} {nth}: {done.stdout}{done.stderr}"


def kill_after(home: Path, seconds: float) -> None:
    """Kill a run some time after it took the home. It may have ended by then."""
    process = start(home, "run")
    holder = f"process {process.pid} "
    while process.poll() is None and not (home / "lock").read_text(encoding="utf-8").startswith(holder):
        time.sleep(0.001)
    time.sleep(seconds)
    process.kill()
    process.communicate()


def figures(home: Path) -> dict[str, Any] | None:
    """What the warehouse answers, asked of every table and view; null if there is none."""
    path = home / "warehouse.duckdb"
    if not path.exists():
        return None
    with duckdb.connect(str(path), read_only=True) as connection:
        names = [row[0] for row in connection.execute("show tables").fetchall()]
        assert len(names) > 20
        return {
            name: connection.execute(f'select count(*), bit_xor(hash(t)) from "{name}" t').fetchone()
            for name in names
            if name not in WORK  # the clock is in them
        }


def assert_whole(home: Path, *publications: dict[str, Any] | None) -> None:
    """What readers of the home rely on: the warehouse, the lake by its catalogue, the releases by their manifests."""
    assert figures(home) in publications
    if (home / "lake" / "catalog.json").exists():
        for table, partitions in catalog(home)["tables"].items():
            for partition, stored in partitions.items():
                file = home / "lake" / table / partition / "part-0.parquet"
                assert pq.ParquetFile(file).metadata.num_rows == stored["rows"], file
                assert file.stat().st_size == stored["bytes"], file
    for release in (home / "exports").glob("*"):
        manifest = json.loads((release / "manifest.json").read_text(encoding="utf-8"))
        assert {path.name for path in release.glob("*.jsonl")} == set(manifest["files"])
        for name, entry in manifest["files"].items():
            assert hashlib.sha256((release / name).read_bytes()).hexdigest() == entry["sha256"], name


def outcome(home: Path) -> dict[str, Any]:
    """All bytes of lake and releases; of the catalogue everything but the numbers of publications."""
    files: dict[str, Any] = {f"lake/{name}": data for name, data in content(home / "lake").items()}
    files |= {f"exports/{name}": data for name, data in content(home / "exports").items()}
    stored = catalog(home)
    for partitions in stored["tables"].values():
        for entry in partitions.values():
            del entry["version"]
    del stored["publication"], stored["snapshot"], stored["inputs"]  # the hashes of inputs are made of versions
    return files | {"lake/catalog.json": stored}


def strays(home: Path) -> list[str]:
    """Files that belong to no publication."""
    known = {
        "sources",
        "lake",
        "exports",
        "snapshots",
        "runs",
        "warehouse.duckdb",
        "lock",
        "state",
        "pending_review",
        "approved",
    }
    found = [str(path) for path in home.iterdir() if path.name not in known]
    found += [str(path) for path in home.rglob("*.tmp")]
    listed = {
        home / "lake" / table / partition / "part-0.parquet"
        for table, partitions in catalog(home)["tables"].items()
        for partition in partitions
    }
    found += [str(path) for path in (home / "lake").rglob("*.parquet") if path not in listed]
    newest = catalog(home)["publication"]
    found += [
        str(path) for path in (home / "snapshots").iterdir() if not path.name.isdigit() or int(path.name) > newest
    ]
    return found


@pytest.fixture(scope="session")
def undisturbed(published_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home after the edits and a second run. Not to be changed."""
    with made_once(tmp_path_factory, "undisturbed") as (home, is_new):
        if is_new:
            change(main_source(copy_home(published_home, home)), *EDITS)
            run(home)
        assert outcome(home) != outcome(published_home)
        return home


def answers(home: Path) -> list[str]:
    """What the commands say that read the lake by its catalogue."""
    done = [gristmill(home, command, "--json") for command in ("stats", "quarantine")]
    assert [each.returncode for each in done] == [0, 0]
    return [each.stdout for each in done]


def test_killed_first_runs(fresh: Path, published_home: Path) -> None:
    """While it reads, and while it writes the release."""
    for moment in (("os.mkdir", "raw_feedback__entries", SEED.randint(3, 9)), ("open", "release/", SEED.randint(2, 8))):
        kill_at(fresh, *moment)
        assert_whole(fresh, None)
        assert not (fresh / "lake").exists()
    run(fresh)
    assert_whole(fresh, figures(published_home))
    assert outcome(fresh) == outcome(published_home)
    assert not strays(fresh)


def test_killed_in_the_middle_of_a_commit(published: Path, published_home: Path, undisturbed: Path) -> None:
    """Right after the journal; then, as the next runs go on with it, before every step that is left, and in the sweep."""
    old, new = figures(published), figures(undisturbed)
    old_answers, new_answers = answers(published_home), answers(undisturbed)
    change(main_source(published), *EDITS)
    for moment, warehouse, said in (
        (("os.rename", "exports", 2), old, old_answers),  # the journal is written, nothing is in its place yet
        (("ctypes.dlsym", "renameat2", 1), old, old_answers),  # the release moved, the lakes are not exchanged yet
        (("os.rename", "warehouse.duckdb", 1), old, new_answers),  # exchanged; the warehouse still shows the old one
        (("os.remove", "commit.json", 1), new, new_answers),
        (("os.remove", "part-0.parquet", SEED.randint(2, 20)), new, new_answers),
    ):
        kill_at(published, *moment)
        assert (published / "commit.json").exists() == (moment[1] != "part-0.parquet")
        assert_whole(published, warehouse)
        assert answers(published) == said
    run(published)
    assert_whole(published, new)
    assert outcome(published) == outcome(undisturbed)
    assert not strays(published)
    assert catalog(published)["publication"] == 2


def test_killed_from_outside(published: Path, undisturbed: Path) -> None:
    old, new = figures(published), figures(undisturbed)
    change(main_source(published), *EDITS)
    kill_after(published, SEED.uniform(0, 4))
    assert_whole(published, old, new)
    run(published)
    assert_whole(published, new)
    assert outcome(published) == outcome(undisturbed)
    assert not strays(published)


def test_a_killed_run_whose_change_was_taken_back_leaves_nothing(published: Path) -> None:
    """Killed just before the journal, when release, snapshot and warehouse are all made."""
    before = published_content(published)
    toggle = "update feedback set processed = 1 - processed where processed in (0, 1)"
    change(main_source(published), toggle)
    kill_at(published, "os.rename", "commit.json", 1)
    assert (published / "snapshots" / "2").exists()
    change(main_source(published), toggle)
    run(published)
    assert published_content(published) == before
    assert not strays(published)


def test_signals(published: Path, undisturbed: Path) -> None:
    """A run stops between two assets, whatever it is doing: the signal's exit code, one line, nothing published."""
    before = published_content(published)
    change(main_source(published), *EDITS)
    for wait_for, number in (("staging", signal.SIGTERM), ("staging/release", signal.SIGINT)):
        shutil.rmtree(published / "staging", ignore_errors=True)
        process = start(published, "run")
        while process.poll() is None and not (published / wait_for).exists():
            time.sleep(0.001)
        os.kill(process.pid, number)
        _, errors = process.communicate()
        assert "Traceback" not in errors
        assert number.name in errors.splitlines()[-1]
        assert process.returncode == 128 + number
        assert published_content(published) == before
    run(published)
    assert outcome(published) == outcome(undisturbed)
    assert not strays(published)
