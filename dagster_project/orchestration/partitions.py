"""The daily partitions of raw tables: from the first valid event time (G1) to today."""

import dagster as dg

DAILY = dg.DailyPartitionsDefinition(start_date="2000-01-01", end_offset=1)
