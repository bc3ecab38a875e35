"""What loading the definitions takes from the configuration and the home. Nothing here ever fails: Dagster's UI must come up on
a home that is broken or not there yet, and a run tells its user what is wrong."""

from datetime import UTC, date, datetime
from pathlib import Path

import dagster as dg

from dagster_project import config
from dagster_project.errors import GristmillError
from dagster_project.lake.lake import CATALOG, Catalog
from dagster_project.orchestration.days import days_held
from dagster_project.registry import DATED_SPECS


def first_day(home: Path | None, today: date) -> date:
    """The first day the lake holds. Without a lake, the first of last year: few enough to look at, and a first run reads
    every day whatever it was asked for (G14)."""
    default = date(today.year - 1, 1, 1)
    if home is None:
        return default
    try:
        catalog = Catalog.read(home / "lake" / CATALOG)
    except (GristmillError, OSError):
        return default
    days = (day for table in DATED_SPECS for day in days_held(catalog, table))
    return min(days, default=default)


def configured_home() -> Path | None:
    try:
        return config.home_said(config.everything_said()["home"])
    except (GristmillError, OSError):
        return None


def owner() -> str:
    """Who answers for the tables, as configured, if Dagster takes it."""
    setting = config.SETTINGS["owner"]
    try:
        said = str(setting.parsed(config.everything_said()["owner"].value))
        dg.AssetSpec("tried", owners=[said])
    except (GristmillError, OSError, dg.DagsterInvalidDefinitionError):
        return str(setting.default)
    return said


FIRST_DAY = first_day(configured_home(), datetime.now(UTC).date())
OWNER = owner()
