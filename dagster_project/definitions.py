"""Gristmill as Dagster sees it: assets, resources, jobs, schedules, sensor, executor."""

import hashlib
from collections.abc import Iterator

import dagster as dg

from dagster_project import assets, config, watch
from dagster_project.partitions import DAILY
from dagster_project.publish import range_tags
from dagster_project.resources import mill

EVERYTHING = dg.AssetSelection.all()

refresh = dg.define_asset_job(
    "refresh",
    EVERYTHING,
    description="Everything, for the days that changed (semantics G7). What `gristmill run` does.",
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
def changed_days() -> Iterator[dg.RunRequest | dg.SkipReason]:
    changes = watch.changed_days(config.load())
    known = {day: look for day, look in changes.items() if DAILY.has_partition_key(str(day))}
    if not known:
        yield dg.SkipReason("no day looks different from when it was read")
    for first, last in watch.ranges(list(known)):
        looks = [look for day, look in known.items() if first <= day <= last]
        run_key = f"{first}..{last} {hashlib.sha256(' '.join(looks).encode()).hexdigest()[:16]}"
        if first == last:
            yield dg.RunRequest(run_key=run_key, partition_key=str(first))
        else:
            yield dg.RunRequest(run_key=run_key, tags=range_tags(first, last))


defs = dg.Definitions(
    assets=dg.load_assets_from_package_module(assets, include_specs=True),
    resources={"mill": mill},
    jobs=[refresh, refresh_days],
    schedules=[daily_refresh, weekly_reconciliation],
    sensors=[changed_days],
    executor=dg.in_process_executor,
)
