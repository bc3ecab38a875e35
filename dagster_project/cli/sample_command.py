"""`gristmill sample`: records to read before training, beside where they came from."""

from pathlib import Path
from typing import Annotated

import typer

from dagster_project.cli.given import settings
from dagster_project.cli.terminal import hand_over_json, say
from dagster_project.cli.written_page import put_page
from dagster_project.errors import GristmillError


def sample(
    format: Annotated[str | None, typer.Argument(help="instruction, cot, ...; default all.")] = None,
    count: Annotated[int, typer.Option("--number", "-n", min=1, max=10_000, help="How many.")] = 50,
    named_release: Annotated[str | None, typer.Option("--release", help="Which release; default the newest.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
    page: Annotated[Path | None, typer.Option(help="Also write a page of them to this file.")] = None,
) -> None:
    """Records of a release, drawn by a hash of their ids: the same every time."""
    from dagster_project.contracts.formats import FORMATS
    from dagster_project.lake.lake import published
    from dagster_project.lake.releases import named
    from dagster_project.lookups.release_sample import lines_of, page_of
    from dagster_project.lookups.release_sample import sample as draw

    if format is not None and format not in FORMATS:
        raise GristmillError(f"{format!r} is no training format; there are {', '.join(FORMATS)}")
    lake = published(settings().home)
    name = named(lake.home, named_release or lake.catalog.release.get("name", ""))
    found = draw(lake, name, format, count)
    if page:
        put_page(page, page_of(name, found))
    if as_json:
        for one in found:
            hand_over_json({"record": one.record, "made_from": one.made_from}, indent=None)
    else:
        say("\n".join(lines_of(found)))
