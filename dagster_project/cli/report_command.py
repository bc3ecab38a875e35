"""`gristmill report`: what the sources' own reporting endpoints answer, from what is published."""

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dagster_project.cli.given import settings
from dagster_project.cli.terminal import hand_over_json, say
from dagster_project.errors import GristmillError
from dagster_project.run.moments import parse_day

if TYPE_CHECKING:
    from dagster_project.lake.lake import Lake

report_app = typer.Typer(help="What the sources' own reports say, from what is published.", no_args_is_help=True)


@report_app.callback()
def report() -> None:
    """What the sources' own reports say, from what is published."""


@report_app.command()
def reactions(
    from_: Annotated[str | None, typer.Option("--from", help="First day (UTC).")] = None,
    to: Annotated[str | None, typer.Option("--to", help="Last day (UTC), included.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many conversations on a page.")] = 100,
    cursor: Annotated[str | None, typer.Option(help="`next_cursor` of the page before.")] = None,
    conversation: Annotated[str | None, typer.Option(help="The turns of one conversation instead.")] = None,
    turn: Annotated[str | None, typer.Option(help="Only this turn of it.")] = None,
    tenant: Annotated[str | None, typer.Option(help="Only this tenant's.")] = None,
    project: Annotated[str | None, typer.Option(help="Only this project's.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Exactly seed 3's object.")] = False,
) -> None:
    """Conversations with active reactions in a period, newest activity first; or the turns of one conversation."""
    from dagster_project.systems.reactions import lookups as look

    if conversation is None:
        period = look.Period(*_days(from_, to), tenant, project)
        if turn is not None:
            raise GristmillError("--turn is a turn of a conversation: name it with --conversation")
        files = settings().sources.get("reactions", ())
        configured = sorted({(file.options["tenant"], file.options["project"]) for file in files}, key=str)
        found = look.conversations_in_period(_lake(), period, limit, cursor, configured)
        lines = _period_lines(found)
    else:
        if from_ or to or cursor:
            raise GristmillError("--conversation shows all of its turns: leave out --from, --to and --cursor")
        found = look.turns_with_feedbacks(_lake(), conversation, turn, tenant, project)
        lines = _turn_lines(found)
    if as_json:
        hand_over_json(found)
    else:
        say("\n".join(lines))


@report_app.command()
def session(
    session_id: Annotated[str, typer.Argument(metavar="ID")],
    as_json: Annotated[bool, typer.Option("--json", help="Exactly seed 0's object.")] = False,
) -> None:
    """All feedback of one session, as seed 0's GET /api/feedback/session/ID gives it."""
    from dagster_project.systems.feedback.feedback_session import SAID, feedback_session

    found = feedback_session(_lake(), session_id)
    if as_json:
        hand_over_json(found)
        return
    for row in found["feedback"]:
        moment = datetime.fromtimestamp(row["timestamp"], UTC).isoformat()
        said = _line(str(row[SAID[row["feedback_type"]]]))
        say(f"{_moment(moment)}  {row['feedback_type']}  on {_line(row['response_id'])}  {said}")
    say(f"{_counted(len(found['feedback']), 'feedback row')}, session quality {found['session_quality']:g}")


def _lake() -> "Lake":
    from dagster_project.registry import published_lake

    return published_lake(settings().home)


def _days(first: str | None, last: str | None) -> tuple[date, date]:

    if first is None or last is None:
        raise GristmillError("name the days with --from and --to, or a conversation with --conversation")
    days = parse_day(first), parse_day(last)
    if days[0] > days[1]:
        raise GristmillError(f"--from {days[0]} is after --to {days[1]}")
    return days


def _period_lines(found: dict[str, Any]) -> list[str]:
    lines = []
    for item in found["items"]:
        counts = item["feedback_counts"]
        lines.append(
            f"{_moment(item['last_activity_at'])}  {_line(item['conversation_id'])}  {_counted(counts['total'], 'reaction')}: "
            f"{counts['ok']} ok, {counts['not_ok']} not ok, {counts['neutral']} neutral; "
            f"{counts['user']} by users, {counts['machine']} by the machine"
        )
        for turn in item["turns"]:
            lines += [f"  {_line(turn['turn_id'])}", *(f"    {_feedback(said)}" for said in turn["feedbacks"])]
    window = f"{found['window']['start'][:10]}..{found['window']['end'][:10]}"
    lines.append(f"{_counted(len(found['items']), 'conversation')} with reactions, {window}")
    if found["next_cursor"]:
        lines.append(f"more with --cursor {found['next_cursor']}")
    return lines


def _turn_lines(found: dict[str, Any]) -> list[str]:
    lines = [f"conversation {_line(found['conversation_id'])} of {_line(found['user_id'] or 'unknown user')}"]
    for turn in found["turns"]:
        lines.append(f"  {_line(turn['turn_id'])}")
        for row in turn["reactions"]:
            why = "" if row["is_active"] else f"  ({row['inactive_reason']})"
            lines.append(f"    {_feedback(row)}{why}")
    return lines if found["turns"] else [*lines, "  no active reaction"]


def _feedback(said: dict[str, Any]) -> str:
    sure = "" if said["confidence"] is None else f" {said['confidence']:g}"
    text = f"  {_line(said['text'])}" if said["text"] else ""
    return f"{_moment(said['ts'])}  {said['origin'] or 'unknown'}{sure}  {said['reaction'] or 'nothing'}{text}"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _moment(text: str) -> str:
    return text[:19].replace("T", " ")


def _line(text: str, width: int = 120) -> str:
    """Text from the data, on one line and harmless to a terminal."""
    from dagster_project.columns.printable import printable

    folded = printable(" ".join(text.split()))
    return folded if len(folded) <= width else folded[: width - 1] + "…"
