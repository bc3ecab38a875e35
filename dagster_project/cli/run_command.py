"""`gristmill run`: everything for the days that changed, through Dagster in this process, and what came of it."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from dagster_project.cli.given import settings
from dagster_project.cli.terminal import say
from dagster_project.config import OF_A_RUN, Config
from dagster_project.errors import GristmillError
from dagster_project.lake.lock import home_lock
from dagster_project.run import nothing_new
from dagster_project.run.moments import parse_as_of, parse_day
from dagster_project.run.record import drift_lines, put_down_nothing_new

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from dagster_project.intake.account import Account
    from dagster_project.intake.stage import Choice
    from dagster_project.run.mill_run import MillRun

MOST_REASONS, MOST_DRIFT = 5, 5  # shown after a run


def run(
    from_: Annotated[str | None, typer.Option("--from", help="First day to read again (UTC).")] = None,
    to: Annotated[str | None, typer.Option("--to", help="Last day to read again (UTC), included.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Read every day again.")] = False,
    as_of: Annotated[
        str | None,
        typer.Option(
            help="Everything before this instant counts, `now` for a piece of today; default: the end of the newest day "
            "that is over."
        ),
    ] = None,
    wait: Annotated[float, typer.Option(min=0, help="Seconds to wait for another run on this home.")] = 0,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=OF_A_RUN["workers"].most,
            help="How many days are worked on at once; default: as many as there are cores.",
        ),
    ] = None,
) -> None:
    """Materialise everything for the days that changed, or for those given, and publish it."""
    chosen = settings() if workers is None else replace(settings(), workers=workers)
    if not (from_ or to or full) and _is_nothing_new(chosen, as_of, wait):
        return
    from dagster_project.intake.stage import Choice

    days = None
    if from_ or to:
        days = (parse_day(from_ or "2000-01-01"), parse_day(to or "2099-12-31"))
        if days[0] > days[1]:
            raise GristmillError(f"--from {days[0]} is after --to {days[1]}")
        if full:
            raise GristmillError("--full reads every day: leave out --from and --to")
    carry_out(chosen, Choice(None if as_of is None else parse_as_of(as_of), full, days, wait))


def carry_out(chosen: Config, choice: "Choice", finish: "Callable[[MillRun], None]" = lambda mill: None) -> None:
    """A whole run, and what came of it in words. `finish` is called once it has published, while it still holds the home."""
    from dagster_project.cli.progress import progress
    from dagster_project.contracts import pandera  # noqa: F401  no row is read where nothing can check it
    from dagster_project.registry import open_run
    from dagster_project.run.stop import STOP

    with open_run(chosen, choice, started_by="command line") as mill, progress() as report:
        mill.report = report
        STOP.listen()
        # In a thread of its own: Dagster takes over the main thread's signals and would break off anywhere.
        with ThreadPoolExecutor(1) as executor:
            executor.submit(_materialise, mill).result()
        finish(mill)
    _print_summary(mill)
    if alone := sorted({found.system for found in mill.missing if found.is_alone}):
        raise GristmillError(
            f"no file of {', '.join(alone)} is there: published is what was read before "
            f"(`{alone[0]} = []` in gristmill.toml takes a system out)"
        )


def _is_nothing_new(config: Config, as_of: str | None, wait: float) -> bool:
    """Whether nothing changed since the last run (G7): then this one ends here, with a word of it and an entry in the record."""
    picture = nothing_new.latest(config.home)
    if picture is None:
        return False
    began = datetime.now(UTC)
    asked = None if as_of is None else parse_as_of(as_of)
    with home_lock(config.home, wait):
        if asked == "now" or not nothing_new.is_true(picture, config, asked, began.date()):
            return False
        put_down_nothing_new(config.home, "command line", began, picture.as_of, picture.publication)
    home, at = config.home.absolute(), datetime.fromisoformat(picture.as_of)
    say(f"as of {at:%Y-%m-%d %H:%M} UTC, publication {picture.publication} in {home}: nothing has changed since")
    if picture.release:
        say(f"  release    {home / 'exports' / picture.release}")
    say(f"  warehouse  {home / 'warehouse.duckdb'}")
    return True


def _materialise(mill: "MillRun") -> None:
    from dagster_project import definitions  # noqa: F401  where all steps are declared
    from dagster_project.orchestration.history import end_killed_runs, history
    from dagster_project.orchestration.parts_of_runs import run_whole

    with history(mill.config.home) as instance:
        end_killed_runs(instance, mill.config.home, is_mine=True)
        run_whole(mill, instance, run_id=mill.run_id)


def _print_summary(mill: "MillRun") -> None:
    from dagster_project.lookups.questions import quarantine
    from dagster_project.run.missing_files import told

    lake, accounts = mill.lake, mill.accounts
    published = "only its release" if mill.is_in_the_past else f"publication {lake.published.publication}"
    say(f"as of {mill.as_of:%Y-%m-%d %H:%M} UTC ({mill.as_of_choice}), {published} in {lake.home}")
    for line in mill.damage.told(lake):
        say(f"  {line}")
    days_read = {day for account in accounts.values() for day in account.days_read}
    changed_days = sorted({day for account in accounts.values() for day in account.changed_days})
    changed = ", ".join(map(str, changed_days[:5])) + (" ..." if len(changed_days) > 5 else "")
    say(f"  days read {len(days_read):>8,}, changed {len(changed_days):,} {changed}".rstrip())
    for line in told(mill.missing, lake.published):
        say(f"  {line}")
    reasons = Counter(reason for row in quarantine(mill.config)["reasons"].to_list() for reason in row)
    for reason, count in reasons.most_common(MOST_REASONS):
        say(f"  refused  {count:>9,}  {reason}")
    if len(reasons) > MOST_REASONS:
        say(f"  refused  and {len(reasons) - MOST_REASONS} more reasons: `gristmill quarantine`")
    if waiting := sum(account.waiting for account in accounts.values()):
        say(f"  waiting  {waiting:>9,}  rows dated at or after as_of")
    drift = drift_lines(mill.record.drift, MOST_DRIFT)
    for line in drift:
        say(f"  drift      {line}")
    if len(drift) < len(mill.record.drift):
        say(f"  drift      and {len(mill.record.drift) - len(drift)} more: `gristmill status`")
    for check in mill.record.checks:
        say(f"  warning    {check.line()}")
    for line in _release_lines(mill):
        say(line)
    say(f"  warehouse  {lake.home / 'warehouse.duckdb'}")
    if not mill.is_in_the_past and (waiting := lake.rows("core__review_queue")):
        say(f"  review   {waiting:>9,}  wait for a person: `gristmill review`, or edit and import")
        say(f"             {lake.home / 'pending_review' / f'batch_{mill.release_date:%Y%m%d}.json'}")
    for system in sorted({table.split("__")[0] for table, account in accounts.items() if account.read}):
        say(f"  {system.removeprefix('raw_'):<13} " + _sum(a for t, a in accounts.items() if t.startswith(system)))
    say(_sum(accounts.values()))


def _release_lines(mill: "MillRun") -> "Iterator[str]":
    from dagster_project.contracts.formats import FORMATS
    from dagster_project.lake.releases import newest_of

    lake, exports = mill.lake, mill.lake.home / "exports"
    if not mill.makes_release:
        standing = lake.published.release.get("name")
        newest = f"the newest is {exports / standing}" if standing else "there is none yet"
        yield f"  release    none was made (release_every = {mill.config.release_every}), {newest}: `gristmill release`"
        return
    for form in FORMATS:
        files = lake.partitions(f"train__{form}")
        rows = sum(file.rows for name, file in files.items() if name.startswith(f"release_date={mill.release_date}/"))
        yield f"  examples {rows:>9,}  {form}"
    yield f"  release    {exports / str(newest_of(lake.home, mill.release_date))}"


def _sum(accounts: "Iterable[Account]") -> str:
    """Where every row went (G3)."""
    found = list(accounts)
    names = ("read", "kept", "quarantined", "copies", "not_sampled")
    *numbers, not_sampled = (sum(getattr(a, name) for a in found) for name in names)
    told = "read {:,} = kept {:,} + quarantined {:,} + copies {:,}".format(*numbers)
    return (told + (f" + not sampled {not_sampled:,}" if not_sampled else "")).replace(",", " ")
