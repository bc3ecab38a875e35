"""Configuration and environment to a `MillRun`: what every asset is given as `mill`."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import dagster as dg
from dagster._core.storage.tags import (
    ASSET_PARTITION_RANGE_END_TAG,
    ASSET_PARTITION_RANGE_START_TAG,
    PARTITION_NAME_TAG,
)

from dagster_project import config as configuration
from dagster_project.mill_run import Choice, MillRun, parse_as_of

WAIT_FOR_OTHER_RUNS_SECONDS = 3600.0


def days_of(tags: dict[str, str]) -> tuple[date, date] | None:
    """The partitions a Dagster run was asked for."""
    one = tags.get(PARTITION_NAME_TAG)
    first = tags.get(ASSET_PARTITION_RANGE_START_TAG, one)
    last = tags.get(ASSET_PARTITION_RANGE_END_TAG, one)
    return (date.fromisoformat(first), date.fromisoformat(last)) if first and last else None


@dg.resource(
    description="One run on a home: lock, open sources, lake. Settings come from gristmill.toml and GRISTMILL_*.",
    config_schema={
        "config_file": dg.Field(dg.String, is_required=False, description="instead of ./gristmill.toml"),
        "home": dg.Field(dg.String, is_required=False, description="instead of the configured home"),
        "as_of": dg.Field(dg.String, is_required=False, description="everything before this instant counts"),
        "full": dg.Field(dg.Bool, default_value=False, description="read every day again"),
    },
)
def mill(context: dg.InitResourceContext) -> Iterator[MillRun]:
    given = context.resource_config
    path, home, as_of = given.get("config_file"), given.get("home"), given.get("as_of")
    config = configuration.load(Path(path) if path else None, Path(home) if home else None)
    choice = Choice(
        as_of=parse_as_of(as_of) if as_of else None,
        full=given["full"],
        days=days_of(dict(context.run.tags)) if context.run else None,
        wait_seconds=WAIT_FOR_OTHER_RUNS_SECONDS,
    )
    with MillRun(config, choice) as run:
        yield run
