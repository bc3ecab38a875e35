"""Configuration and environment to a `MillRun`: what every asset is given as `mill`."""

from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from uuid import uuid4

import dagster as dg

from dagster_project import config as configuration
from dagster_project.intake.stage import Choice
from dagster_project.lake.lock import keep_private
from dagster_project.orchestration.history import end_killed_runs, run_tags
from dagster_project.orchestration.tags import (
    ASSET_PARTITION_RANGE_END_TAG,
    ASSET_PARTITION_RANGE_START_TAG,
    BACKFILL_ID_TAG,
    PARTITION_NAME_TAG,
    SCHEDULE_NAME_TAG,
    SENSOR_NAME_TAG,
)
from dagster_project.registry import open_run
from dagster_project.run.mill_run import MillRun
from dagster_project.run.moments import parse_as_of

WAIT_FOR_OTHER_RUNS_SECONDS = 3600.0


def days_of(tags: dict[str, str]) -> tuple[date, date] | None:
    """The partitions a Dagster run was asked for."""
    one = tags.get(PARTITION_NAME_TAG)
    first = tags.get(ASSET_PARTITION_RANGE_START_TAG, one)
    last = tags.get(ASSET_PARTITION_RANGE_END_TAG, one)
    return (date.fromisoformat(first), date.fromisoformat(last)) if first and last else None


def started_by(tags: Mapping[str, str]) -> str:
    """Who asked Dagster for a run."""
    known = {"schedule": SCHEDULE_NAME_TAG, "sensor": SENSOR_NAME_TAG, "backfill": BACKFILL_ID_TAG}
    return next((f"{kind} {tags[tag]}" for kind, tag in known.items() if tag in tags), "Dagster")


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
    keep_private()
    given = context.resource_config
    path, home, as_of = given.get("config_file"), given.get("home"), given.get("as_of")
    config = configuration.load(Path(path) if path else None, Path(home) if home else None)
    tags = dict(context.run.tags) if context.run else {}
    choice = Choice(
        as_of=parse_as_of(as_of) if as_of else None,
        full=given["full"],
        days=days_of(tags),
        wait_seconds=WAIT_FOR_OTHER_RUNS_SECONDS,
    )
    run_id = context.run.run_id if context.run else str(uuid4())
    with open_run(config, choice, started_by=started_by(tags), run_id=run_id) as run:
        if context.run and context.instance:
            context.instance.add_run_tags(context.run.run_id, run_tags(run))
            end_killed_runs(context.instance, config.home, is_mine=True)
        yield run
