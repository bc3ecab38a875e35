"""Tables as Dagster assets: what it shows of them, and what is told of each when it is made.

Checks run on what was staged; they block, so a failed one keeps `warehouse`, the asset that publishes, from running:
written, audited, then published.
"""

from collections.abc import Iterable, Sequence
from datetime import date
from functools import partial
from typing import Any

import dagster as dg

from dagster_project.contracts import TABLES
from dagster_project.engines import queries
from dagster_project.orchestration.at_load import OWNER
from dagster_project.orchestration.days import BY_DAY
from dagster_project.orchestration.made_by import Maker, code_links, code_version, document_of, tags_of
from dagster_project.orchestration.sql_tables import claims_of, make_sql_table
from dagster_project.orchestration.steps import Make, Phase, shown, step
from dagster_project.orchestration.tags import ASSET_PARTITION_RANGE_END_TAG, ASSET_PARTITION_RANGE_START_TAG
from dagster_project.run.made import Claim


def spec(
    table: str, deps: Iterable[Any] = (), kinds: Iterable[str] = (), by_day: Any = None, maker: Maker | None = None
) -> dg.AssetSpec:
    """What Dagster shows of a table: group by layer, description, columns, code. Without a maker it is made by its query."""
    contract = TABLES[table]
    return dg.AssetSpec(
        table,
        deps=[_on_all_days(dep) for dep in deps] if by_day is None else deps,
        description=shown(contract.description),
        group_name=table.split("_", maxsplit=1)[0],
        kinds={*kinds, "parquet"},
        partitions_def=by_day,
        owners=[OWNER],
        tags=tags_of(table),
        code_version=code_version(table, maker),
        metadata={
            "dagster/column_schema": column_schema(table),
            "dagster/code_references": code_links(table, maker),
            "grain": ", ".join(contract.grain),
            "docs": dg.MetadataValue.path(document_of(table)),  # in the project: who installed a wheel has it elsewhere
        },
    )


def publication_spec(name: str, description: str, publish: Maker) -> dg.AssetSpec:
    """What publishes, which is no table: it needs all of them. Those kept by day come before all others anyway."""
    return dg.AssetSpec(
        name,
        deps=[table for table in TABLES if table not in BY_DAY],
        description=description,
        group_name="serving",
        kinds={"duckdb"},
        owners=[OWNER],
        code_version=code_version(name, publish),
        metadata={
            "dagster/code_references": code_links(name, publish),
            "docs": dg.MetadataValue.path(document_of(name)),
        },
    )


def _on_all_days(dep: Any) -> Any:
    """What is not kept by day needs every day of what is. Dagster would list all days for each such edge in each run."""
    name = dep if isinstance(dep, str) else "" if isinstance(dep, dg.AssetSpec) else dep.node_def.name
    return dg.AssetDep(name, partition_mapping=dg.LastPartitionMapping()) if name in BY_DAY else dep


def column_schema(table: str) -> dg.TableSchema:
    contract = TABLES[table]
    return dg.TableSchema(
        columns=[
            dg.TableColumn(
                name,
                str(contract.polars_schema[name]),
                description=shown(contract.meanings[name].description),
                constraints=dg.TableColumnConstraints(nullable=nullable),
            )
            for name, nullable in contract.columns.items()
        ]
    )


def sql_table(table: str) -> dg.AssetsDefinition:
    """A table made by `sql/<layer>/<table>.sql`, whose header names what it depends on."""
    specs = [spec(table, queries.query(table).inputs, kinds=("duckdb",))]
    return step(table, specs, partial(make_sql_table, table=table), {table: [*claims_of(table).values()]})


def python_table(
    name: str,
    make: Make,
    inputs: Iterable[str],
    claims: Sequence[Claim] = (),
    tables: Sequence[str] = (),
    phase: Phase = Phase.MAKING,
) -> dg.AssetsDefinition:
    """A table made by Python, or several `tables` made in one step of this name; the claims are about each of them."""
    made = tables or [name]
    specs = [spec(table, inputs, kinds=("polars",), maker=make) for table in made]
    return step(name, specs, make, dict.fromkeys(made, claims), phase)


def range_tags(first: date, last: date) -> dict[str, str]:
    """What makes one Dagster run cover a range of partitions."""
    return {ASSET_PARTITION_RANGE_START_TAG: str(first), ASSET_PARTITION_RANGE_END_TAG: str(last)}
