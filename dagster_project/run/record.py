"""What is known of a run while it goes on, and what is put down of it: in the log (`run_log.py`) and in tables (`work_tables.py`)."""

import contextlib
import json
import os
import socket
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from dagster_project.errors import GristmillError, Misused, Stopped, one_line
from dagster_project.lake.lock import HomeHeld
from dagster_project.run import run_log, work_tables
from dagster_project.run.made import DRIFT_CLAIM
from dagster_project.run.run_log import GOOD

MOST_WORDS = 20  # unknown words of a table that are put down one by one
MOST_SHOWN_CHARACTERS = 240
FIGURES = ("read", "kept", "quarantined", "copies", "not_sampled", "waiting")


@dataclass(frozen=True)
class Check:
    """A claim about a table, whether it holds, and what was found."""

    table: str
    claim: str
    says: str
    blocks: bool
    found: Mapping[str, Any]
    offending_rows: int | None = None
    first: list[Any] = field(default_factory=list)
    holds: bool = False
    is_unchanged: bool = False  # the table was up to date: nobody looked again

    def line(self, most_rows: int = 3) -> str:
        """For a person: table, claim, how many rows offend it, the first of them."""
        rows = "" if self.offending_rows is None else f": {self.offending_rows:,} rows"
        shown = [json.dumps(row, default=str, ensure_ascii=False) for row in self.first[:most_rows]]
        shown += [f"{name} {value}" for name, value in self.found.items()] if not shown else []
        told = "; ".join(
            text if len(text) <= MOST_SHOWN_CHARACTERS else f"{text[: MOST_SHOWN_CHARACTERS - 1]}…" for text in shown
        )
        says = work_tables.RULE_NUMBERS.sub("", self.says).rstrip(".")
        return f"{self.table}: {self.claim} does not hold ({says}){rows}{', first ' if rows else ': '}{told}"


