"""A system's databases and the tables read from them as Dagster assets, from what the system declares."""

from functools import partial

import dagster as dg

from dagster_project.orchestration.at_load import OWNER
from dagster_project.orchestration.made_by import page_of
from dagster_project.orchestration.partitions import DAILY
from dagster_project.orchestration.steps import Phase, shown, step
from dagster_project.orchestration.tables import spec
from dagster_project.run.made import Made
from dagster_project.run.mill_run import MillRun
from dagster_project.run.source_tables import OF_DATED, OF_WHOLE
from dagster_project.systems.declaration import System


def source(system: System) -> dg.AssetSpec:
    """Where the system's rows come from; nothing of ours makes it."""
    return dg.AssetSpec(
        f"source_{system.name}",
        group_name="sources",
        kinds=set(system.kinds),
        description=shown(system.about),
        owners=[OWNER],
        tags={"gristmill/system": system.name},
        metadata={"docs": dg.MetadataValue.path(page_of(system.document))},
    )


def raw_tables(system: System) -> list[dg.AssetsDefinition]:
    """One step for each table of the system, but for those that a table by day judges: Dagster wants them in its step."""
    first = [table for table in system.dated if system.judged_by.get(table) not in system.dated]
    return [*(_whole(system, table) for table in system.undated), *(_by_day(system, table) for table in first)]


def _whole(system: System, table: str) -> dg.AssetsDefinition:
    read = system.read_whole
    assert read, f"{system.name} declares no way to read {table}"
    specs = [spec(table, deps=[source(system)], kinds=("polars",), maker=read)]
    return step(table, specs, lambda run: read(run, table), {table: OF_WHOLE}, Phase.READING)


def _by_day(system: System, table: str) -> dg.AssetsDefinition:
    """A table that is kept by day, what is made with it while its texts are in memory, and the tables by day it judges."""
    judged = [name for name, judge in system.judged_by.items() if judge == table]
    deps = {table: [system.judged_by[table]] if table in system.judged_by else []} | {name: [table] for name in judged}
    by_day = partial(spec, kinds=("polars",), by_day=DAILY, maker=system.read_by_day)
    specs = [
        *(by_day(name, deps=[source(system), *more]) for name, more in deps.items()),
        *(by_day(name, deps=[table]) for name in system.companions.get(table, ())),
    ]

    def make(run: MillRun) -> list[Made]:
        return [made for name in deps for made in system.read_by_day(run, name)]

    policy = dg.BackfillPolicy.single_run()
    return step(table, specs, make, dict.fromkeys(deps, OF_DATED), Phase.READING, backfill_policy=policy)
