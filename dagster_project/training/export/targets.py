"""The targets of `gristmill export`, by name."""

from dagster_project.errors import Misused
from dagster_project.training.export.axolotl import AXOLOTL
from dagster_project.training.export.hosted import FIREWORKS, OPENAI, TOGETHER
from dagster_project.training.export.llamafactory import LLAMAFACTORY
from dagster_project.training.export.plain_parquet import PARQUET
from dagster_project.training.export.shapes import Target
from dagster_project.training.export.trl import TRL

TARGETS = {target.name: target for target in (TRL, OPENAI, LLAMAFACTORY, AXOLOTL, FIREWORKS, TOGETHER, PARQUET)}


def target_for(name: str, format: str) -> Target:
    """The target, if it takes the format; else why it does not, and what does."""
    if name not in TARGETS:
        raise Misused(f"--to must be one of {', '.join(TARGETS)}, not {name!r}")
    target = TARGETS[name]
    if format in target.refusals:
        raise Misused(f"{name} cannot take {format}: {target.refusals[format]}")
    return target
