"""Tables as Dagster assets: read inputs, validate, write, tell Dagster what happened; and starting runs of them.

A table is made again only if its inputs, its query or its parameters changed (G12). Checks run on what was staged; they
block, so a failed one keeps `warehouse`, the asset that publishes, from running: written, audited, then published.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import dagster as dg
from dagster._core.storage.tags import ASSET_PARTITION_RANGE_END_TAG, ASSET_PARTITION_RANGE_START_TAG

from dagster_project import queries
from dagster_project.contracts import TABLES
from dagster_project.extract import SourceLocked
from dagster_project.mill_run import DATED_SPECS, STOP, MillRun
from dagster_project.raw_tables import Account, repeated_keys
from dagster_project.tables import store_query

Mill = dg.ResourceParam[MillRun]
BY_DAY = {*DATED_SPECS, "core__feedback_keys"}  # read by day, so Dagster sees them by day
LOCKED_RETRIES, LOCKED_WAIT_SECONDS = 3, 10
ACCOUNTED = ("read", "kept", "quarantined", "copies", "not_sampled", "waiting")


def spec(table: str, deps: Iterable[Any] = (), kinds: Iterable[str] = (), by_day: Any = None) -> dg.AssetSpec:
    """What Dagster shows of a table: group by layer, description, columns."""
    contract = TABLES[table]
    return dg.AssetSpec(
        table,
        deps=[_on_all_days(dep) for dep in deps] if by_day is None else deps,
        description=contract.description,
        group_name=table.split("_", maxsplit=1)[0],
        kinds={*kinds, "parquet"},
        partitions_def=by_day,
        metadata={"dagster/column_schema": column_schema(table), "grain": ", ".join(contract.grain)},
    )


def _on_all_days(dep: Any) -> Any:
    """What is not kept by day needs every day of what is. Dagster would list 9,800 days for each such edge in each run."""
    name = dep if isinstance(dep, str) else "" if isinstance(dep, dg.AssetSpec) else dep.node_def.name
    return dg.AssetDep(name, partition_mapping=dg.LastPartitionMapping()) if name in BY_DAY else dep


def column_schema(table: str) -> dg.TableSchema:
    contract = TABLES[table]
    return dg.TableSchema(
        columns=[
            dg.TableColumn(
                name,
                str(contract.polars_schema[name]),
                description=contract.meanings[name].description,
                constraints=dg.TableColumnConstraints(nullable=nullable),
            )
            for name, nullable in contract.columns.items()
        ]
    )


def sql_table(table: str, after: Iterable[str] = ()) -> dg.AssetsDefinition:
    """A table made by `sql/<layer>/<table>.sql`, whose header names what it depends on; `after` is order only."""
    chosen = queries.query(table)
    claims = queries.checks_of(table)

    @dg.multi_asset(
        name=table,
        specs=[spec(table, deps=[*chosen.inputs, *after], kinds=("duckdb",))],
        check_specs=[check_spec(table, claim) for claim in claims],
    )
    def made(mill: Mill) -> Iterator[dg.MaterializeResult]:
        STOP.check()
        lake = mill.lake
        partition = f"release_date={mill.release_date}" if table.startswith("train__") else ""
        inputs = inputs_hash(mill, chosen)
        is_current = lake.catalog.inputs.get(table) == inputs and partition in lake.partitions(table)
        if not is_current:
            rows = store_query(lake, table, mill.params, mill.config.memory_limit_mb, partition)
            lake.catalog.inputs[table] = inputs
            mill.report(table, rows)
        results = [check(mill, table, claim, is_current) for claim in claims]
        yield table_result(mill, table, results, is_current)

    return made


def inputs_hash(mill: MillRun, chosen: queries.Query, more: Any = None) -> str:
    """G12: what a table was made from. Bytes of inputs by version, query by text, parameters by value."""
    parts = {
        "query": chosen.hash,
        "contract": TABLES[chosen.name].layout if chosen.name in TABLES else "",
        "params": {name: str(mill.params[name]) for name in chosen.params},
        "inputs": {name: mill.lake.versions(name) for name in chosen.inputs},
        "more": more,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def check_spec(table: str, claim: str) -> dg.AssetCheckSpec:
    return dg.AssetCheckSpec(
        claim.removeprefix(f"{table}__"), asset=table, blocking=True, description=queries.query(claim).what
    )


def check(mill: MillRun, table: str, claim: str, is_current: bool) -> dg.AssetCheckResult:
    """Run the query that returns offending rows; none may come. What is unchanged passed when it was made."""
    rows, first = 0, []
    if not is_current:
        offending = queries.fetch(mill.lake, claim, mill.params, mill.config.memory_limit_mb)
        rows, first = offending.height, offending.head(5).rows(named=True)
    return dg.AssetCheckResult(
        asset_key=table, check_name=claim.removeprefix(f"{table}__"), passed=rows == 0,
        metadata={"offending_rows": rows, "first": json.dumps(first, default=str)},
    )  # fmt: skip


def key_is_once_spec(table: str) -> dg.AssetCheckSpec:
    return dg.AssetCheckSpec("key_is_once", asset=table, blocking=True, description="a key is in the lake once (G7)")


def key_is_once(mill: MillRun, table: str, is_current: bool) -> dg.AssetCheckResult:
    offending = None if is_current else repeated_keys(mill, table)
    rows = 0 if offending is None else offending.height
    first = [] if offending is None else offending.head(5).rows(named=True)
    return dg.AssetCheckResult(
        asset_key=table, check_name="key_is_once", passed=rows == 0,
        metadata={"offending_rows": rows, "first": json.dumps(first, default=str)},
    )  # fmt: skip


def table_result(
    mill: MillRun,
    table: str,
    checks: Sequence[dg.AssetCheckResult] = (),
    is_current: bool = False,
    more: Mapping[str, Any] | None = None,
) -> dg.MaterializeResult:
    metadata = {
        "dagster/row_count": mill.lake.rows(table),
        "path": dg.MetadataValue.path(str(mill.lake.folder / table)),
        "unchanged": is_current,
        **(more or {}),
    }
    return dg.MaterializeResult(asset_key=table, metadata=metadata, check_results=list(checks))


def account_results(mill: MillRun, table: str, account: Account) -> list[dg.AssetCheckResult]:
    """Conservation (G3) blocks; drift (G5, G8) only tells."""
    return [
        dg.AssetCheckResult(
            asset_key=table, check_name="rows_add_up", passed=account.adds_up,
            metadata={name: getattr(account, name) for name in ACCOUNTED},
        ),
        dg.AssetCheckResult(
            asset_key=table, check_name="no_drift", severity=dg.AssetCheckSeverity.WARN,
            passed=not (account.missing_columns or account.unknown_columns or account.unknown_words),
            metadata={
                "missing_columns": ", ".join(account.missing_columns),
                "unknown_columns": ", ".join(account.unknown_columns),
                "unknown_words": json.dumps(account.unknown_words),
            },
        ),
    ]  # fmt: skip


def account_check_specs(table: str) -> list[dg.AssetCheckSpec]:
    return [
        dg.AssetCheckSpec(
            "rows_add_up",
            asset=table,
            blocking=True,
            description="read = kept + quarantined + copies + not sampled (G3)",
        ),
        dg.AssetCheckSpec(
            "no_drift", asset=table, description="no missing or unknown columns, no unknown words (G5, G8)"
        ),
    ]


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


def run_in_process(assets: Sequence[Any], mill: MillRun, dagster_home: Path | None = None) -> dg.ExecuteInProcessResult:
    """Materialise everything in this process, in an already open run. Dagster's own log stays quiet."""
    instance = dg.DagsterInstance.from_config(str(dagster_home)) if dagster_home else dg.DagsterInstance.ephemeral()
    with instance:
        return dg.materialize(
            assets,
            resources={"mill": mill},
            instance=instance,
            selection=dg.AssetSelection.all() - dg.AssetSelection.assets(*tables_without_a_source(mill, assets)),
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            tags=range_tags(*mill.choice.days) if mill.choice.days else {},
        )


def tables_without_a_source(mill: MillRun, assets: Sequence[Any]) -> list[str]:
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
        idle |= raw if system in ("feedback", "distillation") else _made_of(raw, assets)
    return sorted(idle)


def _made_of(tables: set[str], assets: Sequence[Any]) -> set[str]:
    """These tables and all that is made of nothing else, step by step."""
    steps = [
        ({spec.key.to_user_string() for spec in step.specs},
         {dep.asset_key.to_user_string() for spec in step.specs for dep in spec.deps})
        for step in assets
        if isinstance(step, dg.AssetsDefinition)
    ]  # fmt: skip
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


def range_tags(first: date, last: date) -> dict[str, str]:
    """What makes one Dagster run cover a range of partitions."""
    return {ASSET_PARTITION_RANGE_START_TAG: str(first), ASSET_PARTITION_RANGE_END_TAG: str(last)}
