"""A run publishes everything or nothing (G14): what a Dagster run of a part of the graph does, and what a whole run is.

A run of a part (one asset, one day, what is left after a failure) would stage its tables and throw them away, or publish them
beside older ones. So its first step brings the rest along: it makes a whole run, on the same home, as_of and days, and its own
steps then only report.
"""

from collections.abc import Mapping

import dagster as dg

from dagster_project.contracts import TABLES
from dagster_project.errors import GristmillError
from dagster_project.orchestration.history import run_tags
from dagster_project.registry import SYSTEMS
from dagster_project.run.mill_run import MillRun

WAREHOUSE = "warehouse"
BROUGHT_ALONG_TAG = "gristmill/brought_along_by"
TABLES_OF: dict[str, list[str]] = {}  # step -> the tables it makes, of all steps there are ...
GROUP_OF: dict[str, str] = {}  # step -> the group of its tables
ALL_STEPS: list[dg.AssetsDefinition] = []  # ... and those steps, in the order they were declared


def is_part_of_a_run(context: dg.AssetExecutionContext, mill: MillRun) -> bool:
    """Whether Dagster was asked for less than what belongs to the run."""
    planned = context.get_step_execution_context().execution_plan.step_keys_to_execute
    return not wanted(mill) <= {table for key in planned for table in TABLES_OF.get(key, ())}


def bring_along(context: dg.AssetExecutionContext, mill: MillRun) -> None:
    """Make the whole run this one is a part of, once; if that fails, so does every step of this one."""
    if mill.record.outcome is None and not mill.record.failed_check:
        context.log.info("A part of a run publishes nothing: everything is brought along in a run of its own (G14).")
        try:
            run_whole(mill, context.instance, {BROUGHT_ALONG_TAG: context.run.run_id})
        except Exception as error:
            mill.record.fail(error)
    if WAREHOUSE not in mill.made:
        raise dg.Failure(f"the run this is a part of failed: {mill.record.reason}", allow_retries=False)


def run_whole(
    mill: MillRun, instance: dg.DagsterInstance, tags: Mapping[str, str] | None = None, run_id: str | None = None
) -> dg.ExecuteInProcessResult:
    """Materialise everything in this process, in an already open run. Dagster's own log stays quiet.

    As the job `refresh`, so that it stands among that job's runs. Its days are the mill's to choose: Dagster would report
    every day of a range, whether it was there or not.
    """
    mill.watcher.plans({name: GROUP_OF[name] for name, made in TABLES_OF.items() if wanted(mill) & {*made}})
    selection = dg.AssetSelection.all() - dg.AssetSelection.assets(*({*TABLES} - wanted(mill)))
    whole = dg.Definitions(
        assets=ALL_STEPS,
        resources={"mill": mill},
        jobs=[dg.define_asset_job("refresh", selection, executor_def=dg.in_process_executor)],
    )
    try:
        return whole.resolve_job_def("refresh").execute_in_process(
            instance=instance,
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            tags={**run_tags(mill), **(tags or {})},
            run_id=run_id,
        )
    except dg.DagsterError as error:
        if mill.record.failed_check:
            raise GristmillError(mill.record.failed_check) from error
        raise


def wanted(mill: MillRun) -> set[str]:
    """What belongs to a whole run on this home."""
    if mill.wanted is None:
        mill.wanted = {*TABLES} - tables_without_a_source(mill)
    return {*mill.wanted, WAREHOUSE}


def tables_without_a_source(mill: MillRun) -> set[str]:
    """Tables of systems nobody configured and neither lake nor state knows anything of: their steps would only cost time.

    Of some systems just the raw ones: what is made from those always exists, if only as empty tables.
    """
    known = {*mill.lake.catalog.sources, *(name for name, files in mill.lake.catalog.tables.items() if files)}
    idle: set[str] = set()
    for name, system in SYSTEMS.items():
        raw = {*system.dated, *system.undated}
        is_kept = any(any((mill.lake.home / "state").glob(pattern)) for pattern in system.state)
        if mill.config.sources[name] or raw & known or is_kept:
            continue
        raw.update(*system.companions.values())  # made in the same step
        idle |= raw if system.is_always_made else _made_of(raw)
    return idle


def _made_of(tables: set[str]) -> set[str]:
    """These tables and all that is made of nothing else, step by step."""
    steps = [
        (
            {spec.key.to_user_string() for spec in step.specs},
            {dep.asset_key.to_user_string() for spec in step.specs for dep in spec.deps},
        )
        for step in ALL_STEPS
    ]
    found = set(tables)
    while more := [
        made
        for made, inputs in steps
        if not made <= found and (used := {name for name in inputs - made if name in TABLES}) and used <= found
    ]:
        found.update(*more)
    return found
