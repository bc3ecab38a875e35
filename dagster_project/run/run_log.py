"""The log of runs, `<home>/runs/runs.jsonl`: a line when a run begins and one when it ends, whoever started it.

It is no output: the one place, with what else lies beside it, where the clock may be written down. Lines are appended whole, by
the run that holds the home. A beginning without an end whose home nobody holds is a run that was killed. What a run found in
detail lies beside it, in tables (`work_tables.py`); here is what the fast way of a run with nothing to do can afford to read.
"""

import json
import os
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from dagster_project.lake.lock import is_held

GOOD = ("published", "nothing_new")
MOST_BYTES = 8 * 2**20  # some thousand runs, read in a tenth of a second; then the older half goes


def place(home: Path) -> Path:
    return home / "runs" / "runs.jsonl"


def append(home: Path, entry: Mapping[str, Any]) -> None:
    path = place(home)
    path.parent.mkdir(parents=True, exist_ok=True)
    line = json.dumps(entry, default=_as_text, ensure_ascii=False, separators=(",", ":")) + "\n"
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        size = os.fstat(handle).st_size
        is_torn = size and os.pread(handle, 1, size - 1) != b"\n"  # the disk was full, or the machine went down
        os.write(handle, f"{chr(10) if is_torn else ''}{line}".encode(errors="surrogatepass"))
        os.fsync(handle)
    finally:
        os.close(handle)
    if size > MOST_BYTES:
        _forget_the_older_half(path)


def _forget_the_older_half(path: Path) -> None:
    lines = path.read_bytes()
    part = path.with_name(f"{path.name}.tmp")
    part.write_bytes(lines[lines.index(b"\n", len(lines) // 2) + 1 :])
    part.replace(path)


def _as_text(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def put_down_nothing_new(
    home: Path, started_by: str, started: datetime, finished: datetime, as_of: str, publication: int
) -> None:
    """A run that had nothing to do. What the run before found of drift and checks still stands."""
    append(
        home,
        {
            "run": str(uuid4()),
            "started": started,
            "started_by": started_by,
            "pid": os.getpid(),
            "finished": finished,
            "outcome": "nothing_new",
            "reason": None,
            "as_of": as_of,
            "publication": publication,
            "cpu_seconds": time.process_time(),
        },
    )


def runs(home: Path, is_mine: bool = False) -> list[dict[str, Any]]:
    """The runs in the order they began, each as last put down.

    One that has not ended goes on while somebody holds the home, and was killed if nobody does; `is_mine`: we hold it.
    """
    told = as_put_down(home)
    without_end = [run for run in told if "outcome" not in run]
    for run in without_end:
        goes_on = not is_mine and run is without_end[-1] and is_held(home)
        run["outcome"], run["reason"] = ("running", None) if goes_on else ("killed", how_killed(run))
    return told


def how_killed(run: Mapping[str, Any]) -> str:
    return f"process {run.get('pid')} on {run.get('host')} was killed"


def as_put_down(home: Path) -> list[dict[str, Any]]:
    """The runs of the log; one that has not ended has no outcome."""
    found: dict[str, dict[str, Any]] = {}
    for number, entry in enumerate(_entries(place(home))):
        key = entry.get("run", str(number))
        found[key] = found.get(key, {"run": key}) | entry
    return [run for run in found.values() if "started" in run]


def _entries(path: Path) -> list[dict[str, Any]]:
    """What can be read of the log; a line that was not written whole says nothing."""
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return []
    entries = []
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict):
            entries.append(entry)
    return entries
