"""Answers to surveys by day."""

import polars as pl
from dagster_project.systems.surveys import schema as schemas
from dagster_project.systems.surveys import source as surveys

from dagster_project.code_identity import code_identity
from dagster_project.intake.dated_tables import DatedIntake
from dagster_project.intake.day_reading import DatedTable
from dagster_project.intake.open_files import OpenFile
from dagster_project.intake.whole_tables import as_it_is
from dagster_project.run.made import Made
from dagster_project.run.mill_run import MillRun
from dagster_project.run.source_tables import made_by_day


def read_by_day(run: MillRun, asset: str) -> list[Made]:
    def canonical(rows: pl.DataFrame, file: OpenFile) -> pl.DataFrame:
        return surveys.canonical(rows, file.options["language"])

    table = DatedTable(surveys.ANSWERS, canonical, schemas.ANSWERS)
    languages = str([(file.label, file.options["language"]) for file in run.config.sources["surveys"]])
    work = DatedIntake(run, asset, table, {asset: as_it_is}, code_identity(__name__), settings=languages)
    return made_by_day(run, asset, work.bring_up_to_date(set()))
