"""The `gristmill` command. Each verb is a few lines: parse, call, print. Heavy imports wait until a verb needs them."""

import gc
import json
import os
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click
import typer

from dagster_project import config as configuration
from dagster_project.errors import GristmillError, Stopped
from dagster_project.evaluate_command import evaluate_app
from dagster_project.report_command import report_app
from dagster_project.review.commands import review_app

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dagster_project.mill_run import MillRun
    from dagster_project.raw_tables import Account

app = typer.Typer(
    help="Turns what users say about an AI assistant into training sets and honest metrics.",
    no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False,
)  # fmt: skip
app.add_typer(review_app, name="review")
app.add_typer(report_app, name="report")
app.add_typer(evaluate_app, name="evaluate")
given: dict[str, Any] = {"config": None, "home": None, "debug": False}

INTERRUPTED_EXIT = 130
MOST_REASONS = 5  # shown after a run


@app.callback()
def options(
    config: Annotated[
        Path | None, typer.Option(help="Configuration file; default ./gristmill.toml if there is one.")
    ] = None,
    home: Annotated[Path | None, typer.Option(help="Where everything is written; default `data`.")] = None,
    debug: Annotated[bool, typer.Option(help="Show a traceback when something fails.")] = False,
) -> None:
    given.update(config=config, home=home, debug=debug)


def settings() -> configuration.Config:
    return configuration.load(given["config"], given["home"])