class RunRecord:
    """What is known of a run while it goes on."""

    def __init__(self, home: Path, run_id: str, started_by: str | None, started: datetime) -> None:
        """Without `started_by` nothing is written down: it is no run of the pipeline."""
        self.home, self.run_id, self.started_by, self.started = home, run_id, started_by, started
        self.accounts: dict[str, dict[str, int]] = {}
        self.drift: list[dict[str, Any]] = []
        self.checks: dict[tuple[str, str], Check] = {}
        self.alerts: list[dict[str, Any]] = []
        self.outcome: str | None = None
        self.reason: str | None = None
        self.has_begun = False
        self.killed: list[dict[str, Any]] = []  # runs before this one of which nobody knew yet that they were killed
        self.days_read: set[Any] = set()
        self.days_changed: set[Any] = set()
        self._known_drift: dict[tuple[str, ...], datetime] | None = None

    def begin(self, **more: Any) -> None:
        """Put down that the run begins. It holds the home, so whatever has not ended was killed."""
        if self.started_by is None:
            return
        known = run_log.as_put_down(self.home)
        for killed in (run for run in known if "outcome" not in run):
            ended = {"outcome": "killed", "reason": run_log.how_killed(killed)}
            run_log.append(self.home, {"run": killed["run"], **ended})
            self.killed.append({**killed, **ended})
        looked = [run["run"] for run in known if run.get("outcome") in GOOD and "drift_count" in run]
        self._known_drift = work_tables.drift_of(self.home, looked[-1]) if looked else None
        who = {"pid": os.getpid(), "host": socket.gethostname()}
        begun = {"run": self.run_id, "started": self.started, "started_by": self.started_by, **who, **more}
        run_log.append(self.home, begun)
        self.has_begun = True

    # --- what it finds -------------------------------------------------------------------------------------------

    def put_account(self, table: str, account: Any, rows: int) -> None:
        """What the run did with a source table, and what of it we do not know (G5, G8). Drift that was not there in the
        last run that went well is new."""
        self.accounts[table] = {name: getattr(account, name) for name in FIGURES}
        self.days_read.update(account.days_read)
        self.days_changed.update(account.changed_days)
        found = [{"table": table, "kind": "missing column", "name": name} for name in account.missing_columns]
        found += [{"table": table, "kind": "unknown column", "name": name} for name in account.unknown_columns]
        words = sorted(account.unknown_words.items(), key=lambda item: (-item[1], item[0]))
        if len(words) > MOST_WORDS:
            rest = words[MOST_WORDS:]
            words = [*words[:MOST_WORDS], (f"{len(rest)} more", sum(count for _, count in rest))]
        for word, count in words:
            share = min(1.0, round(count / max(rows, 1), 4))  # of lists, words are counted and not rows
            found.append({"table": table, "kind": "unknown word", "name": word, "rows": count, "share": share})
        self.drift = [item for item in self.drift if item["table"] != table]  # a step that is tried again tells again
        self.drift += [{**item, **self._since(item)} for item in found]

    def _since(self, item: Mapping[str, Any]) -> dict[str, Any]:
        known = self._known_drift
        first_seen = (known or {}).get(work_tables.drift_key(item))
        return {"new": known is not None and first_seen is None, "first_seen_at": first_seen or self.started}

    @property
    def has_run_before(self) -> bool:
        """Whether there is a run that went well to compare with."""
        return self._known_drift is not None

    def put_check(self, check: Check) -> None:
        self.checks[check.table, check.claim] = check

    @property
    def failed_checks(self) -> list[Check]:
        """Claims that do not hold, but for those about drift, which `drift` has in detail."""
        return [check for check in self.checks.values() if not check.holds and check.claim != DRIFT_CLAIM]

    @property
    def failed_check(self) -> str | None:
        """The first check that keeps the run from publishing."""
        found = [check for check in self.failed_checks if check.blocks]
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        return f"{found[0].line()}{more}; nothing was published" if found else None

    # --- what comes of it ----------------------------------------------------------------------------------------

    def fail(self, error: BaseException, outcome: str = "failed") -> None:
        """The first thing that went wrong is the reason; what follows from it is not."""
        if self.outcome is None:
            is_stopped = isinstance(error, Stopped | KeyboardInterrupt)
            self.outcome, self.reason = "stopped" if is_stopped else outcome, one_line(error)

    def published(self, is_changed: bool) -> None:
        self.outcome = "published" if is_changed else "nothing_new"

    def entry(self, **more: Any) -> dict[str, Any]:
        """What is known of the run by now, as the log has it."""
        found = {}
        if self.accounts:  # it came as far as reading
            sums = {name: sum(account[name] for account in self.accounts.values()) for name in FIGURES}
            found = {
                **sums,
                "days_read": len(self.days_read),
                "days_changed": len(self.days_changed),
                "drift_count": len(self.drift),
                "new_drift_count": sum(item["new"] for item in self.drift),
                "failed_check_count": len(self.failed_checks),
            }
        return {
            "run": self.run_id,
            "started": self.started,
            "started_by": self.started_by,
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "finished": datetime.now(UTC),
            "outcome": self.outcome,
            "reason": self.reason,
            **more,
            **found,
            "cpu_seconds": time.process_time(),
        }

    def end(
        self, error: BaseException | None, kept: Mapping[str, pl.DataFrame] | None = None, **more: Any
    ) -> dict[str, Any] | None:
        """Put down what came of the run, and return that. `error` is what ends it, if anything; `kept` are the tables by day
        as they are now that it went well."""
        if self.outcome is None and self.failed_check:
            self.outcome, self.reason = "failed", self.failed_check
        if error is None or isinstance(error, GeneratorExit):  # which is how Dagster lets go of a run
            error = GristmillError("it ended before anything was published")
        self.fail(error)
        if self.started_by is None or isinstance(error, HomeHeld | Misused):  # then none has been tried
            return None
        entry = self.entry(**more)
        if not self.has_begun:
            self._put_down_what_could_not_begin(entry)
            return entry
        try:
            work_tables.put_found(self.home, self.run_id, self.started, self.checks.values(), self.drift, self.alerts)
            for name, rows in (kept or {}).items():
                work_tables.put(self.home, name, rows)
            run_log.append(self.home, entry)
        except OSError:
            if self.outcome in GOOD:  # else there is something more important to tell
                raise
        return entry

    def _put_down_what_could_not_begin(self, entry: Mapping[str, Any]) -> None:
        """It never held the home, so it makes none: only where there is a log of runs already."""
        if run_log.place(self.home).exists():
            with contextlib.suppress(OSError):  # the reason it could not begin is what its user has to know
                run_log.append(self.home, entry)


def drift_lines(drift: Iterable[Mapping[str, Any]], most: int) -> list[str]:
    """What a person is told of drift: what is new first, then what concerns most rows."""
    found = sorted(drift, key=lambda item: (not item["new"], -item.get("share", 1.0), item["table"], item["name"]))
    return [f"{'new: ' if item['new'] else ''}{item['table']}: {drift_words(item)}" for item in found[:most]]


def drift_words(item: Mapping[str, Any]) -> str:
    rows = f" in {item['rows']:,} rows ({item['share']:.1%})" if item.get("rows") is not None else ""
    return f"{item['kind']} {item['name']}{rows}"
