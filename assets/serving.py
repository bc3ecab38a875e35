"""What people take away. `warehouse` publishes everything the run made, all at once, and comes last."""

from collections.abc import Iterator

import dagster as dg

from dagster_project.contracts import TABLES
from dagster_project.orchestration.publication import publish
from dagster_project.orchestration.steps import step
from dagster_project.orchestration.tables import BY_DAY
from dagster_project.run.mill_run import MillRun
from dagster_project.run.missing_files import told


@step(
    "warehouse",
    [
        dg.AssetSpec(
            "warehouse",
            deps=[name for name in TABLES if name not in BY_DAY],  # those come before all others anyway
            group_name="serving",
            kinds={"duckdb"},
            description="warehouse.duckdb, the snapshot it reads, the lake and the release: published together.",
        )
    ],
)
def warehouse(mill: MillRun) -> Iterator[dg.MaterializeResult]:
    changed = publish(mill)
    yield dg.MaterializeResult(
        asset_key="warehouse",
        metadata={
            "publication": mill.lake.published.publication,
            "changed": changed,
            "as_of": mill.as_of.isoformat(),
            "missing_files": told(mill.missing, mill.lake.published),
        },
    )
