"""The distillation tables by day: rules put together, keys computed while the texts are in memory."""

from functools import partial

import polars as pl

from dagster_project.code_identity import code_identity
from dagster_project.engines.stored_tables import store_days
from dagster_project.errors import GristmillError
from dagster_project.intake.days import DatedTable, OpenFile
from dagster_project.intake.own_writes import read_ledger, undo_own_writes
from dagster_project.intake.raw_tables import Account, DatedIntake, bring_snapshot_up_to_date, unknown_words
from dagster_project.run.mill_run import MillRun
from dagster_project.systems.distillation import schema as schemas
from dagster_project.systems.distillation import source as distillation
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
VOCABULARIES = {"domain": distillation.DOMAINS, "reasoning_type": distillation.REASONING_TYPES}


def bring_distillation_up_to_date(run: MillRun, asset: str) -> Account:
    """One dated table of the system."""
    spec = distillation.DATED[asset]
    check_is_distillation(run)

    ledger = read_ledger(run.lake.home, DISTILLATION) if spec is DISTILLATION.spec else None

    def canonical(rows: pl.DataFrame, file: OpenFile) -> pl.DataFrame:
        own = rows if ledger is None else undo_own_writes(DISTILLATION, ledger, rows, file.label)
        return distillation.canonical(own, spec)

    def store_kept(rows: pl.DataFrame) -> None:
        keyed = with_interaction_keys(rows, spec.name, run.config.split_key)
        store_days(run.lake, asset, keyed.rename(STORED_AS, strict=False))
        run.report(asset, rows.height)

    rewritten = [column for column in REWRITTEN if column in spec.columns]
    stored_as = {column: stored for column, stored in STORED_AS.items() if column in spec.columns}
    table = DatedTable(spec, canonical, schemas.DATED[asset], rewritten, stored_as=stored_as)
    work = DatedIntake(run, asset, table, store_kept, code_identity(__name__), settings=run.config.split_key)
    account = work.bring_up_to_date(set())
    stored = run.lake.catalog.sources[asset]
    known = run.lake.published.sources.get(asset, {}).get("unknown_words")
    vocabularies = {column: words for column, words in VOCABULARIES.items() if column in spec.columns}
    is_changed = work.is_stale or account.changed_days or known is None
    stored["unknown_words"] = unknown_words(run, asset, vocabularies) if is_changed else known
    account.unknown_words = stored["unknown_words"]
    run.accounts[asset] = account
    return account


def bring_distillation_snapshot_up_to_date(run: MillRun, asset: str) -> Account:
    """A table of the system that is not kept by day."""
    spec = distillation.UNDATED[asset]
    return bring_snapshot_up_to_date(
        run,
        asset,
        spec,
        schemas.UNDATED[asset],
        is_united=True,
        code=code_identity(__name__),
        mend=partial(distillation.mended_json, table=spec.name),
    )


def check_is_distillation(run: MillRun) -> None:
    """Any generation may be absent, but a file without all of them is not what it is configured to be."""
    tables = [spec.name for spec in (*distillation.DATED.values(), *distillation.UNDATED.values())]
    for file in run.files("distillation"):
        if not file.database.tables & set(tables):
            raise GristmillError(f"{file.database.path} has none of the tables {', '.join(tables)}")
