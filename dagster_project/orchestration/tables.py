"""Tables as Dagster assets: what it shows of them, and what is told of each when it is made.

Checks run on what was staged; they block, so a failed one keeps `warehouse`, the asset that publishes, from running:
written, audited, then published.
"""

import html
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

import dagster as dg

from dagster_project.contracts import TABLES
from dagster_project.engines import queries
from dagster_project.intake.raw_tables import Account, repeated_keys
from dagster_project.orchestration.sql_tables import bring_sql_table_up_to_date
from dagster_project.orchestration.steps import step
from dagster_project.orchestration.tags import ASSET_PARTITION_RANGE_END_TAG, ASSET_PARTITION_RANGE_START_TAG
from dagster_project.registry import DATED_SPECS
from dagster_project.run.mill_run import MillRun

BY_DAY = {*DATED_SPECS, "core__feedback_keys"}  # read by day, so Dagster sees them by day
ACCOUNTED = ("read", "kept", "quarantined", "copies", "not_sampled", "waiting")


def spec(table: str, deps: Iterable[Any] = (), kinds: Iterable[str] = (), by_day: Any = None) -> dg.AssetSpec:
    """What Dagster shows of a table: group by layer, description, columns."""
    contract = TABLES[table]
    return dg.AssetSpec(
        table,
        deps=[_on_all_days(dep) for dep in deps] if by_day is None else deps,
        description=shown(contract.description),
        group_name=table.split("_", maxsplit=1)[0],
        kinds={*kinds, "parquet"},
        partitions_def=by_day,
        metadata={"dagster/column_schema": column_schema(table), "grain": ", ".join(contract.grain)},
    )


def shown(text: str) -> str:
    """As Dagster's UI shows it in full: it takes descriptions for HTML, in which `<id>` vanishes."""
    return html.escape(text, quote=False)


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
                description=shown(contract.meanings[name].description),
                constraints=dg.TableColumnConstraints(nullable=nullable),
            )
            for name, nullable in contract.columns.items()
        ]
    )


def sql_table(table: str, after: Iterable[str] = ()) -> dg.AssetsDefinition:
    """A table made by `sql/<layer>/<table>.sql`, whose header names what it depends on; `after` is order only."""
    chosen = queries.query(table)
    claims = queries.checks_of(table)

    @step(
        table,
        [spec(table, deps=[*chosen.inputs, *after], kinds=("duckdb",))],
        [check_spec(table, claim) for claim in claims],
    )
    def made(mill: MillRun) -> Iterator[dg.MaterializeResult]:
        is_current = not bring_sql_table_up_to_date(mill, table)
        results = [check(mill, table, claim, is_current) for claim in claims]
        yield table_result(mill, table, results, is_current)

    return made


def check_spec(table: str, claim: str) -> dg.AssetCheckSpec:
    return dg.AssetCheckSpec(
        claim.removeprefix(f"{table}__"), asset=table, blocking=True, description=shown(queries.query(claim).what)
    )


def check(mill: MillRun, table: str, claim: str, is_current: bool) -> dg.AssetCheckResult:
    """Run the query that returns offending rows; none may come. What is unchanged passed when it was made."""
    rows, first = 0, []
    if not is_current:
        offending = queries.fetch(mill.lake, claim, mill.params, mill.config.memory_limit_mb)
        rows, first = offending.height, offending.head(5).rows(named=True)
    return dg.AssetCheckResult(
        asset_key=table,
        check_name=claim.removeprefix(f"{table}__"),
        passed=rows == 0,
        metadata={"offending_rows": rows, "first": json.dumps(first, default=str)},
    )


def key_is_once_spec(table: str) -> dg.AssetCheckSpec:
    return dg.AssetCheckSpec("key_is_once", asset=table, blocking=True, description="a key is in the lake once (G7)")


def key_is_once(mill: MillRun, table: str, is_current: bool) -> dg.AssetCheckResult:
    offending = None if is_current else repeated_keys(mill, table, DATED_SPECS[table].key)
    rows = 0 if offending is None else offending.height
    first = [] if offending is None else offending.head(5).rows(named=True)
    return dg.AssetCheckResult(
        asset_key=table,
        check_name="key_is_once",
        passed=rows == 0,
        metadata={"offending_rows": rows, "first": json.dumps(first, default=str)},
    )


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
    mill.record.put_account(table, account, mill.lake.rows(table))
    return [
        dg.AssetCheckResult(
            asset_key=table,
            check_name="rows_add_up",
            passed=account.adds_up,
            metadata={name: getattr(account, name) for name in ACCOUNTED},
        ),
        dg.AssetCheckResult(
            asset_key=table,
            check_name="no_drift",
            severity=dg.AssetCheckSeverity.WARN,
            passed=not (account.missing_columns or account.unknown_columns or account.unknown_words),
            metadata={
                "missing_columns": ", ".join(account.missing_columns),
                "unknown_columns": ", ".join(account.unknown_columns),
                "unknown_words": json.dumps(account.unknown_words),
            },
        ),
    ]


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


def range_tags(first: date, last: date) -> dict[str, str]:
    """What makes one Dagster run cover a range of partitions."""
    return {ASSET_PARTITION_RANGE_START_TAG: str(first), ASSET_PARTITION_RANGE_END_TAG: str(last)}
