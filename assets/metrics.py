"""What is counted, for people. Each is one query in sql/metric."""

from dagster_project.publish import sql_table

metric__distillation_daily = sql_table("metric__distillation_daily")
metric__feedback_daily = sql_table("metric__feedback_daily")
metric__feedback_stats = sql_table("metric__feedback_stats")
metric__error_patterns = sql_table("metric__error_patterns")
metric__source_aggregates = sql_table("metric__source_aggregates")
metric__turn_daily = sql_table("metric__turn_daily")
metric__detector_calibration = sql_table("metric__detector_calibration")
metric__reaction_daily = sql_table("metric__reaction_daily")
