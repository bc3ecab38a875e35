"""Every step of a run, in one shape: stop if asked to, try again if a source is locked, put down what came of it.

And G14: a run publishes everything or nothing. A Dagster run of a part of the graph (one asset, one day, what is left after a
failure) would stage its tables and throw them away, or publish them beside older ones. So its first step brings the rest
along: it makes a whole run, on the same home, as_of and days, and its own steps then only report.
"""

import html
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import dagster as dg

from dagster_project.contracts import TABLES
from dagster_project.databases.sqlite_file import SourceLocked
from dagster_project.errors import GristmillError
from dagster_project.orchestration.history import run_tags
from dagster_project.run.mill_run import MillRun
from dagster_project.run.record import FailedCheck
from dagster_project.run.stop import STOP

Mill = dg.ResourceParam[MillRun]
Make = Callable[[MillRun], Iterable[dg.MaterializeResult]]
WAREHOUSE = "warehouse"
LOCKED_RETRIES, LOCKED_WAIT_SECONDS = 3, 10
BROUGHT_ALONG_TAG = "gristmill/brought_along_by"
TABLES_OF: dict[str, list[str]] = {}  # step -> the tables it makes, of all steps there are ...
ALL_STEPS: list[dg.AssetsDefinition] = []  # ... and those steps, in the order they were declared


def step(
    name: str, specs: Sequence[dg.AssetSpec], checks: Sequence[dg.AssetCheckSpec] = (), **options: Any
) -> Callable[[Make], dg.AssetsDefinition]:
    """A step that makes these tables. What it decorates gives one result a table, with the outcome of its checks."""
    tables = TABLES_OF[name] = [spec.key.to_user_string() for spec in specs]
    claims = {(check.asset_key.to_user_string(), check.name): check for check in checks}

    def decorate(make: Make) -> dg.AssetsDefinition:
        @dg.multi_asset(name=name, specs=specs, check_specs=checks, **options)
        def made(context: dg.AssetExecutionContext, mill: Mill) -> Iterator[dg.MaterializeResult]:
            with put_down(mill):
                STOP.check()
                if is_part_of_a_run(context, mill):
                    bring_along(context, mill)
                elif wanted(mill) & {*tables}:
                    with retries_if_locked(context, mill):
                        for result in make(mill):
                            _take(mill, result, claims)
                    _report_days(context, mill, specs)
            yield from (mill.results.get(table) or _without_a_source(table, checks) for table in tables)

        ALL_STEPS.append(made)
        return made

    return decorate


def _take(mill: MillRun, result: dg.MaterializeResult, claims: Mapping[tuple[str, str], dg.AssetCheckSpec]) -> None:
    """A table is there: remember what to tell of it, and which of its claims do not hold."""
    table = dg.AssetKey.from_coercible(result.asset_key or ()).to_user_string()
    mill.results[table] = result
    mill.brought.add(table)
    for check in result.check_results or ():
        claim = claims[table, str(check.check_name)]
        if not check.passed and claim.name != "no_drift":  # which the record has in detail
            told = {name: _plain(value) for name, value in (check.metadata or {}).items()}
            offending, first = told.pop("offending_rows", None), json.loads(told.pop("first", "[]"))
            blocks = check.severity is dg.AssetCheckSeverity.ERROR
            mill.record.put_check(
                FailedCheck(table, claim.name, html.unescape(claim.description or ""), blocks, told, offending, first)
            )


def _without_a_source(table: str, checks: Sequence[dg.AssetCheckSpec]) -> dg.MaterializeResult:
    """Of a table nobody configured a source for there is nothing to make, and no claim about it can fail."""
    held = [dg.AssetCheckResult(passed=True, asset_key=check.asset_key, check_name=check.name) for check in checks]
    mine = [result for result in held if result.asset_key == dg.AssetKey(table)]
    return dg.MaterializeResult(asset_key=table, metadata={"dagster/row_count": 0}, check_results=mine)


def _report_days(context: dg.AssetExecutionContext, mill: MillRun, specs: Sequence[dg.AssetSpec]) -> None:
    """Of tables by day, the days Dagster does not know of: it was not asked for any, or the run read others too (G7, G14)."""
    is_asked_by_day = context.has_partition_key or context.has_partition_key_range
    for spec in specs:
        account = mill.accounts.get(spec.key.to_user_string()) or mill.accounts.get(context.op_def.name)
        if spec.partitions_def is None or account is None:
            continue
        asked = {day for day in account.days_read if mill.choice.includes(day)}
        days = {*account.changed_days} - asked if is_asked_by_day else {*account.changed_days} | asked
        for day in sorted(days):
            if day <= mill.began.date():  # a partition begins when its day does
                context.log_event(dg.AssetMaterialization(spec.key, partition=str(day)))


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, dg.MetadataValue) else value


@contextmanager
def put_down(mill: MillRun) -> Iterator[None]:
    """What goes wrong in a step is why the run ends. An interruption through Dagster is a stop like a signal."""
    try:
        yield
    except (dg.RetryRequested, GeneratorExit):
        raise
    except dg.DagsterExecutionInterruptedError:
        mill.record.fail(GristmillError("stopped through Dagster; nothing was published"), "stopped")
        raise
    except BaseException as error:
        mill.record.fail(error)
        raise


@contextmanager
def retries_if_locked(context: dg.AssetExecutionContext, mill: MillRun) -> Iterator[None]:
    """A locked source is tried again a few times; the last time its own error is the answer."""
    try:
        yield
    except SourceLocked as error:
        if context.retry_number >= LOCKED_RETRIES:
            raise
        wait = min(LOCKED_WAIT_SECONDS, mill.config.busy_timeout_seconds)
        raise dg.RetryRequested(max_retries=LOCKED_RETRIES, seconds_to_wait=wait) from error


# --- parts of a run (G14) ------------------------------------------------------------------------------------------


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
    if WAREHOUSE not in mill.results:
        raise dg.Failure(f"the run this is a part of failed: {mill.record.reason}", allow_retries=False)


def run_whole(
    mill: MillRun, instance: dg.DagsterInstance, tags: Mapping[str, str] | None = None, run_id: str | None = None
) -> dg.ExecuteInProcessResult:
    """Materialise everything in this process, in an already open run. Dagster's own log stays quiet.

    As the job `refresh`, so that it stands among that job's runs. Its days are the mill's to choose: Dagster would report
    every day of a range, whether it was there or not.
    """
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

    Of feedback and distillation just the raw ones: what is made from them always exists, if only as empty tables.
    """
    known = {*mill.lake.catalog.sources, *(name for name, files in mill.lake.catalog.tables.items() if files)}
    kept = {path.name for path in (mill.lake.home / "state").glob("*")}
    idle: set[str] = set()
    for system, files in mill.config.sources.items():
        raw = {name for name in TABLES if name.startswith(f"raw_{system}__")}
        is_kept = system == "sessions" and any("session" in name or "anonymised" in name for name in kept)
        if files or raw & known or is_kept:
            continue
        if system == "feedback":
            raw.add("core__feedback_keys")  # made in the same step
        idle |= raw if system in ("feedback", "distillation") else _made_of(raw)
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
        if not made <= found
        and (used := {name for name in inputs - made if name in TABLES} - {"quarantine__rows"})
        and used <= found
    ]:
        found.update(*more)
    return found
