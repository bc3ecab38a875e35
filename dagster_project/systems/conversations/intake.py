"""The turns of conversations by day: rows from the table, their texts from wherever they lie."""

from collections.abc import Mapping
from datetime import date

import polars as pl

from dagster_project.code_identity import code_identity
from dagster_project.columns.similarity import load_model
from dagster_project.config import OF_A_RUN
from dagster_project.contracts.source_table import TableSpec
from dagster_project.engines import reading
from dagster_project.intake.dated_tables import DatedIntake
from dagster_project.intake.day_reading import DatedTable
from dagster_project.intake.open_files import OpenFile, check_has_any
from dagster_project.intake.whole_tables import as_it_is
from dagster_project.run.made import Made
from dagster_project.run.mill_run import MillRun
from dagster_project.run.source_tables import made_by_day
from dagster_project.systems.conversations import schema as schemas
from dagster_project.systems.conversations import source as conversations
from dagster_project.systems.conversations.columns import FEEDBACK_STATUSES
from dagster_project.systems.conversations.tables import TABLES
from dagster_project.systems.conversations.turn_folders import TURN_FOLDER
from dagster_project.systems.conversations.turn_texts import NUMBERS_TOGETHER, TurnTexts, days_near, number_groups

VOCABULARIES = {"validation_outcome": conversations.OUTCOMES, "user_feedback_status": FEEDBACK_STATUSES}


def read_by_day(run: MillRun, asset: str) -> list[Made]:
    """One dated table of the system."""
    spec = conversations.DATED[asset]
    check_has_any(run.files(spec.system), conversations.DATED.values())
    if run.files_with(spec) and run.config.similarity_model != OF_A_RUN["similarity_model"].default:
        load_model(run.config.similarity_model)  # a mistake in it is told before anything is read
    texts = {file.label: conversations.texts_beside(file.database, spec) for file in run.files_with(spec)}

    def canonical(rows: pl.DataFrame, file: OpenFile) -> pl.DataFrame:
        rows = conversations.without_blanks(rows, spec, file.database)
        return conversations.canonical(rows, spec, texts[file.label], _key_file(file, spec))

    table = DatedTable(spec, canonical, schemas.DATED[asset], conversations.REWRITTEN, vocabularies=VOCABULARIES)
    work = DatedIntake(run, asset, table, {asset: as_it_is}, code_identity(__name__))
    stored = run.lake.catalog.sources.get(asset, {})
    before, unreadable = stored.get("beside", {}), stored.get("unreadable_lines", {})
    held = {label: before[label] for label in run.missing_of("conversations") if label in before}  # as they were (G13)
    beside = held | {label: found.digests() for label, found in texts.items()}
    account = work.bring_up_to_date(_days_with_other_texts(run, asset, before, beside))
    stored = run.lake.catalog.sources[asset]
    stored["beside"] = before if run.choice.days and before else beside  # days that were not asked for are not read
    lines = {label: unreadable[label] for label in held if label in unreadable} | _unreadable_lines(unreadable, texts)
    stored["unreadable_lines"] = unreadable = dict(sorted(lines.items()))
    if count := sum(sum(lines.values()) for lines in unreadable.values()):
        account.unknown_words = {**account.unknown_words, "transcripts=unreadable line": count}
    return made_by_day(run, asset, account)


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
    if groups := number_groups(changed):
        rows = reading.scan(run.lake, asset)
        numbers = [pl.col("turn_number")]
        if "doc_path" in TABLES[asset].columns:  # a row may name a folder of another number
            numbers.append(pl.col("doc_path").str.extract(TURN_FOLDER.pattern).cast(pl.Int64))
        is_meant = pl.any_horizontal((number // NUMBERS_TOGETHER).is_in(groups) for number in numbers)
        days |= set(rows.filter(is_meant).select(pl.col("event_date").unique()).collect()["event_date"].to_list())
    return days
