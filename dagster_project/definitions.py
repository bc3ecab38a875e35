"""Gristmill as Dagster sees it: assets, resources, jobs, schedules, sensor, executor."""

import hashlib
import time
from collections.abc import Iterator
from datetime import date

import dagster as dg

from dagster_project import assets, config
from dagster_project.orchestration.partitions import DAILY
from dagster_project.orchestration.resources import MillResource
from dagster_project.orchestration.tables import range_tags
from dagster_project.registry import DATED_SPECS
from dagster_project.run import source_changes

EVERYTHING = dg.AssetSelection.all()
CHANGE_TAG = "gristmill/change"  # on the runs the sensor asks for: which change of the sources they are for
FAILED = (dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED)
TRY_AGAIN_SECONDS, MOST_WAIT_SECONDS = 300, 6 * 3600

refresh = dg.define_asset_job(
    "refresh",
    EVERYTHING,
    description="Everything, for the days that changed (G7). What `gristmill run` does.",
)
refresh_days = dg.define_asset_job(
    "refresh_days", EVERYTHING, description="Everything, reading again just the days asked for."
)
daily_refresh = dg.ScheduleDefinition(
    name="daily_refresh", job=refresh, cron_schedule="30 1 * * *", execution_timezone="UTC"
)
weekly_reconciliation = dg.ScheduleDefinition(
    name="weekly_reconciliation",
    job=refresh,
    cron_schedule="0 3 * * 0",
    execution_timezone="UTC",
    run_config={"resources": {"mill": {"config": {"full": True}}}},
    description="Reads every day again: finds edits of long texts that no fingerprint shows.",
)


@dg.sensor(job=refresh_days, minimum_interval_seconds=300, description="Asks for the days that changed at a source.")
def changed_days(context: dg.SensorEvaluationContext) -> Iterator[dg.RunRequest | dg.SkipReason]:
    changes = source_changes.changed_days(config.load(), DATED_SPECS)
    earlier = [day for day in changes if day < DAILY.start.date()]
    known = [day for day in changes if DAILY.has_partition_key(str(day))]  # a day that is yet to come is none
    if not (earlier or known):
        yield dg.SkipReason("no day looks different from when it was read")
    for first, last in [*source_changes.ranges(earlier), *source_changes.ranges(known)]:
        looks = [look for day, look in changes.items() if first <= day <= last]
        change = f"{first}..{last} {hashlib.sha256(' '.join(looks).encode()).hexdigest()[:16]}"
        tried = next_try(context.instance, change)
        yield tried if isinstance(tried, dg.SkipReason) else request(tried, change, first, last)


def request(run_key: str, change: str, first: date, last: date) -> dg.RunRequest:
    """For days before the partitions begin, which Dagster would refuse as partitions, by the run's config."""
    tags = {CHANGE_TAG: change}
    if first < DAILY.start.date():
        asked = {"resources": {"mill": {"config": {"days": f"{first}..{last}"}}}}
        return dg.RunRequest(run_key=run_key, run_config=asked, tags=tags)
    if first == last:
        return dg.RunRequest(run_key=run_key, partition_key=str(first), tags=tags)
    return dg.RunRequest(run_key=run_key, tags={**tags, **range_tags(first, last)})


def next_try(instance: dg.DagsterInstance, change: str) -> str | dg.SkipReason:
    """The run key under which to ask for a change. Dagster never starts two runs with one key, whatever became of the first:
    after a failure it must be another, else the days would wait for ever. Each failure doubles the wait for the next try."""
    asked = instance.get_run_records(dg.RunsFilter(tags={CHANGE_TAG: change}))
    if any(not record.dagster_run.is_finished for record in asked):
        return dg.SkipReason(f"a run for {change} goes on")
    failed = [record for record in asked if record.dagster_run.status in FAILED]
    if not failed:
        return change
    ended = max(record.end_time or record.update_timestamp.timestamp() for record in failed)
    wait = min(TRY_AGAIN_SECONDS * 2 ** (len(failed) - 1), MOST_WAIT_SECONDS)
    if time.time() < ended + wait:
        return dg.SkipReason(f"{len(failed)} runs for {change} failed; the next try is {wait} seconds after the last")
    return f"{change} try {len(failed) + 1}"


defs = dg.Definitions(
    assets=dg.load_assets_from_package_module(assets, include_specs=True),
    resources={"mill": MillResource()},
    jobs=[refresh, refresh_days],
    schedules=[daily_refresh, weekly_reconciliation],
    sensors=[changed_days],
    executor=dg.in_process_executor,
)
