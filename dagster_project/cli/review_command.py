"""`gristmill review`: the window, and the same for scripts. Each verb is a few lines; what it does is in `desk`."""

import json
import shutil
import sys
from collections.abc import Callable, Collection
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dagster_project import config as configuration
from dagster_project.cli.given import settings
from dagster_project.cli.terminal import hand_over_json

if TYPE_CHECKING:
    from dagster_project.review.decisions import Decisions
    from dagster_project.review.desk import Desk
    from dagster_project.review.items import ReviewItem

review_app = typer.Typer(
    help="Judge what waits for a person: without a verb in a window, with one for scripts.", invoke_without_command=True
)
Reviewer = Annotated[
    str | None, typer.Option(help="Who decides; default GRISTMILL_REVIEWER, else your login name.", show_default=False)
]
AsJson = Annotated[bool, typer.Option("--json", help="For programs.")]
Note = Annotated[str, typer.Option(help="A remark that is kept with the verdict.")]
Queue = Annotated[
    str | None,
    typer.Option(
        help="safety (harmful flags) or corrections (answers rated down); default: what is to be judged.",
        show_default=False,
    ),
]
Ids = Annotated[list[str], typer.Argument(metavar="ID...")]


def _queue_of_the_newest_run(config: configuration.Config, wanted: Collection[str]) -> "list[ReviewItem]":
    return import_module("dagster_project.review.queue").load_queue(config, wanted)


load_queue: "Callable[[configuration.Config, Collection[str]], list[ReviewItem]]" = _queue_of_the_newest_run


def open_desk(context: typer.Context, reviewer: str | None, wanted: Collection[str] = ()) -> "Desk":
    """The queue of the home the root command names, and the person asking. Says which lines of the log cannot be read.

    Of a long queue only the top is there, and the items that are `wanted`.
    """
    from dagster_project.review.desk import Desk, reviewer_name

    config = settings()
    of_group = context.parent.params.get("reviewer") if context.parent else None
    items = load_queue(config, wanted)
    desk = Desk(config.home, items, reviewer_name(reviewer or of_group), config.second_review_share)
    _warn(desk.decisions)
    return desk


def _warn(decisions: "Decisions") -> None:
    for problem in decisions.problems():
        typer.echo(f"warning: {problem}", err=True)


@review_app.callback()
def review(context: typer.Context, reviewer: Reviewer = None) -> None:
    """Judge what waits for a person, most valuable first: without a verb in a window, with one for scripts."""
    if context.invoked_subcommand is None:
        _open_window(context, reviewer)


def _open_window(context: typer.Context, reviewer: str | None) -> None:
    from dagster_project.review.claims import Claims
    from dagster_project.review.sitting import Sitting
    from dagster_project.review.terminal import check_terminal, review_in_terminal

    check_terminal()
    desk = open_desk(context, reviewer)
    with Claims(desk.home) as claims:
        sitting = Sitting(desk.items, desk.decisions, desk.reviewer, desk.share, claims)
        if not sitting.left:
            typer.echo(f"nothing waits for {desk.reviewer}")
            return
        code = review_in_terminal(sitting, " ".join(desk.decisions.problems()[:1]))
    done = ", ".join(f"{count} {what}" for what, count in sorted(sitting.counts.items())) or "nothing decided"
    with suppress(OSError):  # the terminal may be gone
        typer.echo(f"{done}; {sitting.left:,} left for {desk.reviewer}")
        sys.stdout.flush()
    raise typer.Exit(code)


@review_app.command("list")
def list_items(
    context: typer.Context,
    everything: Annotated[bool, typer.Option("--all", help="Also what is decided.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="How many to show.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="All of them, one JSON object a line.")] = False,
    reviewer: Reviewer = None,
    queue: Queue = None,
) -> None:
    """What waits for you, most valuable first."""
    from dagster_project.review.desk import listed

    if queue is not None:
        _list_queue(queue, everything, limit, as_json)
        return
    desk = open_desk(context, reviewer)
    status = desk.status()
    items = desk.items if everything else desk.waiting()
    if as_json:
        for item in items:
            typer.echo(_json_of(item, status[item.id]))
        return
    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else 200
    for item in items[:limit]:
        typer.echo(listed(item, status[item.id], columns))
    what = "in the queue" if everything else f"waiting for {desk.reviewer}"
    typer.echo(f"{len(items):,} {what}" + (f", the first {limit} shown" if len(items) > limit else ""))


def _list_queue(queue: str, everything: bool, limit: int, as_json: bool) -> None:
    from dagster_project.registry import published_lake
    from dagster_project.review import settling

    lake = published_lake(settings().home)
    name = settling.check_queue(queue)
    rows = settling.waiting(lake, name) + (settling.settled(lake, name) if everything else [])
    if as_json:
        for row in rows:
            hand_over_json(row, indent=None)
        return
    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else 200
    for row in rows[:limit]:
        typer.echo(settling.listed(row, columns))
    count = sum(row["status"] == "open" for row in rows)
    done = f", {len(rows) - count:,} settled" if everything else ""
    typer.echo(f"{count:,} open{done}" + (f", the first {limit} shown" if len(rows) > limit else ""))


