"""Every step of a run, in one shape: stop if asked to, try again if a source is locked, put down what came of it.

What a step does where only a part of the graph was asked for, `parts_of_runs.py` says.
"""

import html
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from types import MappingProxyType
from typing import Any

import dagster as dg

from dagster_project.contracts import TABLES
from dagster_project.databases.sqlite_file import SourceLocked
from dagster_project.errors import GristmillError
from dagster_project.orchestration.days import report_days, report_held_days, version_of
from dagster_project.orchestration.parts_of_runs import (
    ALL_STEPS,
    GROUP_OF,
    TABLES_OF,
    WAREHOUSE,
    bring_along,
    is_part_of_a_run,
    wanted,
)
from dagster_project.orchestration.tags import PRIORITY_TAG
from dagster_project.run.made import Claim, Made, Outcome
from dagster_project.run.mill_run import MillRun
from dagster_project.run.record import Check
from dagster_project.run.stop import STOP

Mill = dg.ResourceParam[MillRun]
Make = Callable[[MillRun], list[Made]]
LOCKED_RETRIES, LOCKED_WAIT_SECONDS = 3, 10


class Phase(Enum):
    """What comes first in a run, by Dagster's priority: nothing is made before all sources are read and let go of, so that
    nobody who writes to them waits for us. It is no edge of the graph: nothing flows along it. A step that waits for a
    locked source lets others go ahead, which costs nothing but that."""

    READING = 2
    LETTING_GO = 1
    MAKING = 0


def step(
    name: str,
    specs: Sequence[dg.AssetSpec],
    make: Make,
    claims: Mapping[str, Sequence[Claim]] = MappingProxyType({}),
    phase: Phase = Phase.MAKING,
    **options: Any,
) -> dg.AssetsDefinition:
    """A step whose maker makes these tables, with what is claimed of each of them."""
    tables = TABLES_OF[name] = [spec.key.to_user_string() for spec in specs]
    checks = [_check_spec(table, claim) for table in tables for claim in claims.get(table, ())]

    @dg.multi_asset(name=name, specs=specs, check_specs=checks, op_tags={PRIORITY_TAG: str(phase.value)}, **options)
    def made(context: dg.AssetExecutionContext, mill: Mill) -> Iterator[dg.MaterializeResult]:
        with put_down(mill):
            STOP.check()
            check_not_in_vain(mill)
            if is_part_of_a_run(context, mill):
                bring_along(context, mill)
            elif wanted(mill) & {*tables}:
                started = time.process_time()
                mill.watcher.begins(name)
                with retries_if_locked(context, mill):
                    for one in make(mill):
                        _take(mill, one)
                mill.making_cpu_seconds += time.process_time() - started
                mill.watcher.ends(name)
                report_days(context, mill, specs)
                if WAREHOUSE in tables:
                    report_held_days(context.instance, mill.lake.published)
        for spec, table in zip(specs, tables, strict=True):
            yield _result(mill, table, claims.get(table, ()), version_of(context, mill, spec))

    GROUP_OF[name] = specs[0].group_name or name
    ALL_STEPS.append(made)
    return made


def _check_spec(table: str, claim: Claim) -> dg.AssetCheckSpec:
    return dg.AssetCheckSpec(claim.name, asset=table, blocking=claim.blocks, description=shown(claim.says))


def _take(mill: MillRun, made: Made) -> None:
    """A table is there: remember what to tell of it, and what came of its claims."""
    mill.made[made.table] = made
    if made.account:
        mill.record.put_account(made.table, made.account, mill.lake.rows(made.table))
    for outcome in made.outcomes:
        claim = outcome.claim
        told = outcome.found, outcome.offending_rows, outcome.first, outcome.holds
        mill.record.put_check(Check(made.table, claim.name, claim.says, claim.blocks, *told, made.is_current))


def _result(mill: MillRun, table: str, claims: Sequence[Claim], version: dg.DataVersion) -> dg.MaterializeResult:
    """What Dagster is told of a table."""
    made = mill.made.get(table)
    if made is None:  # nobody configured a source for it: there is nothing to make, and no claim about it can fail
        made = Made(table, is_current=True, outcomes=tuple(Outcome(claim, holds=True) for claim in claims))
    metadata = dict(made.told)
    if table in TABLES:
        metadata["unchanged"] = made.is_current
        if not TABLES[table].is_view:
            metadata["dagster/row_count"] = mill.lake.rows(table)
            metadata["path"] = dg.MetadataValue.path(str(mill.lake.folder / table))
    else:  # what publishes: a publication has a number of its own
        version = dg.DataVersion(str(mill.lake.published.publication))
    checks = [_check(table, it) for it in made.outcomes]
    return dg.MaterializeResult(asset_key=table, metadata=metadata, check_results=checks, data_version=version)


def _check(table: str, outcome: Outcome) -> dg.AssetCheckResult:
    rows: dict[str, Any] = {}
    if outcome.offending_rows is not None:
        rows = {"offending_rows": outcome.offending_rows, "first": json.dumps(outcome.first, default=str)}
    return dg.AssetCheckResult(
        asset_key=table,
        check_name=outcome.claim.name,
        severity=dg.AssetCheckSeverity.ERROR if outcome.claim.blocks else dg.AssetCheckSeverity.WARN,
        passed=outcome.holds,
        metadata={**outcome.found, **rows},
    )


def shown(text: str) -> str:
    """As Dagster's UI shows it in full: it takes descriptions for HTML, in which `<id>` vanishes."""
    return html.escape(text, quote=False)


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


def check_not_in_vain(mill: MillRun) -> None:
    """After a failure Dagster would go on with all that does not depend on it, the sources still open; it could not be
    published."""
    if mill.record.outcome in ("failed", "stopped"):
        raise dg.Failure(f"the run has failed already: {mill.record.reason}", allow_retries=False)


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
