"""`gristmill label`: pairs worth judging, in a window and as files. What it does is in `review/labels` and its neighbours."""

import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dagster_project.cli.given import settings
from dagster_project.cli.terminal import hand_over, hand_over_json, json_text, say
from dagster_project.errors import GristmillError

if TYPE_CHECKING:
    from dagster_project.lake.lake import Lake
    from dagster_project.review.desk import Desk

label_app = typer.Typer(
    help="Label pairs of a response and the next message: without a verb in a window, with one for scripts.",
    invoke_without_command=True,
)
Reviewer = Annotated[
    str | None, typer.Option(help="Who judges; default GRISTMILL_REVIEWER, else your login name.", show_default=False)
]
Pairs = Annotated[int, typer.Option(min=1, max=5000, help="How many pairs you are to have judged in all.")]
AsJson = Annotated[bool, typer.Option("--json", help="For programs.")]
ELSEWHERE = "label needs a terminal; elsewhere use `gristmill label export --waiting FILE` and `import FILE`"


def _desk(
    context: typer.Context, reviewer: str | None, pairs: int, wanted: list[str] | None = None
) -> "tuple[Lake, Desk]":
    """The pairs for whoever asks. Says which lines of the log cannot be read."""
    from dagster_project.registry import published_lake
    from dagster_project.review.decision_lines import LABELS
    from dagster_project.review.desk import Desk, reviewer_name
    from dagster_project.review.labels import label_items

    config = settings()
    name = reviewer_name(reviewer or (context.parent.params.get("reviewer") if context.parent else None))
    lake = published_lake(config.home)
    desk = Desk(config.home, label_items(lake, name, pairs, wanted or []), name, config.second_review_share, LABELS)
    for problem in desk.decisions.problems():
        say(f"warning: {problem}", err=True)
    return lake, desk


def _counts(lake: "Lake", desk: "Desk") -> dict[str, Any]:
    from dagster_project.review.labels import held_labels, label_counts

    return label_counts(lake, held_labels(lake, desk.decisions))


def _told(found: dict[str, Any]) -> str:
    """How many explicit labels there are, and what is missing for the head (C7)."""
    from dagster_project.review.labels import what_is_missing

    missing = what_is_missing(found)
    return (
        f"{found['labels']:,} explicit labels: {found['rated']:,} turns rated, {found['reacted_to']:,} reacted to, "
        f"{found['judged']:,} judged here; {found['rejected']:,} rejected, {found['not_rejected']:,} not\n"
        + (f"missing: {missing}" if missing else "enough to learn from: runs do, of verdicts given before their as_of")
    )


@label_app.callback()
def label(context: typer.Context, reviewer: Reviewer = None, pairs: Pairs = 200) -> None:
    """Label pairs of a response and the next message, chosen for what they teach: r, a and n in a window."""
    if context.invoked_subcommand is None:
        _open_window(context, reviewer, pairs)


def _open_window(context: typer.Context, reviewer: str | None, pairs: int) -> None:
    from dagster_project.review.claims import Claims
    from dagster_project.review.label_screen import LABELLING, Progress
    from dagster_project.review.sitting import Sitting
    from dagster_project.review.terminal import check_terminal, review_in_terminal

    lake, desk = _desk(context, reviewer, pairs)
    say(_told(_counts(lake, desk)))
    check_terminal(elsewhere=ELSEWHERE)
    with Claims(desk.home) as claims:
        sitting = Sitting(desk.items, desk.decisions, desk.reviewer, desk.share, claims)
        if not sitting.left:
            say(f"no pair waits for {desk.reviewer}")
            return
        first = " ".join([*desk.decisions.problems()[:1], _told(_counts(lake, desk)).replace("\n", "; ")])
        code = review_in_terminal(sitting, first, LABELLING, Progress(desk.judged()))
    done = ", ".join(f"{count} {what}" for what, count in sorted(sitting.counts.items())) or "nothing judged"
    with suppress(OSError):  # the terminal may be gone
        say(f"{done}; {sitting.left:,} pairs left for {desk.reviewer}\n{_told(_counts(lake, desk))}")
    raise typer.Exit(code)


@label_app.command("list")
def list_pairs(
    context: typer.Context,
    limit: Annotated[int, typer.Option(min=1, help="How many to show.")] = 20,
    as_json: AsJson = False,
    reviewer: Reviewer = None,
    pairs: Pairs = 200,
) -> None:
    """How many labels there are and what is missing, and the pairs that wait for you."""
    from dagster_project.review.label_files import waiting_rows
    from dagster_project.review.labels import listed

    lake, desk = _desk(context, reviewer, pairs)
    items, found = desk.waiting(), _counts(lake, desk)
    if as_json:
        hand_over_json(found | {"waiting": waiting_rows(lake, items)})
        return
    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else 200
    lines = [_told(found), *(listed(item, columns) for item in items[:limit])]
    rest = f", the first {limit} shown" if len(items) > limit else ""
    say("\n".join([*lines, f"{len(items):,} pairs wait for {desk.reviewer}{rest}"]))


@label_app.command("export")
def export_file(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A JSONL file, or - for standard output.")],
    waiting: Annotated[
        bool, typer.Option("--waiting", help="The pairs that wait for you instead, to be judged elsewhere.")
    ] = False,
    reviewer: Reviewer = None,
    pairs: Pairs = 200,
) -> None:
    """The labels that hold, as `gristmill evaluate implicit` reads them; texts are masked."""
    from dagster_project.lake.placing import write_atomically
    from dagster_project.review.label_files import labelled_rows, waiting_rows

    lake, desk = _desk(context, reviewer, pairs)
    rows = waiting_rows(lake, desk.waiting()) if waiting else labelled_rows(lake, desk.decisions)
    text = "".join(json_text(row, indent=None) + "\n" for row in rows)
    if str(file) == "-":
        hand_over(text)
        return
    if file.is_dir():
        raise GristmillError(f"{file} is a folder")
    try:
        write_atomically(file, text)
    except OSError as error:
        raise GristmillError(f"cannot write {file}: {error.strerror or error}") from error
    say(f"{len(rows):,} {'pairs to be judged' if waiting else 'labels'} in {file}")


@label_app.command("import")
def import_file(context: typer.Context, file: Path, reviewer: Reviewer = None) -> None:
    """Take over labels given elsewhere, by `key`, all or none; a line's `reviewer` is who gave it, else you."""
    from dagster_project.review.label_files import import_labels, read_labels

    keys = [row["key"] for _, row in read_labels(file)]
    _, desk = _desk(context, reviewer, 1, keys)
    done = import_labels(file, desk.by_id, desk.decisions, desk.reviewer)
    say(f"recorded {done.recorded:,}, {done.already:,} were recorded before, {done.unlabelled:,} have no label")
    if done.on_other_texts:
        say(f"{done.on_other_texts:,} of them are about texts that have changed since: those do not count")


@label_app.command()
def undo(
    context: typer.Context,
    key: Annotated[str | None, typer.Argument(metavar="[KEY]", help="Default: your latest verdict.")] = None,
    reviewer: Reviewer = None,
) -> None:
    """Take back your verdict on a turn."""
    _, desk = _desk(context, reviewer, 1)
    say(f"taken back: {desk.reviewer}'s verdict on {desk.undo(key)}")
