"""What is counted, for people. Each is one query in sql/metric, but for the log of what was restated."""

from collections.abc import Iterator

import dagster as dg

from dagster_project.contracts.session_columns import REFUSED
from dagster_project.orchestration.sql_tables import inputs_hash
from dagster_project.orchestration.steps import step
from dagster_project.orchestration.tables import spec, sql_table, table_result
from dagster_project.run.mill_run import MillRun
from dagster_project.systems.sessions.record import bring_restatements_up_to_date

metric__distillation_daily = sql_table("metric__distillation_daily")
metric__feedback_daily = sql_table("metric__feedback_daily")
metric__feedback_stats = sql_table("metric__feedback_stats")
metric__error_patterns = sql_table("metric__error_patterns")
metric__source_aggregates = sql_table("metric__source_aggregates")
metric__turn_daily = sql_table("metric__turn_daily")
metric__detector_calibration = sql_table("metric__detector_calibration")
metric__reaction_daily = sql_table("metric__reaction_daily")
metric__session_daily = sql_table("metric__session_daily")
metric__session_slice_daily = sql_table("metric__session_slice_daily")
metric__context_effectiveness = sql_table("metric__context_effectiveness")
metric__session_baseline = sql_table("metric__session_baseline")
metric__satisfaction_daily = sql_table("metric__satisfaction_daily")


@step(
    "metric__restatements",
    [
        spec(
            "metric__restatements",
            deps=["metric__session_daily", "core__session_days", "core__frozen_session_days", "core__sessions"],
            kinds=("polars",),
        )
    ],
    [
        dg.AssetCheckSpec(
            "no_frozen_day_shrank",
            asset="metric__restatements",
            description="no recomputation of a frozen day with fewer sessions had to be refused (S3)",
        )
    ],
)
def metric__restatements(mill: MillRun) -> Iterator[dg.MaterializeResult]:
    entries = bring_restatements_up_to_date(mill)
    # made from the days that were frozen before, the table is the same when made from those that are frozen now
    mill.lake.catalog.inputs["metric__session_daily"] = inputs_hash(mill, "metric__session_daily")
    refused = entries.filter(entries["why"] == REFUSED)
    stayed = dg.AssetCheckResult(
        asset_key="metric__restatements",
        check_name="no_frozen_day_shrank",
        severity=dg.AssetCheckSeverity.WARN,
        passed=refused.is_empty(),
        metadata={"days": ", ".join(map(str, refused["date"].unique().sort()))},
    )
    more = {"new_entries": entries.height}
    yield table_result(mill, "metric__restatements", [stayed], is_current=entries.is_empty(), more=more)
