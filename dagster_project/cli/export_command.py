"""`gristmill export`: a release in the shape a trainer takes. What it does is in `training/export`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from dagster_project.cli.given import settings
from dagster_project.cli.terminal import say

RETOLD = {
    "joined": "turns joined to the one before, which is the same speaker's",
    "opening": "answers before any question told as a system message",
    "tool": "results of tools told as a user's turn",
    "blank": "empty turns left out",
}


def export(
    format: Annotated[str, typer.Argument(metavar="FORMAT", help="instruction, cot, correction, preference, unpaired")],
    to: Annotated[str, typer.Option(help="trl, openai, llamafactory, axolotl, fireworks, together or parquet")],
    out: Annotated[Path, typer.Option(help="A folder of its own; one that an export wrote is replaced.")],
    release: Annotated[str | None, typer.Option(help="Its name or day; default the newest.")] = None,
    resample: Annotated[
        bool, typer.Option("--resample", help="Draw the training file by weight instead of carrying a weight.")
    ] = False,
    min_tier: Annotated[str | None, typer.Option(help="Nothing below: premium, high, standard, low, very_low.")] = None,
    augmentation: Annotated[
        bool, typer.Option("--augmentation", help="The records of the low tiers as well, in the training file.")
    ] = False,
    max_tokens: Annotated[
        int | None, typer.Option(help="Cut the oldest turns of longer records; drop what stays too long.")
    ] = None,
    tokenizer: Annotated[
        str | None, typer.Option(help="Counts them: a tokenizer.json, its folder, or `chars` (4 are a token).")
    ] = None,
) -> None:
    """A release in another shape: one file per split, made for a trainer."""
    from dagster_project.lake.lake import published
    from dagster_project.training.export.asked import Asked
    from dagster_project.training.export.exporting import export_release
    from dagster_project.training.export.targets import target_for

    asked = Asked(format, to, release, resample, min_tier, augmentation, max_tokens, tokenizer)
    target_for(to, format)  # what cannot be meant is said before anything is looked for
    done = export_release(published(settings().home), asked, out)
    say("\n".join(_lines(done.about, done.notes, out)))


def _lines(about: dict[str, Any], notes: tuple[str, ...], out: Path) -> Iterator[str]:
    yield f"{about['format']} of release {about['release']} for {about['target']}: {out}"
    for name, entry in about["files"].items():
        yield f"  {entry['rows']:>9,}  {name}"
    total = {key: sum(found.get(key, 0) for found in about["counts"].values()) for key in _keys(about)}
    options = about["options"]
    if options["min_tier"]:
        yield f"  {total['below_tier']:>9,}  left out, below tier {options['min_tier']}"
    if options["max_tokens"]:
        yield f"  {total['too_long']:>9,}  left out, longer than {options['max_tokens']:,} tokens ({options['tokenizer']['name']})"
        yield f"  {total['cut_records']:>9,}  cut to fit, {total['cut_turns']:,} of their oldest turns left out"
    for key, words in RETOLD.items():
        if total.get(key):
            yield f"  {total[key]:>9,}  {words}"
    yield from (f"  {note}" for note in notes)


def _keys(about: dict[str, Any]) -> set[str]:
    return {key for found in about["counts"].values() for key in found}
