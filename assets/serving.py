"""What people take away. `warehouse` publishes everything the run made, all at once, and comes last."""

from dagster_project.orchestration.publication import publish
from dagster_project.orchestration.steps import step
from dagster_project.orchestration.tables import publication_spec

warehouse = step(
    "warehouse",
    [
        publication_spec(
            "warehouse",
            "warehouse.duckdb, the snapshot it reads, the lake and the release: published together.",
            publish,
        )
    ],
    publish,
)
