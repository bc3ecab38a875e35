"""Tags of Dagster: on runs (what they were asked for, and by whom), on events and on steps. Public words, kept in one place."""

PARTITION_NAME_TAG = "dagster/partition"
ASSET_PARTITION_RANGE_START_TAG = "dagster/asset_partition_range_start"
ASSET_PARTITION_RANGE_END_TAG = "dagster/asset_partition_range_end"
BACKFILL_ID_TAG = "dagster/backfill"
SCHEDULE_NAME_TAG = "dagster/schedule_name"
SENSOR_NAME_TAG = "dagster/sensor_name"
DATA_VERSION_TAG = "dagster/data_version"  # of a materialisation
PRIORITY_TAG = "dagster/priority"  # of a step
