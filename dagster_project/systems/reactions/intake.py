"""Reactions and turn logs by day, from the one table that holds both."""

import polars as pl

from dagster_project.code_identity import code_identity
from dagster_project.intake.dated_tables import DatedIntake
from dagster_project.intake.day_reading import DatedTable
from dagster_project.intake.open_files import OpenFile
from dagster_project.intake.whole_tables import as_it_is
from dagster_project.run.made import Made
from dagster_project.run.mill_run import MillRun
from dagster_project.run.source_tables import made_by_day
from dagster_project.systems.reactions import schema as schemas
from dagster_project.systems.reactions import source as reactions


def read_by_day(run: MillRun, asset: str) -> list[Made]:
    """One of the parts that are read of `conv_messages`."""
    spec = reactions.DATED[asset]

    def canonical(rows: pl.DataFrame, file: OpenFile) -> pl.DataFrame:
        return reactions.canonical(rows, spec, file.options["tenant"] or "", file.options["project"] or "")

    places = [(file.label, file.options["tenant"], file.options["project"]) for file in run.config.sources["reactions"]]
    table = DatedTable(spec, canonical, schemas.DATED[asset], reactions.REWRITTEN)
    work = DatedIntake(run, asset, table, {asset: as_it_is}, code_identity(__name__), settings=str(places))
    account = work.bring_up_to_date(set())
    account.missing_columns = [name for name in account.missing_columns if name not in reactions.ALTERNATIVES]
    return made_by_day(run, asset, account)