@review_app.command("next")
def next_item(context: typer.Context, as_json: AsJson = False, reviewer: Reviewer = None, queue: Queue = None) -> None:
    """Show the most valuable item that waits for you."""
    from dagster_project.review.desk import told

    if queue is not None:
        _next_of_queue(queue, as_json)
        return
    desk = open_desk(context, reviewer)
    item = next(iter(desk.waiting()), None)
    if as_json:
        typer.echo("null" if item is None else _json_of(item, desk.status()[item.id]))
    else:
        typer.echo(f"nothing waits for {desk.reviewer}" if item is None else told(item))


def _next_of_queue(queue: str, as_json: bool) -> None:
    from dagster_project.registry import published_lake
    from dagster_project.review import settling

    lake = published_lake(settings().home)
    row = next(iter(settling.waiting(lake, settling.check_queue(queue))), None)
    if as_json:
        hand_over_json(row)
    else:
        typer.echo("nothing is open" if row is None else settling.told(row))


def _json_of(item: "ReviewItem", status: str) -> str:
    values: dict[str, Any] = {**vars(item), "content_hash": item.content_hash, "status": status}
    return json.dumps(values)  # ASCII: nothing in it for a terminal to obey


@review_app.command()
def approve(context: typer.Context, ids: Ids, note: Note = "", reviewer: Reviewer = None) -> None:
    """Approve examples by their ids."""
    _decide(context, ids, "approved", note, reviewer)


@review_app.command()
def reject(context: typer.Context, ids: Ids, note: Note = "", reviewer: Reviewer = None) -> None:
    """Reject examples by their ids: they never leave for training."""
    _decide(context, ids, "rejected", note, reviewer)


def _decide(context: typer.Context, ids: list[str], verdict: str, note: str, reviewer: str | None) -> None:
    desk = open_desk(context, reviewer, ids)
    for example_id in desk.decide(ids, verdict, note):
        typer.echo(f"{verdict} {_shown(example_id)} as {desk.reviewer}")


@review_app.command()
def undo(
    context: typer.Context,
    example_id: Annotated[str | None, typer.Argument(metavar="[ID]", help="Default: your latest verdict.")] = None,
    reviewer: Reviewer = None,
) -> None:
    """Take back your verdict on an example: to you it is undecided again."""
    desk = open_desk(context, reviewer)
    typer.echo(f"taken back: {desk.reviewer}'s verdict on {_shown(desk.undo(example_id))}")


@review_app.command()
def settle(
    context: typer.Context,
    ids: Ids,
    note: Annotated[str, typer.Option(help="What became of it.")],
    reviewer: Reviewer = None,
) -> None:
    """Settle harmful flags or correction requests by their ids: they leave their queue, the note stays."""
    _settle(context, "settle", ids, note, reviewer)


@review_app.command()
def reopen(context: typer.Context, ids: Ids, note: Note = "", reviewer: Reviewer = None) -> None:
    """Take back that something is settled: the next run has it in its queue again."""
    _settle(context, "reopen", ids, note, reviewer)


def _settle(context: typer.Context, verb: str, ids: list[str], note: str, reviewer: str | None) -> None:
    from dagster_project.registry import published_lake
    from dagster_project.review import settling
    from dagster_project.review.desk import reviewer_name

    lake = published_lake(settings().home)
    name = reviewer_name(reviewer or (context.parent.params.get("reviewer") if context.parent else None))
    act, done = {"settle": (settling.settle, "settled"), "reopen": (settling.reopen, "reopened")}[verb]
    for feedback_id in act(lake, ids, note, name):
        typer.echo(f"{done} {_shown(feedback_id)} as {name}")


@review_app.command("import")
def import_file(context: typer.Context, file: Path, reviewer: Reviewer = None) -> None:
    """Take over verdicts and notes filled in in a batch file (pending_review/batch_YYYYMMDD.json), all or nothing."""
    from dagster_project.review.batch import import_batch, read_batch

    desk = open_desk(context, reviewer, [filled.id for filled in read_batch(file)])
    done = import_batch(file, desk.by_id, desk.decisions, desk.reviewer, desk.seen_verdicts())
    typer.echo(f"recorded {done.recorded:,} as {desk.reviewer}, {done.already:,} were recorded before")
    if done.on_other_texts:
        typer.echo(
            f"{done.on_other_texts:,} of them are about texts that have changed since: approvals of those do not count"
        )


@review_app.command()
def agreement(as_json: AsJson = False) -> None:
    """How far two people agree where both judged the same example blind: Cohen's kappa, n and a 95 % interval."""
    from dagster_project.review import agreement as measure
    from dagster_project.review.decisions import Decisions

    decisions = Decisions(settings().home)
    _warn(decisions)
    pairs = measure.judged_twice(decisions.log())
    if as_json:
        typer.echo(json.dumps(measure.as_json(pairs), indent=2))
        return
    typer.echo(measure.agreement(pairs).text)
    of_pairs = measure.by_pair(pairs)
    for one, other, found in of_pairs if len(of_pairs) > 1 else []:
        typer.echo(f"  {_shown(one)} and {_shown(other)}: {found.text}")


def _shown(text: str) -> str:
    from dagster_project.columns.printable import one_line

    return one_line(text)
