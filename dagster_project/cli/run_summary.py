"""What a run came to, on one screen: where the rows went, what leaves for training, what was unexpected, what to do next."""

import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from dagster_project.contracts.formats import FORMATS
from dagster_project.lake.releases import newest_of
from dagster_project.lookups.questions import quarantine
from dagster_project.lookups.status_text import seconds_said
from dagster_project.run.mill_run import MillRun
from dagster_project.run.missing_files import told
from dagster_project.run.record import drift_lines

MOST_REASONS, MOST_DRIFT, MOST_WARNINGS, MOST_DAYS = 3, 2, 2, 3
WENT = {"read": "read", "kept": "= kept", "quarantined": "+ quarantined", "copies": "+ copies"}
NOT_SAMPLED = {"not_sampled": "+ not sampled"}


def summary_lines(mill: MillRun) -> Iterator[str]:
    lake, record = mill.lake, mill.record
    published = "only its release" if mill.is_in_the_past else f"publication {lake.published.publication}"
    yield f"as of {mill.as_of:%Y-%m-%d %H:%M} UTC ({mill.as_of_choice}), {published} in {lake.home}"
    yield _took(mill)
    for line in (*mill.damage.told(lake), *told(mill.missing, lake.published)):
        yield f"  {line}"
    yield from _rows(record.accounts)
    reasons = Counter(reason for row in quarantine(mill.config)["reasons"].to_list() for reason in row)
    if reasons:
        shown = ", ".join(f"{reason} {count:,}" for reason, count in reasons.most_common(MOST_REASONS))
        more = len(reasons) - MOST_REASONS
        yield f"  refused    {shown}" + (f" and {more:,} more reasons: `gristmill quarantine`" if more > 0 else "")
    if waiting := sum(account["waiting"] for account in record.accounts.values()):
        yield f"  waiting    {waiting:,} rows dated at or after as_of"
    yield from _drift(mill)
    for check in record.failed_checks[:MOST_WARNINGS]:
        yield f"  warning    {check.line()}"
    yield from _release_lines(mill)
    yield f"  warehouse  {lake.home / 'warehouse.duckdb'}"
    yield from _next(mill)


def _took(mill: MillRun) -> str:
    days, changed = mill.record.days_read, sorted(mill.record.days_changed)
    named = ", ".join(map(str, changed[:MOST_DAYS])) + (" ..." if len(changed) > MOST_DAYS else "")
    layers = ", ".join(f"{name} {seconds_said(layer.seconds)}" for name, layer in mill.watcher.layers.items())
    took = seconds_said((datetime.now(UTC) - mill.began).total_seconds())
    parts = [
        f"  days read  {len(days):,}, changed {len(changed):,}",
        f"({named})" if named else "",
        f"in {took}: {layers}",
    ]
    return " ".join(part for part in parts if part)


def _rows(accounts: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Where every row of every system went (G3)."""
    names = WENT if not any(account["not_sampled"] for account in accounts.values()) else WENT | NOT_SAMPLED
    sums: dict[str, Counter[str]] = {}
    for table, account in accounts.items():
        if account["read"]:
            sums.setdefault(table.removeprefix("raw_").partition("__")[0], Counter()).update(account)
    lines = {system: sums[system] for system in sorted(sums)}
    lines["all"] = sum(sums.values(), Counter())
    widths = {name: len(f"{lines['all'][name]:,}") for name in names}
    for system, found in lines.items():
        yield f"  {system:<13} " + " ".join(f"{word} {found[name]:>{widths[name]},}" for name, word in names.items())


def _drift(mill: MillRun) -> Iterator[str]:
    """What is new; in a first run all of it is there for the first time, and the largest is shown."""
    record = mill.record
    if not record.drift:
        return
    new = [item for item in record.drift if item["new"]]
    known = len(record.drift) - len(new)
    shown = drift_lines(new if record.has_run_before else record.drift, MOST_DRIFT)
    number = f"{len(new):,} new, {known:,} known" if record.has_run_before else f"{known:,} things no contract knows"
    yield f"  drift      {number}: `gristmill status --json`"
    yield from (f"             {line}" for line in shown)


def _release_lines(mill: MillRun) -> Iterator[str]:
    lake, exports = mill.lake, mill.lake.home / "exports"
    if not mill.makes_release:
        standing = lake.published.release.get("name")
        newest = f"the newest is {exports / standing}" if standing else "there is none yet"
        yield f"  release    none was made (release_every = {mill.config.release_every}), {newest}: `gristmill release`"
        return
    counts = []
    for form in FORMATS:
        files = lake.partitions(f"train__{form}")
        rows = sum(file.rows for name, file in files.items() if name.startswith(f"release_date={mill.release_date}/"))
        counts.append(f"{form} {rows:,}")
    yield f"  examples   {', '.join(counts)}"
    yield f"  release    {exports / str(newest_of(lake.home, mill.release_date))}"


def _next(mill: MillRun) -> Iterator[str]:
    """Three things to try, as they can be typed here."""
    command = "gristmill" if shutil.which("gristmill") else _as_typed(Path(sys.argv[0]))
    tries = {
        "status": "how the sources are doing, at a glance",
        'query "from metric__satisfaction_daily order by event_date desc limit 12"': "are users happier?",
    }
    waiting = 0 if mill.is_in_the_past else mill.lake.rows("core__review_queue")
    if waiting:
        tries["review"] = f"{waiting:,} wait for a person, most valuable first (also {_batch(mill)})"
    else:
        tries["sample preference -n 20"] = "records to read before training"
    yield "to try next"
    yield from (f"  {command} {words}    {why}" for words, why in tries.items())


def _batch(mill: MillRun) -> Path:
    return Path("pending_review", f"batch_{mill.release_date:%Y%m%d}.json")


def _as_typed(command: Path) -> str:
    here = Path.cwd()
    return str(command.relative_to(here)) if command.is_absolute() and command.is_relative_to(here) else str(command)
