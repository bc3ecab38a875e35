"""What comes in. Each table holds every valid row of its source; refused ones are in quarantine__rows."""

from dagster_project.orchestration.source_tables import raw_tables, source
from dagster_project.orchestration.steps import Phase
from dagster_project.orchestration.tables import python_table
from dagster_project.registry import SYSTEMS
from dagster_project.run.refused_rows import count_refused_rows

SOURCES = [source(system) for system in SYSTEMS.values()]
RAW_TABLES = [table for system in SYSTEMS.values() for table in raw_tables(system)]

# the tables above wrote their refused rows; nothing is read from the sources after this
quarantine__rows = python_table(
    "quarantine__rows",
    count_refused_rows,
    inputs=[table for system in SYSTEMS.values() for table in (*system.dated, *system.undated)],
    phase=Phase.LETTING_GO,
)
