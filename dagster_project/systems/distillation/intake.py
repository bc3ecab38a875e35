"""The distillation tables by day: rules put together, keys computed while the texts are in memory."""

from functools import partial

import polars as pl

from dagster_project.code_identity import code_identity
from dagster_project.intake.dated_tables import DatedIntake
from dagster_project.intake.day_reading import DatedTable
from dagster_project.intake.open_files import OpenFile, check_has_any
from dagster_project.intake.own_writes import read_ledger, undo_own_writes
from dagster_project.intake.whole_tables import read_whole_table
from dagster_project.run.made import Made
from dagster_project.run.mill_run import MillRun
from dagster_project.run.source_tables import made_by_day, made_whole
from dagster_project.systems.distillation import schema as schemas
from dagster_project.systems.distillation import source as distillation
from dagster_project.systems.distillation.columns import REASONING_TYPES
from dagster_project.systems.distillation.interaction_keys import with_interaction_keys
from dagster_project.systems.distillation.marks import MARKED as DISTILLATION

# What the source, or our own write-back (D9), rewrites after the fact: copies of a row may differ in these.
REWRITTEN = tuple(
    """
    quality_score quality_flags human_reviewed reviewer_notes training_ready training_format export_count
    last_exported_at approved reviewed_at exported_at processed
""".split()
)
STORED_AS = {"quality_flags": "stored_flags"}  # the source's JSON text; everywhere else flags are a list
VOCABULARIES = {"domain": distillation.DOMAINS, "reasoning_type": REASONING_TYPES}


def read_by_day(run: MillRun, asset: str) -> list[Made]:
    """One dated table of the system."""
    spec = distillation.DATED[asset]
    check_has_any(run.files(spec.system), (*distillation.DATED.values(), *distillation.UNDATED.values()))

    ledger = read_ledger(run.lake.home, DISTILLATION) if spec is DISTILLATION.spec else None

    def canonical(rows: pl.DataFrame, file: OpenFile) -> pl.DataFrame:
        own = rows if ledger is None else undo_own_writes(DISTILLATION, ledger, rows, file.label)
        return distillation.canonical(own, spec)

    def stored(rows: pl.DataFrame) -> pl.DataFrame:
        return with_interaction_keys(rows, spec.name, run.config.split_key).rename(STORED_AS, strict=False)

    rewritten = [column for column in REWRITTEN if column in spec.columns]
    stored_as = {column: stored for column, stored in STORED_AS.items() if column in spec.columns}
    vocabularies = {column: words for column, words in VOCABULARIES.items() if column in spec.columns}
    table = DatedTable(spec, canonical, schemas.DATED[asset], rewritten, stored_as=stored_as, vocabularies=vocabularies)
    work = DatedIntake(run, asset, table, {asset: stored}, code_identity(__name__), settings=run.config.split_key)
    return made_by_day(run, asset, work.bring_up_to_date(set()))


def read_whole(run: MillRun, asset: str) -> list[Made]:
    """A table of the system that is not kept by day."""
    spec = distillation.UNDATED[asset]
    account = read_whole_table(
        run,
        asset,
        spec,
        schemas.UNDATED[asset],
        is_united=True,
        code=code_identity(__name__),
        mend=partial(distillation.mended_json, table=spec.name),
    )
    return made_whole(asset, account)
