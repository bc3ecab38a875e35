"""The turns of conversations by day: rows from the table, their texts from wherever they lie."""

from collections.abc import Mapping
from datetime import date

import polars as pl

from dagster_project.errors import GristmillError
from dagster_project.intake import DatedTable, OpenFile
from dagster_project.mill_run import MillRun
from dagster_project.raw_tables import Account, DatedIntake, unknown_words
from dagster_project.sources import conversations
from dagster_project.tables import store_days
from dagster_project.turn_texts import NUMBERS_TOGETHER, days_near, number_groups

CODE = ("sources/conversations.py", "turn_texts.py", "signals/json_columns.py")
VOCABULARIES = {"validation_outcome": conversations.OUTCOMES, "user_feedback_status": conversations.STATUSES}


def bring_conversations_up_to_date(run: MillRun, asset: str) -> Account:
    """One dated table of the system."""
    spec = conversations.DATED[asset]
    check_is_conversations(run)
    texts = {file.label: conversations.texts_beside(file.database, spec) for file in run.files_with(spec)}

    def canonical(rows: pl.DataFrame, file: OpenFile) -> pl.DataFrame:
        return conversations.canonical(rows, spec, texts[file.label], file.label)

    def store_kept(rows: pl.DataFrame) -> None:
        store_days(run.lake, asset, rows)
        run.report(asset, rows.height)

    table = DatedTable(spec, canonical, conversations.rules_of(spec), conversations.REWRITTEN)
    work = DatedIntake(run, asset, table, store_kept, code=CODE)
    before = run.lake.catalog.sources.get(asset, {}).get("beside", {})
    beside = {label: found.digests() for label, found in texts.items()}
    account = work.bring_up_to_date(_days_with_other_texts(run, asset, before, beside))
    stored = run.lake.catalog.sources[asset]
    stored["beside"] = before if run.choice.days and before else beside  # days that were not asked for are not read
    known = run.lake.published.sources.get(asset, {}).get("unknown_words")
    if account.changed_days or known is None:
        known = unknown_words(run, asset, VOCABULARIES)
        unreadable = sum(found.unreadable_lines for found in texts.values())
        known |= {"transcripts=unreadable line": unreadable} if unreadable else {}
    stored["unknown_words"] = account.unknown_words = known
    run.accounts[asset] = account
    return account


def _days_with_other_texts(
    run: MillRun, asset: str, before: Mapping[str, Mapping[str, str]], now: Mapping[str, Mapping[str, str]]
) -> set[date]:
    """Days of turns whose transcript or folder looks different from when it was read."""
    changed = {
        name
        for label in {*before, *now}
        for name in {*before.get(label, {}), *now.get(label, {})}
        if before.get(label, {}).get(name) != now.get(label, {}).get(name)
    }
    days = days_near(changed)
    files = run.lake.files(asset)
    if (groups := number_groups(changed)) and files:
        rows = pl.scan_parquet(files, hive_partitioning=False)
        is_meant = (pl.col("turn_number") // NUMBERS_TOGETHER).is_in(groups)
        days |= set(rows.filter(is_meant).select(pl.col("event_date").unique()).collect()["event_date"].to_list())
    return days


def check_is_conversations(run: MillRun) -> None:
    """Either generation may be absent, but a file without both is not what it is configured to be."""
    names = [spec.name for spec in conversations.DATED.values()]
    for file in run.files("conversations"):
        if not file.database.tables & set(names):
            raise GristmillError(f"{file.database.path} has neither a table 'turns' nor a table 'turn_index'")
