"""`gristmill release`: a run that makes a release whatever `release_every` says, and the pin that keeps one for good (T5)."""

from typing import TYPE_CHECKING, Annotated

import typer

from dagster_project.cli.given import settings
from dagster_project.cli.run_command import carry_out
from dagster_project.cli.terminal import say
from dagster_project.run.moments import parse_as_of

if TYPE_CHECKING:
    from dagster_project.run.mill_run import MillRun


def release(
    is_pinned: Annotated[
        bool, typer.Option("--pin", help='Keep it for good, and let `eval_set = "pin"` go by it.')
    ] = False,
    as_of: Annotated[
        str | None, typer.Option(help="As for `run`; default: the end of the newest day that is over.")
    ] = None,
    wait: Annotated[float, typer.Option(min=0, help="Seconds to wait for another run on this home.")] = 0,
) -> None:
    """Bring everything up and make a release now, also where runs make none. One with the same records is not made twice."""
    from dagster_project.intake.stage import Choice

    choice = Choice(None if as_of is None else parse_as_of(as_of), wait_seconds=wait, release=True)
    carry_out(settings(), choice, _pin if is_pinned else lambda mill: None)


def _pin(mill: "MillRun") -> None:
    from dagster_project.lake.releases import newest_of
    from dagster_project.training.kept_releases import pin

    if name := newest_of(mill.lake.home, mill.release_date):
        pin(mill.lake.home, name)
        say(f"pinned release {name}")
