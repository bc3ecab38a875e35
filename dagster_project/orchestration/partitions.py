"""The daily partitions of raw tables: from the first day the lake holds to today.

A run that brings an older day is made all the same: it is asked for by `days` in the run's config instead of by partition, and
what it reports waits in Dagster's history. The next load begins at that day and shows it.
"""

import dagster as dg

from dagster_project.orchestration.at_load import FIRST_DAY

DAILY = dg.DailyPartitionsDefinition(start_date=str(FIRST_DAY), end_offset=1)
