"""Days of the lake as Dagster's partitions: which there are, the version of their bytes, and telling Dagster of them."""

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path

import dagster as dg

from dagster_project.errors import GristmillError
from dagster_project.lake.lake import CATALOG, Catalog, StoredFile
from dagster_project.orchestration.history import kept_open_if_it_can
from dagster_project.orchestration.tags import DATA_VERSION_TAG
from dagster_project.registry import DATED_SPECS, SYSTEMS
from dagster_project.run.mill_run import MillRun

PREFIX = "event_date="
# read by day, so Dagster sees them by day
BY_DAY = [
    *DATED_SPECS,
    *(table for system in SYSTEMS.values() for made in system.companions.values() for table in made),
]
CAUGHT_UP = (
    "The lake has held this day since the publication named here; Dagster's history had lost it or never knew of it."
)


def days_held(catalog: Catalog, table: str) -> dict[date, StoredFile]:
    """The days a catalogue has files of, but for the rows that have no day."""
    return {day: file for partition, file in catalog.tables.get(table, {}).items() if (day := day_of(partition))}


def day_of(partition: str) -> date | None:
    try:
        return date.fromisoformat(partition.removeprefix(PREFIX))
    except ValueError:
        return None


def data_version(files: Mapping[str, StoredFile]) -> dg.DataVersion:
    """Of some files of a table, by partition: another one only if bytes changed (`StoredFile.version`).

    Sizes count too: a run that failed has told Dagster of versions that the next one uses again.
    """
    said = [(partition, file.version, file.rows, file.bytes) for partition, file in sorted(files.items())]
    return dg.DataVersion(hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16])


def is_asked_by_day(context: dg.AssetExecutionContext) -> bool:
    return context.has_partition_key or context.has_partition_key_range


def version_of(context: dg.AssetExecutionContext, mill: MillRun, spec: dg.AssetSpec) -> dg.DataVersion:
    """Of what Dagster is told of a table: all of it, or the days it asked for. It takes one version for all days of a range."""
    table = spec.key.to_user_string()
    if table in mill.lake.catalog.views:
        return dg.DataVersion(mill.lake.catalog.inputs[table][:16])
    files = mill.lake.partitions(table)
    if spec.partitions_def is not None and is_asked_by_day(context):
        asked = context.partition_key_range
        files = {
            partition: file
            for partition, file in files.items()
            if (day := day_of(partition)) and asked.start <= str(day) <= asked.end
        }
    return data_version(files)


def report_days(context: dg.AssetExecutionContext, mill: MillRun, specs: Sequence[dg.AssetSpec]) -> None:
    """Of tables by day, the days Dagster does not know of: it was not asked for any, or the run read others too (G7, G14).

    Also of days before its partitions begin: it keeps what it is told, and shows it once they begin earlier.
    """
    for spec in specs:
        table = spec.key.to_user_string()
        account = mill.accounts.get(table) or mill.accounts.get(context.op_def.name)
        if spec.partitions_def is None or account is None:
            continue
        asked = {day for day in account.days_read if mill.choice.includes(day)}
        days = {*account.changed_days} - asked if is_asked_by_day(context) else {*account.changed_days} | asked
        held = days_held(mill.lake.catalog, table)
        for day in sorted(days):
            if day <= mill.began.date():  # a partition begins when its day does
                context.log_event(_event(table, day, held.get(day)))


def report_published_days(instance: dg.DagsterInstance, home: Path) -> None:
    """Before somebody looks at the UI: no run may have gone by since the history was lost. A broken lake is a run's to tell of."""
    with contextlib.suppress(GristmillError):
        report_held_days(instance, Catalog.read(home / "lake" / CATALOG))


def report_held_days(instance: dg.DagsterInstance, catalog: Catalog) -> int:
    """Tell Dagster of published days its history lacks: it was removed, or the home was made elsewhere. Returns how many.

    As events of no run: no run made them. One question for each table tells what is lacking, and mostly that is nothing.
    """
    lacking = list(_lacking(instance, catalog))
    with kept_open_if_it_can(instance.event_log_storage) if lacking else contextlib.nullcontext():
        for event in lacking:
            instance.report_runless_asset_event(event)
    return len(lacking)


def _lacking(instance: dg.DagsterInstance, catalog: Catalog) -> Iterator[dg.AssetMaterialization]:
    for table in BY_DAY:
        held = days_held(catalog, table)
        known = instance.get_materialized_partitions(dg.AssetKey(table)) if held else set()
        yield from (_event(table, day, file, CAUGHT_UP) for day, file in held.items() if str(day) not in known)


def _event(table: str, day: date, file: StoredFile | None, said: str | None = None) -> dg.AssetMaterialization:
    version = data_version({f"{PREFIX}{day}": file} if file else {})
    metadata = {"dagster/row_count": file.rows if file else 0, "publication": file.version if file else 0}
    tags = {DATA_VERSION_TAG: version.value}
    return dg.AssetMaterialization(table, said, metadata if file else {"dagster/row_count": 0}, str(day), tags)