@app.command()
def demo(
    rows: Annotated[
        int,
        typer.Option(min=0, help="How many feedback rows; the other systems get a share of that."),
    ] = 6000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same rows.")] = 1,
) -> None:
    """Write demo source databases, dirty rows included, under <home>/sources."""
    from dagster_project.demo.distillation import write_distillation
    from dagster_project.demo.feedback import write_feedback_files
    from dagster_project.demo.reaction_sources import write_reactions
    from dagster_project.demo.session_sources import write_sessions
    from dagster_project.demo.turn_sources import write_turns
    from dagster_project.lock import make_home

    home = settings().home
    make_home(home)
    folder = home / "sources"
    folder.mkdir(exist_ok=True)
    counts = {"feedback": rows, "distillation": rows // 5, "conversations": rows // 3, "reactions": rows // 4}
    counts["sessions"] = rows // 4
    feedback = folder / "feedback.db"
    planted = {
        "feedback": write_feedback_files(folder, rows, seed),
        "distillation": write_distillation(folder / "distillation.db", counts["distillation"], seed, feedback=feedback),
        "conversations": write_turns(folder, counts["conversations"], seed, feedback=feedback),
        "reactions": write_reactions(folder, counts["reactions"], seed, turns=folder / "conversations.db"),
        "sessions": write_sessions(folder, counts["sessions"], seed),
    }
    typer.echo(f"wrote {', '.join(f'{count:,} {system}' for system, count in counts.items())} to {folder}")
    for system, hazards in planted.items():
        told = (f"{count} {hazard.replace('_', ' ')}" for hazard, count in sorted(hazards.items()))
        typer.echo(f"planted in {system}: {', '.join(told)}")


@app.command()
def run(
    from_: Annotated[str | None, typer.Option("--from", help="First day to read again (UTC).")] = None,
    to: Annotated[str | None, typer.Option("--to", help="Last day to read again (UTC), included.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Read every day again.")] = False,
    as_of: Annotated[
        str | None, typer.Option(help="Everything before this instant counts; default: the end of the newest day.")
    ] = None,
    wait: Annotated[float, typer.Option(min=0, help="Seconds to wait for another run on this home.")] = 0,
) -> None:
    """Materialise everything for the days that changed, or for those given, and publish it."""
    from dagster_project.mill_run import STOP, Choice, MillRun, parse_as_of, parse_day
    from dagster_project.progress import progress

    days = None
    if from_ or to:
        days = (parse_day(from_ or "2000-01-01"), parse_day(to or "2099-12-31"))
        if days[0] > days[1]:
            raise GristmillError(f"--from {days[0]} is after --to {days[1]}")
        if full:
            raise GristmillError("--full reads every day: leave out --from and --to")
    choice = Choice(parse_as_of(as_of) if as_of else None, full, days, wait)
    chosen = settings()
    started = datetime.now(UTC)
    with MillRun(chosen, choice) as mill, progress() as report:
        mill.report = report
        STOP.listen()
        entry: dict[str, Any] = {"started": started, "pid": os.getpid(), "outcome": "failed"}
        try:
            # In a thread of its own: Dagster takes over the main thread's signals and would break off anywhere.
            with ThreadPoolExecutor(1) as executor:
                executor.submit(_materialise, mill).result()
            entry |= {"outcome": "published", "as_of": mill.as_of, "publication": mill.lake.published.publication}
            entry |= {"changed_days": {table: found.changed_days for table, found in mill.accounts.items()}}
        finally:
            from dagster_project.lookups import write_run_log

            spent = {"cpu_seconds": time.process_time(), "release_cpu_seconds": mill.release_cpu_seconds}
            write_run_log(chosen.home, entry | {"finished": datetime.now(UTC)} | spent)
    _print_summary(mill)


def _materialise(mill: "MillRun") -> None:
    from dagster_project.definitions import defs
    from dagster_project.publish import run_in_process

    history = mill.config.home.absolute() / "runs" / "dagster"
    configured = os.environ.get("DAGSTER_HOME")
    run_in_process(
        list(defs.assets or []), mill, Path(configured) if configured else history if history.exists() else None
    )


def _print_summary(mill: "MillRun") -> None:
    from dagster_project.lookups import quarantine
    from dagster_project.training.release import FORMATS, latest_release

    lake, accounts = mill.lake, mill.accounts
    published = "only its release" if mill.is_in_the_past else f"publication {lake.published.publication}"
    typer.echo(f"as of {mill.as_of:%Y-%m-%d %H:%M} UTC, {published} in {lake.home}")
    days_read = {day for account in accounts.values() for day in account.days_read}
    changed_days = sorted({day for account in accounts.values() for day in account.changed_days})
    changed = ", ".join(map(str, changed_days[:5])) + (" ..." if len(changed_days) > 5 else "")
    typer.echo(f"  days read {len(days_read):>8,}, changed {len(changed_days):,} {changed}".rstrip())
    reasons = Counter(reason for row in quarantine(mill.config)["reasons"].to_list() for reason in row)
    for reason, count in reasons.most_common(MOST_REASONS):
        typer.echo(f"  refused  {count:>9,}  {reason}")
    if len(reasons) > MOST_REASONS:
        typer.echo(f"  refused  and {len(reasons) - MOST_REASONS} more reasons: `gristmill quarantine`")
    if waiting := sum(account.waiting for account in accounts.values()):
        typer.echo(f"  waiting  {waiting:>9,}  rows dated at or after as_of")
    partition = f"release_date={mill.release_date}"
    for form in FORMATS:
        files = lake.partitions(f"train__{form}")
        rows = sum(file.rows for name, file in files.items() if name.startswith(f"{partition}/"))
        typer.echo(f"  examples {rows:>9,}  {form}")
    typer.echo(f"  release    {latest_release(lake.home / 'exports', mill.release_date)}")
    typer.echo(f"  warehouse  {lake.home / 'warehouse.duckdb'}")
    if not mill.is_in_the_past and (waiting := lake.rows("core__review_queue")):
        typer.echo(f"  review   {waiting:>9,}  wait for a person: `gristmill review`, or edit and import")
        typer.echo(f"             {lake.home / 'pending_review' / f'batch_{mill.release_date:%Y%m%d}.json'}")
    for system in sorted({table.split("__")[0] for table, account in accounts.items() if account.read}):
        typer.echo(
            f"  {system.removeprefix('raw_'):<13} " + _sum(a for t, a in accounts.items() if t.startswith(system))
        )
    typer.echo(_sum(accounts.values()))


def _sum(accounts: "Iterable[Account]") -> str:
    """Where every row went (G3)."""
    found = list(accounts)
    names = ("read", "kept", "quarantined", "copies", "not_sampled")
    *numbers, not_sampled = (sum(getattr(a, name) for a in found) for name in names)
    told = "read {:,} = kept {:,} + quarantined {:,} + copies {:,}".format(*numbers)
    return (told + (f" + not sampled {not_sampled:,}" if not_sampled else "")).replace(",", " ")


@app.command()
def status(as_json: Annotated[bool, typer.Option("--json")] = False) -> None:
    """What the lake holds, and what waits at the source."""
    from dagster_project.lookups import status as look

    found = look(settings())
    if as_json:
        typer.echo(json.dumps(found, default=str, indent=2))
        return
    typer.echo(
        f"home {found['home']}, publication {found['publication']}, as of {found['as_of']}, release {found['release']}"
    )
    if found["last_run"]:
        typer.echo(f"last run {found['last_run']['outcome']}, finished {found['last_run']['finished']}")
    for table in found["tables"]:
        days = f"{table['days']} days {table['first_day']}..{table['last_day']}" if table["days"] else ""
        typer.echo(f"  {table['table']:<34} {table['rows']:>12,} rows {table['bytes'] / 2**20:>9.1f} MB  {days}")
    for source in found["sources"]:
        typer.echo(
            f"  {source['table']:<34} read {source['read']:,}, quarantined {source['quarantined']:,}, copies {source['copies']:,}"
        )
    waiting = found["waiting_days"]
    typer.echo(f"waiting at the source: {len(waiting)} days" + (f" ({waiting[0]}..{waiting[-1]})" if waiting else ""))


@app.command()
def stats(
    system: Annotated[str, typer.Option(help="feedback or distillation")] = "feedback",
    as_json: Annotated[bool, typer.Option("--json", help="Of feedback exactly seed 0's `stats` object.")] = False,
) -> None:
    """The figures of GET /api/feedback/stats, or those of the distilled examples."""
    from dagster_project.lookups import stats as look

    if system not in configuration.SYSTEMS:
        raise GristmillError(f"--system must be one of {', '.join(configuration.SYSTEMS)}, not {system!r}")
    found = look(settings(), system)
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    for name, value in found.items():
        shown = ", ".join(f"{key} {part}" for key, part in value.items()) if isinstance(value, dict) else value
        typer.echo(f"{name:<{max(16, *map(len, found))}} {shown}")


@app.command()
def query(
    sql: str,
    form: Annotated[str, typer.Option("--format", help="table, csv or json")] = "table",
) -> None:
    """Ask the warehouse one SELECT. Cannot write, nor read files outside the home."""
    from dagster_project.lookups import as_text
    from dagster_project.lookups import query as ask

    if form not in ("table", "csv", "json"):
        raise GristmillError(f"--format must be table, csv or json, not {form!r}")
    typer.echo(as_text(ask(settings(), sql), form), nl=False)


@app.command()
def quarantine(
    reason: Annotated[str | None, typer.Option(help="Only this reason (`missing:rating`) or kind (`missing`).")] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many rows to show.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="All rows, one JSON object a line.")] = False,
) -> None:
    """What was refused, and why."""
    from dagster_project.lookups import quarantine as look

    rows = look(settings(), reason)
    if as_json:
        for row in rows.iter_rows(named=True):
            typer.echo(json.dumps(row, default=str, ensure_ascii=False))
        return
    for name, count in Counter(r for row in rows["reasons"].to_list() for r in row).most_common():
        typer.echo(f"{count:>9,}  {name}")
    for row in rows.head(limit).iter_rows(named=True):
        where = f"{row['source_file']} {row['table']} row {row['source_rowid']}"
        typer.echo(
            f"{where}  key {row['key']}  day {row['event_date']}  {', '.join(row['reasons'])}\n    {row['row'][:160]}"
        )
    typer.echo(f"{rows.height:,} refused rows" + (f", the first {limit} shown" if rows.height > limit else ""))


