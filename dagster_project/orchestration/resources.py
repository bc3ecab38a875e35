"""Configuration and environment to a `MillRun`: what every asset is given as `mill`."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from uuid import uuid4

import dagster as dg
from pydantic import Field

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
from dagster_project.run.moments import parse_as_of, parse_day

WAIT_FOR_OTHER_RUNS_SECONDS = 3600.0


def days_of(tags: dict[str, str]) -> tuple[date, date] | None:
    """The partitions a Dagster run was asked for."""
    one = tags.get(PARTITION_NAME_TAG)
    first = tags.get(ASSET_PARTITION_RANGE_START_TAG, one)
    last = tags.get(ASSET_PARTITION_RANGE_END_TAG, one)
    return (date.fromisoformat(first), date.fromisoformat(last)) if first and last else None


def days_given(said: str) -> tuple[date, date]:
    """A day or a range of days, in words of the run's config."""
    first, _, last = said.partition("..")
    return parse_day(first), parse_day(last or first)


def started_by(tags: Mapping[str, str]) -> str:
    """Who asked Dagster for a run."""
    known = {"schedule": SCHEDULE_NAME_TAG, "sensor": SENSOR_NAME_TAG, "backfill": BACKFILL_ID_TAG}
    return next((f"{kind} {tags[tag]}" for kind, tag in known.items() if tag in tags), "Dagster")


class MillResource(dg.ConfigurableResource[MillRun]):
    """One run on a home: lock, open sources, lake. Settings come from gristmill.toml and GRISTMILL_*."""

    config_file: str | None = Field(default=None, description="instead of ./gristmill.toml")
    home: str | None = Field(default=None, description="instead of the configured home")
    as_of: str | None = Field(default=None, description="everything before this instant counts")
    full: bool = Field(default=False, description="read every day again")
    release: bool = Field(default=False, description="make a release, also where runs make none")
    days: str | None = Field(
        default=None, description="just these, `2026-01-20` or `2026-01-20..2026-01-25`, partitions or not"
    )

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Generator[MillRun, None, None]:
        """The run itself, which is what steps take (`ResourceParam[MillRun]`), open while they run."""
        keep_private()
        path, home = (Path(said) if said else None for said in (self.config_file, self.home))
        config = configuration.load(path, home)
        tags = dict(context.run.tags) if context.run else {}
        choice = Choice(
            as_of=parse_as_of(self.as_of) if self.as_of else None,
            full=self.full,
            days=days_given(self.days) if self.days else days_of(tags),
            wait_seconds=WAIT_FOR_OTHER_RUNS_SECONDS,
            release=self.release,
        )
        run_id = context.run.run_id if context.run else str(uuid4())
        with open_run(config, choice, started_by=started_by(tags), run_id=run_id) as run:
            if context.run and context.instance:
                context.instance.add_run_tags(context.run.run_id, run_tags(run))
                end_killed_runs(context.instance, config.home, is_mine=True)
            yield run
