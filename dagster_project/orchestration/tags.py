"""Tags by which Dagster marks its runs: what they were asked for, and by whom. Public words of its, kept here in one place."""

PARTITION_NAME_TAG = "dagster/partition"
ASSET_PARTITION_RANGE_START_TAG = "dagster/asset_partition_range_start"
ASSET_PARTITION_RANGE_END_TAG = "dagster/asset_partition_range_end"
BACKFILL_ID_TAG = "dagster/backfill"
SCHEDULE_NAME_TAG = "dagster/schedule_name"
SENSOR_NAME_TAG = "dagster/sensor_name"
