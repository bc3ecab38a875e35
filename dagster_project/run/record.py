"""The record of runs, `<home>/runs/runs.jsonl`: a line when a run begins and one when it ends, whoever started it.

It is a log and no output: the one place where the clock may be written down. Lines are appended whole, by the run that
holds the home. A beginning without an end whose home nobody holds is a run that was killed.
"""

import json
import os
import socket
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from dagster_project.errors import GristmillError, Stopped, one_line
from dagster_project.lake.lock import is_held

TAIL_BYTES = 16 * 2**20  # what is looked at of a long history: some thousand runs
GOOD = ("published", "nothing_new")
MOST_WORDS = 20  # unknown words of a table that are put down one by one


@dataclass(frozen=True)
class FailedCheck:
    """A claim about a table that does not hold, and what was found instead."""

    table: str
    claim: str
    says: str
    blocks: bool
    found: Mapping[str, Any]
    offending_rows: int | None = None
    first: list[Any] = field(default_factory=list)

    def line(self, most_rows: int = 3) -> str:
        """For a person: table, claim, how many rows offend it, the first of them."""
        rows = "" if self.offending_rows is None else f": {self.offending_rows:,} rows"
        shown = [json.dumps(row, default=str, ensure_ascii=False) for row in self.first[:most_rows]]
        shown += [f"{name} {value}" for name, value in self.found.items()] if not shown else []
        told = "; ".join(text if len(text) <= 240 else f"{text[:239]}…" for text in shown)
        return f"{self.table}: {self.claim} does not hold ({self.says.rstrip('.')}){rows}{', first ' if rows else ': '}{told}"


class RunRecord:
    """What is known of a run while it goes on."""

    def __init__(self, home: Path, run_id: str, started_by: str | None, started: datetime) -> None:
        """Without `started_by` nothing is written down: it is no run of the pipeline."""
        self.home, self.run_id, self.started_by, self.started = home, run_id, started_by, started
        self.accounts: dict[str, dict[str, int]] = {}
        self.drift: list[dict[str, Any]] = []
        self.checks: list[FailedCheck] = []
        self.outcome: str | None = None
        self.reason: str | None = None
        self.has_begun = False
        self._known_drift: set[tuple[Any, ...]] | None = None

    def begin(self, **more: Any) -> None:
        """Put down that the run begins. It holds the home, so whatever has not ended was killed."""
        if self.started_by is None:
            return
        known = _runs_as_put_down(self.home)
        for killed in (run for run in known if "outcome" not in run):
            _append(self.home, {"run": killed["run"], "outcome": "killed", "reason": _killed(killed)})
        before = [run for run in known if run.get("outcome") in GOOD and "drift" in run]
        self._known_drift = {_drift_key(item) for item in before[-1]["drift"]} if before else None
        who = {"pid": os.getpid(), "host": socket.gethostname()}
        _append(self.home, {"run": self.run_id, "started": self.started, "started_by": self.started_by, **who, **more})
        self.has_begun = True

    def put_account(self, table: str, account: Any, rows: int) -> None:
        """What the run did with a source table, and what of it we do not know (G5, G8). Drift that was not there in the
        last run that went well is new."""
        names = ("read", "kept", "quarantined", "copies", "not_sampled", "waiting")
        days = {"days_read": len(account.days_read), "days_changed": len(account.changed_days)}
        self.accounts[table] = {name: getattr(account, name) for name in names} | days
        found = [{"table": table, "kind": "missing column", "name": name} for name in account.missing_columns]
        found += [{"table": table, "kind": "unknown column", "name": name} for name in account.unknown_columns]
        words = sorted(account.unknown_words.items(), key=lambda item: (-item[1], item[0]))
        if len(words) > MOST_WORDS:
            rest = words[MOST_WORDS:]
            words = [*words[:MOST_WORDS], (f"{len(rest)} more", sum(count for _, count in rest))]
        found += [
            {
                "table": table,
                "kind": "unknown word",
                "name": word,
                "rows": count,
                "share": round(count / max(rows, 1), 4),
            }
            for word, count in words
        ]
        known = self._known_drift
        self.drift = [item for item in self.drift if item["table"] != table]  # a step that is tried again tells again
        self.drift += [{**item, "new": known is not None and _drift_key(item) not in known} for item in found]

    def put_check(self, check: FailedCheck) -> None:
        if check not in self.checks:
            self.checks.append(check)

    def fail(self, error: BaseException, outcome: str = "failed") -> None:
        """The first thing that went wrong is the reason; what follows from it is not."""
        if self.outcome is None:
            is_stopped = isinstance(error, Stopped | KeyboardInterrupt)
            self.outcome, self.reason = "stopped" if is_stopped else outcome, one_line(error)

    def published(self, is_changed: bool) -> None:
        self.outcome = "published" if is_changed else "nothing_new"

    @property
    def failed_check(self) -> str | None:
        """The first check that keeps the run from publishing."""
        found = [check for check in self.checks if check.blocks]
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        return f"{found[0].line()}{more}; nothing was published" if found else None

    def end(self, error: BaseException | None, **more: Any) -> None:
        """Put down what came of the run. `error` is what ends it, if anything."""
        if not self.has_begun:
            return
        if self.outcome is None and self.failed_check:
            self.outcome, self.reason = "failed", self.failed_check
        if error is None or isinstance(error, GeneratorExit):  # which is how Dagster lets go of a run
            error = GristmillError("it ended before anything was published")
        self.fail(error)
        entry = {
            "run": self.run_id,
            "started": self.started,
            "started_by": self.started_by,
            "pid": os.getpid(),
            "finished": datetime.now(UTC),
            "outcome": self.outcome,
            "reason": self.reason,
            **more,
            "accounts": self.accounts,
            "drift": self.drift,
            "checks": [asdict(check) for check in self.checks],
            "cpu_seconds": time.process_time(),
        }
        try:
            _append(self.home, entry)
        except OSError:
            if self.outcome in GOOD:  # else there is something more important to tell
                raise


