"""`gristmill status` and `gristmill runs`: how a home is doing, and what its runs came to."""

from datetime import date
from typing import Annotated, Any

import typer

from dagster_project.cli.given import settings
from dagster_project.cli.terminal import hand_over_json, say


def status(
    with_tables: Annotated[bool, typer.Option("--tables", help="Also every table the lake holds.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="All of it, for programs.")] = False,
) -> None:
    """A glance: one verdict, a line for each source, the last run. Exit code 0: all is well, 1: something is wrong, 2: nothing
    is published yet."""
    from dagster_project.lookups.status import status as look
    from dagster_project.lookups.status_text import status_lines

    found = look(settings())
    if as_json:
        hand_over_json(found)
    else:
        say("\n".join(status_lines(found, with_tables)))
    if found["exit_code"]:
        raise typer.Exit(found["exit_code"])


def show_runs(
    number: Annotated[int, typer.Option("-n", "--number", min=1, help="How many, the newest first.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="All that is known of each, for programs.")] = False,
) -> None:
    """What runs came to, whoever started them, the newest first."""
    from dagster_project.lookups.status_text import run_lines
    from dagster_project.run.run_log import runs
    from dagster_project.run.work_tables import runs_table

    found = runs(settings().home)[::-1][:number]
    if as_json:
        rows = runs_table(found)[::-1].rows(named=True)
        hand_over_json([{name: _plain(value) for name, value in row.items()} for row in rows])
    elif found:
        say("\n".join(run_lines(found)))
    else:
        say("no run yet")


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value  # an instant, too
