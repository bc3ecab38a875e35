"""What is counted, for people. Each is one query in sql/metric, but for the logs of what was restated."""

from dagster_project.orchestration.tables import python_table, sql_table
from dagster_project.run.daily_restatements import make_daily_restatements, watched_tables
from dagster_project.systems.sessions.restatements import NO_FROZEN_DAY_SHRANK, make_restatements

metric__distillation_daily = sql_table("metric__distillation_daily")
metric__feedback_daily = sql_table("metric__feedback_daily")
metric__feedback_stats = sql_table("metric__feedback_stats")
metric__error_patterns = sql_table("metric__error_patterns")
metric__source_aggregates = sql_table("metric__source_aggregates")
metric__turn_daily = sql_table("metric__turn_daily")
metric__detector_calibration = sql_table("metric__detector_calibration")
metric__detector_class_calibration = sql_table("metric__detector_class_calibration")
metric__reaction_daily = sql_table("metric__reaction_daily")
metric__session_daily = sql_table("metric__session_daily")
metric__session_slice_daily = sql_table("metric__session_slice_daily")
metric__context_effectiveness = sql_table("metric__context_effectiveness")
metric__session_baseline = sql_table("metric__session_baseline")
metric__satisfaction_daily = sql_table("metric__satisfaction_daily")
metric__daily_restatements = python_table(
    "metric__daily_restatements", make_daily_restatements, inputs=[*watched_tables(), "core__reviews"]
)
metric__restatements = python_table(
    "metric__restatements",
    make_restatements,
    inputs=["metric__session_daily", "core__session_days", "core__frozen_session_days", "core__sessions"],
    claims=[NO_FROZEN_DAY_SHRANK],
)
