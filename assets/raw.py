"""What comes in. Each table holds every valid row of its source; refused ones are in quarantine__rows."""

from collections.abc import Iterator
from datetime import UTC, datetime

import dagster as dg
import polars as pl

from dagster_project.extract import TableSpec
from dagster_project.feedback_days import bring_feedback_up_to_date
from dagster_project.mill_run import STOP
from dagster_project.partitions import DAILY
from dagster_project.publish import (
    Mill,
    account_check_specs,
    account_results,
    check,
    check_spec,
    retries_if_locked,
    spec,
    table_result,
)
from dagster_project.quarantine import Rule
from dagster_project.raw_tables import bring_snapshot_up_to_date
from dagster_project.sources import feedback

source_feedback = dg.AssetSpec(
    "source_feedback", group_name="sources", kinds={"sqlite"}, description="SAM's feedback.db (seed 0)"
)


def snapshot_table(
    table: str, source: dg.AssetSpec, table_spec: TableSpec, rules: tuple[Rule, ...], is_united: bool
) -> dg.AssetsDefinition:
    """An optional source table that is not kept by day."""

    @dg.multi_asset(
        name=table, specs=[spec(table, deps=[source], kinds=("polars",))], check_specs=account_check_specs(table)
    )
    def read(context: dg.AssetExecutionContext, mill: Mill) -> Iterator[dg.MaterializeResult]:
        STOP.check()
        with retries_if_locked(context, mill):
            account = bring_snapshot_up_to_date(mill, table, table_spec, rules, is_united)
        yield table_result(mill, table, account_results(mill, table, account))

    return read


raw_feedback__responses = snapshot_table(
    "raw_feedback__responses", source_feedback, feedback.RESPONSES, feedback.RESPONSE_RULES, is_united=True
)
raw_feedback__stored_aggregates = snapshot_table(
    "raw_feedback__stored_aggregates",
    source_feedback,
    feedback.STORED_AGGREGATES,
    feedback.STORED_AGGREGATE_RULES,
    is_united=False,
)
raw_feedback__stored_sessions = snapshot_table(
    "raw_feedback__stored_sessions",
    source_feedback,
    feedback.STORED_SESSIONS,
    feedback.STORED_SESSION_RULES,
    is_united=False,
)


@dg.multi_asset(
    name="raw_feedback__entries",
    specs=[
        spec("raw_feedback__entries", deps=[source_feedback, raw_feedback__responses], kinds=("polars",), by_day=DAILY),
        spec("core__feedback_keys", deps=["raw_feedback__entries"], kinds=("polars",), by_day=DAILY),
    ],
    check_specs=[
        *account_check_specs("raw_feedback__entries"),
        check_spec("raw_feedback__entries", "raw_feedback__entries__key_is_once"),
    ],
    backfill_policy=dg.BackfillPolicy.single_run(),
)
def raw_feedback__entries(context: dg.AssetExecutionContext, mill: Mill) -> Iterator[dg.MaterializeResult]:
    STOP.check()
    with retries_if_locked(context, mill):
        account = bring_feedback_up_to_date(mill)
    tables = ("raw_feedback__entries", "core__feedback_keys")
    if not context.has_partition_key_range and not context.has_partition_key:
        for table in tables:  # the run chose the days itself (G7): say which ones changed
            for day in account.changed_days:
                if day <= datetime.now(UTC).date():  # a partition begins when its day does
                    context.log_event(dg.AssetMaterialization(table, partition=str(day)))
    more = {"days_read": len(account.days_read), "days_changed": len(account.changed_days)}
    once = check(mill, tables[0], "raw_feedback__entries__key_is_once", is_current=not account.changed_days)
    yield table_result(mill, tables[0], [*account_results(mill, tables[0], account), once], more=more)
    yield table_result(mill, tables[1], more=more)


@dg.multi_asset(
    name="quarantine__rows",
    specs=[
        spec(
            "quarantine__rows",
            deps=[
                raw_feedback__entries,
                raw_feedback__responses,
                raw_feedback__stored_aggregates,
                raw_feedback__stored_sessions,
            ],
            kinds=("polars",),
        )
    ],
)
def quarantine__rows(mill: Mill) -> Iterator[dg.MaterializeResult]:
    """The tables above wrote their refused rows; here they are counted. Nothing is read from the sources after this."""
    STOP.check()
    mill.close_sources()
    files = mill.lake.files("quarantine__rows")
    reasons: dict[str, int] = {}
    if files:
        counts = pl.scan_parquet(files, hive_partitioning=False).select(pl.col("reasons").explode()).collect()
        reasons = dict(counts["reasons"].value_counts(sort=True).iter_rows())
    yield table_result(mill, "quarantine__rows", more={"reasons": reasons})
