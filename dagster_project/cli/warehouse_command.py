"""`gristmill warehouse`: where analysts find it, and all of it in one file to be carried away."""

from pathlib import Path
from typing import Annotated

import typer

from dagster_project.cli.given import settings
from dagster_project.cli.terminal import say


def warehouse(
    portable: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write one DuckDB file with everything in it; never over another file."),
    ] = None,
) -> None:
    """Say where the warehouse is, or write all of it into one file that can be copied anywhere."""
    from dagster_project.lake.lake import WAREHOUSE, published
    from dagster_project.lookups.warehouse_query import carry_away

    chosen = settings()
    if portable is None:
        lake = published(chosen.home)
        say(f"{lake.home / WAREHOUSE}: publication {lake.published.publication}, as of {lake.published.as_of}")
        say(f"open it read-only: duckdb -readonly {lake.home / WAREHOUSE}")
        say("it reads the files of its home; --portable FILE makes one that can be copied alone")
        return
    size = carry_away(chosen, portable)
    say(
        f"{portable}: {size / 1_000_000:,.1f} MB, everything of publication {published(chosen.home).published.publication}"
    )