def put_down_nothing_new(home: Path, started_by: str, started: datetime, as_of: str, publication: int) -> None:
    """A run that had nothing to do. What the run before found of drift and checks still stands."""
    _append(
        home,
        {
            "run": str(uuid4()),
            "started": started,
            "started_by": started_by,
            "pid": os.getpid(),
            "finished": datetime.now(UTC),
            "outcome": "nothing_new",
            "reason": None,
            "as_of": as_of,
            "publication": publication,
            "cpu_seconds": time.process_time(),
        },
    )


def drift_lines(drift: Iterable[Mapping[str, Any]], most: int) -> list[str]:
    """What a person is told of drift: what is new first, then what concerns most rows."""
    found = sorted(drift, key=lambda item: (not item["new"], -item.get("share", 1.0), item["table"], item["name"]))
    lines = []
    for item in found[:most]:
        rows = f" in {item['rows']:,} rows ({item['share']:.1%})" if "rows" in item else ""
        lines.append(f"{'new: ' if item['new'] else ''}{item['table']}: {item['kind']} {item['name']}{rows}")
    return lines


def _drift_key(item: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(item[name] for name in ("table", "kind", "name"))


def _append(home: Path, entry: Mapping[str, Any]) -> None:
    path = home / "runs" / "runs.jsonl"
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


def _as_text(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def runs(home: Path, is_mine: bool = False) -> list[dict[str, Any]]:
    """The latest runs in the order they began, each as last put down.

    One that has not ended goes on while somebody holds the home, and was killed if nobody does; `is_mine`: we hold it.
    """
    told = _runs_as_put_down(home)
    for place, run in enumerate(told):
        if "outcome" not in run:
            goes_on = not is_mine and place == len(told) - 1 and is_held(home)
            run["outcome"], run["reason"] = ("running", None) if goes_on else ("killed", _killed(run))
    return told


def _killed(run: Mapping[str, Any]) -> str:
    return f"process {run.get('pid')} on {run.get('host')} was killed"


def _runs_as_put_down(home: Path) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for number, entry in enumerate(_entries(home / "runs" / "runs.jsonl")):
        key = entry.get("run", str(number))
        found[key] = found.get(key, {"run": key}) | entry
    return list(found.values())


def _entries(path: Path) -> list[dict[str, Any]]:
    """What can be read of the log's end; a line that was not written whole says nothing."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - TAIL_BYTES))
            lines = file.read().split(b"\n")
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