@app.command()
def why(
    wanted: Annotated[str, typer.Argument(metavar="ID")], as_json: Annotated[bool, typer.Option("--json")] = False
) -> None:
    """Everything that touched a feedback row or a training example."""
    from dagster_project.lookups import why as look
    from dagster_project.stories import tell

    found = look(settings(), wanted)
    typer.echo(json.dumps(found, default=str, ensure_ascii=False, indent=2) if as_json else tell(found))


@app.command()
def writeback(release: Annotated[str | None, typer.Option(help="Which release; default the newest.")] = None) -> None:
    """Mark in the sources what a release contains: feedback rows that left, distilled examples as we judge them."""
    from dagster_project.mill_run import MillRun
    from dagster_project.writeback import write_back

    with MillRun(settings()) as mill:
        done = write_back(mill, release)
    for key in done.total.changed_since:
        typer.echo(f"left alone, changed since it was read: {key}")
    for outcome in [*(done.systems if len(done.systems) > 1 else ()), done.total]:
        about = f"release {done.release}" if outcome.system == "all" else f"  {outcome.system}"
        left_alone = len(outcome.changed_since)
        typer.echo(
            f"{about}: wrote {outcome.written:,} rows, {outcome.already:,} already written, {left_alone:,} left alone"
        )


@app.command()
def dev(port: Annotated[int, typer.Option(help="On 127.0.0.1.")] = 3000) -> None:
    """Dagster's own web UI on this project. It has no authentication: it listens on 127.0.0.1 only."""
    chosen = settings()
    history = chosen.home.absolute() / "runs" / "dagster"
    history.mkdir(parents=True, exist_ok=True)
    if not (history / "dagster.yaml").exists():
        (history / "dagster.yaml").write_text("telemetry:\n  enabled: false\n", encoding="utf-8")
    environment = os.environ | {"DAGSTER_HOME": str(history), "GRISTMILL_HOME": str(chosen.home.absolute())}
    if given["config"]:
        environment["GRISTMILL_CONFIG"] = str(given["config"].absolute())
    command = [str(Path(sys.executable).parent / "dagster"), "dev", "-m", "dagster_project.definitions"]
    os.execve(command[0], [*command, "-h", "127.0.0.1", "-p", str(port)], environment)


def main() -> None:
    """One line for what a user can put right; a traceback only with --debug."""
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
        if given["debug"]:
            raise
        message, code = _explained(error)
        typer.echo(f"gristmill: {message}", err=True)
        sys.exit(code)


def _explained(error: BaseException) -> tuple[str, int]:
    if isinstance(error, Stopped):
        return str(error), error.exit_code
    if isinstance(error, KeyboardInterrupt):
        return "interrupted; nothing was published", INTERRUPTED_EXIT
    if isinstance(error, GristmillError):
        return str(error), 1
    if isinstance(error, click.ClickException):
        return f"{error.format_message()} (--help tells more)", error.exit_code
    return f"{type(error).__name__}: {' '.join(str(error).split())} (--debug shows where)", 1
