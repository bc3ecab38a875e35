"""`gristmill run`: everything for the days that changed, through Dagster in this process, and what came of it."""

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
from dagster_project.run.run_log import put_down_nothing_new

if TYPE_CHECKING:
    from collections.abc import Callable

    from dagster_project.intake.stage import Choice
    from dagster_project.run.mill_run import MillRun


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
    is_dry: Annotated[
        bool, typer.Option("--dry-run", help="Only say which days would be read again, and why; nothing is published.")
    ] = False,
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
    if not (from_ or to or full or is_dry) and _is_nothing_new(chosen, as_of, wait):
        return
    from dagster_project.intake.stage import Choice

    days = None
    if from_ or to:
        days = (parse_day(from_ or "2000-01-01"), parse_day(to or "2099-12-31"))
        if days[0] > days[1]:
            raise GristmillError(f"--from {days[0]} is after --to {days[1]}")
        if full:
            raise GristmillError("--full reads every day: leave out --from and --to")
    choice = Choice(None if as_of is None else parse_as_of(as_of), full, days, wait)
    if is_dry:
        from dagster_project.contracts import pandera  # noqa: F401
        from dagster_project.lookups.dry_run import plan, plan_lines

        say("\n".join(plan_lines(plan(chosen, choice))))
    else:
        carry_out(chosen, choice)


def carry_out(chosen: Config, choice: "Choice", finish: "Callable[[MillRun], None]" = lambda mill: None) -> None:
    """A whole run, and what came of it in words. `finish` is called once it has published, while it still holds the home."""
    from dagster_project.cli.progress import progress
    from dagster_project.cli.run_summary import summary_lines
    from dagster_project.contracts import pandera  # noqa: F401  no row is read where nothing can check it
    from dagster_project.registry import open_run
    from dagster_project.run.stop import STOP

    with open_run(chosen, choice, started_by="command line") as mill, progress() as mill.watcher:
        STOP.listen()
        # In a thread of its own: Dagster takes over the main thread's signals and would break off anywhere.
        with ThreadPoolExecutor(1) as executor:
            executor.submit(_materialise, mill).result()
        finish(mill)
    say("\n".join(summary_lines(mill)))
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
        put_down_nothing_new(config.home, "command line", began, datetime.now(UTC), picture.as_of, picture.publication)
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
