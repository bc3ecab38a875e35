"""The turns of conversations by day: rows from the table, their texts from wherever they lie."""

from collections.abc import Mapping
from datetime import date

import polars as pl

from dagster_project.code_identity import code_identity
from dagster_project.columns.similarity import load_model
from dagster_project.contracts import TABLES
from dagster_project.contracts.source_table import TableSpec
from dagster_project.engines.stored_tables import store_days
from dagster_project.errors import GristmillError
from dagster_project.intake.days import DatedTable, OpenFile
from dagster_project.intake.raw_tables import Account, DatedIntake, unknown_words
from dagster_project.lake import parquet
from dagster_project.run.mill_run import MillRun
from dagster_project.systems.conversations import schema as schemas
from dagster_project.systems.conversations import source as conversations
from dagster_project.systems.conversations.turn_folders import TURN_FOLDER
from dagster_project.systems.conversations.turn_texts import NUMBERS_TOGETHER, TurnTexts, days_near, number_groups

VOCABULARIES = {"validation_outcome": conversations.OUTCOMES, "user_feedback_status": conversations.STATUSES}


def bring_conversations_up_to_date(run: MillRun, asset: str) -> Account:
    """One dated table of the system."""
    spec = conversations.DATED[asset]
    check_is_conversations(run)
    if run.files_with(spec) and run.config.similarity_model != "wordllama":
        load_model(run.config.similarity_model)  # a mistake in it is told before anything is read
    texts = {file.label: conversations.texts_beside(file.database, spec) for file in run.files_with(spec)}

    def canonical(rows: pl.DataFrame, file: OpenFile) -> pl.DataFrame:
        rows = conversations.without_blanks(rows, spec, file.database)
        return conversations.canonical(rows, spec, texts[file.label], _key_file(file, spec))

    def store_kept(rows: pl.DataFrame) -> None:
        store_days(run.lake, asset, rows)
        run.report(asset, rows.height)

    table = DatedTable(spec, canonical, schemas.DATED[asset], conversations.REWRITTEN)
    work = DatedIntake(run, asset, table, store_kept, code_identity(__name__))
    stored = run.lake.catalog.sources.get(asset, {})
    before, unreadable = stored.get("beside", {}), stored.get("unreadable_lines", {})
    held = {label: before[label] for label in run.missing_of("conversations") if label in before}  # as they were (G13)
    beside = held | {label: found.digests() for label, found in texts.items()}
    account = work.bring_up_to_date(_days_with_other_texts(run, asset, before, beside))
    stored = run.lake.catalog.sources[asset]
    stored["beside"] = before if run.choice.days and before else beside  # days that were not asked for are not read
    lines = {label: unreadable[label] for label in held if label in unreadable} | _unreadable_lines(unreadable, texts)
    stored["unreadable_lines"] = unreadable = dict(sorted(lines.items()))
    published = run.lake.published.sources.get(asset, {})
    known = published.get("unknown_words")
    is_other = work.is_stale or account.changed_days or published.get("unreadable_lines") != unreadable
    if is_other or known is None:
        known = unknown_words(run, asset, VOCABULARIES)
        count = sum(sum(lines.values()) for lines in unreadable.values())
        known |= {"transcripts=unreadable line": count} if count else {}
    stored["unknown_words"] = account.unknown_words = known
    run.accounts[asset] = account
    return account


def _key_file(file: OpenFile, spec: TableSpec) -> str:
    """What stands for an unknown user in a turn's key: the file, and of its older table that too where it has both."""
    has_both = spec is conversations.OLD_TURNS and conversations.TURNS.name in file.database.tables
    return f"{file.label}:{spec.name}" if has_both else file.label


def _unreadable_lines(
    before: Mapping[str, Mapping[str, int]], texts: Mapping[str, TurnTexts]
) -> dict[str, dict[str, int]]:
    """Per file and day of transcripts with any: those read now as counted now, the others as they were when read."""
    found = {}
    for label, beside in texts.items():
        counts = {day: count for day, count in before.get(label, {}).items() if day in beside.transcript_days}
        counts = {day: count for day, count in (counts | beside.unreadable_lines).items() if count}
        if counts:
            found[label] = dict(sorted(counts.items()))
    return found


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
        rows = parquet.scan(files)
        numbers = [pl.col("turn_number")]
        if "doc_path" in TABLES[asset].columns:  # a row may name a folder of another number
            numbers.append(pl.col("doc_path").str.extract(TURN_FOLDER.pattern).cast(pl.Int64))
        is_meant = pl.any_horizontal((number // NUMBERS_TOGETHER).is_in(groups) for number in numbers)
        days |= set(rows.filter(is_meant).select(pl.col("event_date").unique()).collect()["event_date"].to_list())
    return days


def check_is_conversations(run: MillRun) -> None:
    """Either generation may be absent, but a file without both is not what it is configured to be."""
    names = [spec.name for spec in conversations.DATED.values()]
    for file in run.files("conversations"):
        if not file.database.tables & set(names):
            raise GristmillError(f"{file.database.path} has neither a table 'turns' nor a table 'turn_index'")
