"""`gristmill diff`: what a release has that another has not, or has otherwise, and why."""

from pathlib import Path
from typing import Annotated

import typer

from dagster_project.cli.given import settings
from dagster_project.cli.terminal import hand_over_json, say
from dagster_project.cli.written_page import put_page


def diff(
    a: Annotated[str | None, typer.Argument(help="A release such as 20260131; default the last but one.")] = None,
    b: Annotated[str | None, typer.Argument(help="Another; default the last.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Every record.")] = False,
    page: Annotated[Path | None, typer.Option(help="Also write a page of it to this file.")] = None,
) -> None:
    """Compare two releases: records that came, went or changed, each with the reason, and the mix."""
    from dagster_project.lake.lake import published
    from dagster_project.lookups import release_diff
    from dagster_project.lookups.release_diff_text import lines, page_of

    lake = published(settings().home)
    found = release_diff.diff(lake, *release_diff.chosen(lake, a, b))
    if page:
        put_page(page, page_of(lake, found))
    if as_json:
        hand_over_json(found.to_json())
    else:
        say("\n".join(lines(found)))
