"""The `gristmill` command. Each verb is a few lines: parse, call, print. Heavy imports wait until a verb needs them."""

import gc
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Annotated

import click
import typer

from dagster_project import config as configuration
from dagster_project.cli.diff_command import diff
from dagster_project.cli.evaluate_command import evaluate_app
from dagster_project.cli.export_command import export
from dagster_project.cli.given import GIVEN, settings
from dagster_project.cli.label_command import label_app
from dagster_project.cli.release_command import release
from dagster_project.cli.report_command import report_app
from dagster_project.cli.review_command import review_app
from dagster_project.cli.run_command import run
from dagster_project.cli.sample_command import sample
from dagster_project.cli.status_command import show_runs, status
from dagster_project.cli.strategies_command import strategies
from dagster_project.cli.terminal import hand_over, hand_over_json, say
from dagster_project.cli.warehouse_command import warehouse
from dagster_project.errors import GristmillError, one_line
from dagster_project.lake.lock import keep_private

app = typer.Typer(
    help="Turns what users say about an AI assistant into training sets and honest metrics.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(review_app, name="review")
app.add_typer(label_app, name="label")
app.add_typer(report_app, name="report")
app.add_typer(evaluate_app, name="evaluate")

INTERRUPTED_EXIT = 130


@app.callback()
def options(
    config: Annotated[
        Path | None, typer.Option(help="Configuration file; default ./gristmill.toml if there is one.")
    ] = None,
    home: Annotated[Path | None, typer.Option(help="Where everything is written; default `data`.")] = None,
    debug: Annotated[bool, typer.Option(help="Show a traceback when something fails.")] = False,
) -> None:
    GIVEN.config, GIVEN.home, GIVEN.debug = config, home, debug


@app.command()
def demo(
    rows: Annotated[
        int,
        typer.Option(min=0, help="How many feedback rows; the other systems get a share of that."),
    ] = 8000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same rows.")] = 1,
    force: Annotated[bool, typer.Option("--force", help="Also over a demo that was changed since.")] = False,
    if_no_sources: Annotated[
        bool,
        typer.Option("--if-no-sources", help="Only if there is no source at all, configured or in the usual place."),
    ] = False,
) -> None:
    """Write demo source databases of all systems under <home>/sources; never over a file it did not write itself."""
    from dagster_project.demo.all_systems import is_wanted, write_demo

    chosen = settings()
    if not if_no_sources or is_wanted(chosen):
        write_demo(chosen, rows, seed, force, typer.echo)


app.command()(run)
app.command()(release)
app.command()(diff)
app.command()(export)
app.command()(sample)
app.command()(strategies)
app.command()(warehouse)


app.command()(status)
app.command("runs")(show_runs)


@app.command("config")
def show_config(as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False) -> None:
    """The settings in force, and where each comes from. Passwords are not shown."""
    from dagster_project.cli.config_command import config_lines, screen_columns, settings_in_force

    found = settings_in_force(configuration.everything_said(GIVEN.config, GIVEN.home))
    if as_json:
        hand_over_json(found)
    else:
        say("\n".join(config_lines(found, screen_columns())))


@app.command()
def stats(
    system: Annotated[str, typer.Option(help=", ".join(configuration.SYSTEMS))] = configuration.SYSTEMS[0],
    as_json: Annotated[bool, typer.Option("--json", help="Of feedback exactly seed 0's `stats` object.")] = False,
) -> None:
    """The figures of a system as its document names them; of feedback those of GET /api/feedback/stats."""
    from dagster_project.lookups.figures_text import figure_lines
    from dagster_project.lookups.questions import stats as look

    if system not in configuration.SYSTEMS:
        raise GristmillError(f"--system must be one of {', '.join(configuration.SYSTEMS)}, not {system!r}")
    found = look(settings(), system)
    if as_json:
        hand_over_json(found)
        return
    for line in figure_lines(found):
        say(line)


@app.command()
def query(
    sql: str,
    form: Annotated[str, typer.Option("--format", help="table, csv or json")] = "table",
    timeout: Annotated[float, typer.Option(min=0, help="Seconds the warehouse may take.")] = 300.0,
) -> None:
    """Ask the warehouse one SELECT. Cannot write, nor read files outside the home."""
    from dagster_project.lookups.warehouse_query import answer, as_text

    if form not in ("table", "csv", "json"):
        raise GristmillError(f"--format must be table, csv or json, not {form!r}")
    with answer(settings(), sql, timeout) as found:
        for piece in as_text(found, form):
            if form == "table":
                say(piece.removesuffix("\n"))
            else:
                hand_over(piece)


@app.command()
def quarantine(
    reason: Annotated[str | None, typer.Option(help="Only this reason (`missing:rating`) or kind (`missing`).")] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many rows to show.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="All rows, one JSON object a line.")] = False,
) -> None:
    """What was refused, and why."""
    from dagster_project.lookups.questions import quarantine as look

    rows = look(settings(), reason)
    if as_json:
        for row in rows.iter_rows(named=True):
            hand_over_json(row, indent=None)
        return
    for name, count in Counter(r for row in rows["reasons"].to_list() for r in row).most_common():
        say(f"{count:>9,}  {name}")
    for row in rows.head(limit).iter_rows(named=True):
        where = f"{row['source_file']} {row['table']} row {row['source_rowid']}"
        say(f"{where}  key {row['key']}  day {row['event_date']}  {', '.join(row['reasons'])}\n    {row['row'][:160]}")
    say(f"{rows.height:,} refused rows" + (f", the first {limit} shown" if rows.height > limit else ""))


