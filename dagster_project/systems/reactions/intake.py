"""Reactions and turn logs by day, from the one table that holds both."""

import polars as pl

from dagster_project.code_identity import code_identity
from dagster_project.engines.stored_tables import store_days
from dagster_project.intake.days import DatedTable, OpenFile
from dagster_project.intake.raw_tables import Account, DatedIntake
from dagster_project.run.mill_run import MillRun
from dagster_project.systems.reactions import schema as schemas
from dagster_project.systems.reactions import source as reactions


def bring_reactions_up_to_date(run: MillRun, asset: str) -> Account:
    """One of the parts that are read of `conv_messages`."""
    spec = reactions.DATED[asset]

    def canonical(rows: pl.DataFrame, file: OpenFile) -> pl.DataFrame:
        return reactions.canonical(rows, spec, file.options["tenant"], file.options["project"])

    def store_kept(rows: pl.DataFrame) -> None:
        store_days(run.lake, asset, rows)
        run.report(asset, rows.height)

    places = [(file.label, file.tenant, file.project) for file in run.config.sources["reactions"]]
    table = DatedTable(spec, canonical, schemas.DATED[asset], reactions.REWRITTEN)
    work = DatedIntake(run, asset, table, store_kept, code_identity(__name__), settings=str(places))
    account = work.bring_up_to_date(set())
    account.missing_columns = [name for name in account.missing_columns if name not in reactions.ALTERNATIVES]
    run.accounts[asset] = account
    return account