@app.command()
def why(
    wanted: Annotated[str, typer.Argument(metavar="ID")], as_json: Annotated[bool, typer.Option("--json")] = False
) -> None:
    """Everything that touched a feedback row or a training example."""
    from dagster_project.lookups.questions import why as look
    from dagster_project.lookups.why_text import tell

    found = look(settings(), wanted)
    if as_json:
        hand_over_json(found)
    else:
        say(tell(found))


@app.command()
def writeback(
    named: Annotated[str | None, typer.Option("--release", help="Which release; default the newest.")] = None,
) -> None:
    """Mark in the sources what a release contains: feedback rows that left, distilled examples as we judge them."""
    from dagster_project.registry import open_run
    from dagster_project.writeback.marking import write_back

    with open_run(settings()) as mill:
        done = write_back(mill, named)
    for line in done.missing:
        say(f"left alone, {line}")
    for key in done.total.changed_since:
        say(f"left alone, changed since it was read: {key}")
    for outcome in [*(done.systems if len(done.systems) > 1 else ()), done.total]:
        about = f"release {done.release}" if outcome.system == "all" else f"  {outcome.system}"
        left_alone = len(outcome.changed_since)
        typer.echo(
            f"{about}: wrote {outcome.written:,} rows, {outcome.already:,} already written, {left_alone:,} left alone"
        )


@app.command()
def dev(port: Annotated[int, typer.Option(help="On 127.0.0.1.")] = 3000) -> None:
    """Dagster's own web UI on this project. It has no authentication: it listens on 127.0.0.1 only."""
    from dagster_project.orchestration.days import report_published_days
    from dagster_project.orchestration.history import end_killed_runs, history, history_folder

    chosen = settings()
    with history(chosen.home) as instance:
        end_killed_runs(instance, chosen.home, is_mine=False)
        report_published_days(instance, chosen.home)
    environment = os.environ | {
        "DAGSTER_HOME": str(history_folder(chosen.home).absolute()),
        "GRISTMILL_HOME": str(chosen.home.absolute()),
    }
    if GIVEN.config:
        environment["GRISTMILL_CONFIG"] = str(GIVEN.config.absolute())
    command = [sys.executable, "-m", "dagster", "dev", "-m", "dagster_project.definitions"]
    os.execve(command[0], [*command, "-h", "127.0.0.1", "-p", str(port)], environment)


def main() -> None:
    """One line for what a user can put right; a traceback only with --debug."""
    keep_private()
    os.environ.setdefault("DAGSTER_DISABLE_TELEMETRY", "yes")
    # Imports make objects by the thousand that stay; looking for garbage among them is in vain.
    gc.set_threshold(100_000)
    # A run works through groups of days; on that size threads cost a fifth more CPU and save little time.
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    try:
        sys.exit(app(standalone_mode=False))
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(2)
    except (Exception, KeyboardInterrupt) as error:
        if GIVEN.debug:
            raise
        message, code = _explained(error)
        say(f"gristmill: {message}", err=True)
        sys.exit(code)


def _explained(error: BaseException) -> tuple[str, int]:
    if isinstance(error, click.ClickException):
        return f"{error.format_message()} (--help tells more)", error.exit_code
    if isinstance(error, KeyboardInterrupt):
        return one_line(error), INTERRUPTED_EXIT
    if isinstance(error, GristmillError):
        return one_line(error), error.exit_code
    return f"{one_line(error)} (--debug shows where)", 1
