"""The feedback table by day: its rules put together, texts filled in, its keys computed while the text is in memory.

What `responses` knows decides about rows of any day: it may fill in their texts (F1) and it makes orphans. Where it changed,
the days whose rows it would treat otherwise now are read again.
"""

from datetime import date
from functools import partial

import polars as pl

from dagster_project.code_identity import code_identity
from dagster_project.columns.text_keys import has_text
from dagster_project.contracts.columns import DOMAINS
from dagster_project.engines.reading import scan
from dagster_project.intake.dated_tables import DatedIntake
from dagster_project.intake.day_reading import DatedTable
from dagster_project.intake.held_rows import QUARANTINE
from dagster_project.intake.open_files import OpenFile
from dagster_project.intake.own_writes import read_ledger, undo_own_writes
from dagster_project.intake.whole_tables import as_it_is, read_whole_table
from dagster_project.run.made import Made
from dagster_project.run.mill_run import MillRun
from dagster_project.run.source_tables import made_by_day, made_whole
from dagster_project.systems.feedback import schema as schemas
from dagster_project.systems.feedback import source as feedback
from dagster_project.systems.feedback.columns import CORRECTION_TYPES, FLAG_TYPES
from dagster_project.systems.feedback.keys import feedback_keys
from dagster_project.systems.feedback.marks import MARKED as FEEDBACK
from dagster_project.systems.feedback.response_texts import NOWHERE, RESPONSES, TEXTS, ResponseTexts

ENTRIES, KEYS = "raw_feedback__entries", "core__feedback_keys"
VOCABULARIES = {
    "domain": DOMAINS,
    "correction_type": CORRECTION_TYPES,
    "flag_type": FLAG_TYPES,
}
# Tables that are not kept by day: what they are, what is refused of them, whether files are united by key, what makes a
# batch canonical.
SNAPSHOTS = {
    RESPONSES: (feedback.RESPONSES, schemas.RESPONSES, True, feedback.canonical_response),
    "raw_feedback__stored_aggregates": (feedback.STORED_AGGREGATES, schemas.STORED_AGGREGATES, False, as_it_is),
    "raw_feedback__stored_sessions": (feedback.STORED_SESSIONS, schemas.STORED_SESSIONS, False, as_it_is),
}


def read_by_day(run: MillRun, asset: str) -> list[Made]:
    """The one dated table of the system, and the keys of its texts."""
    responses = ResponseTexts(run.lake)
    known = known_responses(run, responses)
    ledger = read_ledger(run.lake.home, FEEDBACK)

    def canonical(rows: pl.DataFrame, file: OpenFile) -> pl.DataFrame:
        own = undo_own_writes(FEEDBACK, ledger, rows, file.label)
        return responses.filled(feedback.canonical(own, str(file.options["rating_scale"])))

    relations = schemas.to_responses(known)
    table = DatedTable(
        feedback.ENTRIES, canonical, schemas.ENTRIES, feedback.REWRITTEN, relations, vocabularies=VOCABULARIES
    )
    scales = {file.label: file.options["rating_scale"] for file in run.config.sources["feedback"]}
    settings = f"{run.config.split_key} {scales}"
    made = {ENTRIES: as_it_is, KEYS: partial(feedback_keys, split_key=run.config.split_key)}
    work = DatedIntake(run, ENTRIES, table, made, code_identity(__name__), settings)
    judged_by = run.lake.catalog.sources.get(ENTRIES, {}).get("responses")
    stale = _refused_otherwise(work, responses, known)
    if judged_by != _version(run):
        stale |= _kept_otherwise(run, responses, known)
    account = work.bring_up_to_date(stale)
    stored = run.lake.catalog.sources[ENTRIES]
    # a run of some days may have left others behind: the next one looks again
    stored["responses"] = _version(run) if stale <= work.read_so_far else None
    return made_by_day(run, asset, account, [KEYS])


def read_whole(run: MillRun, asset: str) -> list[Made]:
    """A table of the system that is not kept by day."""
    spec, schema, is_united, mend = SNAPSHOTS[asset]
    return made_whole(asset, read_whole_table(run, asset, spec, schema, is_united, code_identity(__name__), mend))


def known_responses(run: MillRun, responses: ResponseTexts) -> pl.Series | None:
    """Ids the source's `responses` table knows, refused rows of it included; null where there is no such table (F1)."""
    was_there = {*run.lake.catalog.sources.get(RESPONSES, {}).get("files", {})} & {*run.missing_of("feedback")}
    if not run.files("feedback", feedback.RESPONSES.name) and not was_there:
        return None
    partitions = [p for p in run.lake.partitions(QUARANTINE) if p.startswith(f"{RESPONSES}/")]
    refused = scan(run.lake, QUARANTINE, partitions).select("key").collect()["key"]
    return pl.concat([responses.index["response_id"], refused]).drop_nulls().unique().rename("response_id")


def _refused_otherwise(work: DatedIntake, responses: ResponseTexts, known: pl.Series | None) -> set[date]:
    """Days with a refused row that is an orphan, or lacks a text, and would not be now; or the other way round."""
    refused = work.quarantined().with_columns(
        pl.col("row").str.json_path_match(f"$.{column}").alias(column) for column in ("response_id", *TEXTS)
    )
    told = responses.of(refused["response_id"].drop_nulls())
    refused = refused.join(told.select("response_id", "query", "response"), on="response_id", how="left")

    def was(reason: str) -> pl.Expr:
        return pl.col("reasons").list.contains(reason)

    # a response_id that could not be read names nobody
    is_named = was(schemas.ORPHAN) | ~pl.col("reasons").list.eval(pl.element().str.ends_with(":response_id")).list.any()
    is_orphan = pl.lit(False) if known is None else ~pl.col("response_id").is_in(known.implode())
    changes = [is_named & (was(schemas.ORPHAN) != is_orphan)]
    changes += [
        pl.col(column).is_null() & (was(f"missing:{column}") == (is_named & has_text(other)))
        for column, other in TEXTS.items()
    ]
    changed = refused.filter(pl.any_horizontal(change.fill_null(False) for change in changes))
    return set(changed["event_date"].drop_nulls().to_list())


def _kept_otherwise(run: MillRun, responses: ResponseTexts, known: pl.Series | None) -> set[date]:
    """Days with a row that became an orphan, or that was filled, or not, from another row of `responses` than there is now."""
    rows = scan(run.lake, ENTRIES).select("response_id", "event_date", "filled_from")
    hashes = responses.index.lazy().select("response_id", "response_hash")
    lacking = rows.filter(pl.col("filled_from").is_not_null()).join(hashes, on="response_id", how="left")
    changed = [lacking.filter(pl.col("filled_from") != pl.col("response_hash").fill_null(NOWHERE))]
    if known is not None:
        changed.append(rows.join(known.to_frame().lazy(), on="response_id", how="anti"))
    days = [some.select(pl.col("event_date").unique()).collect(engine="streaming") for some in changed]
    return set(pl.concat(days)["event_date"].to_list())


def _version(run: MillRun) -> list[list[str | int]]:
    """Which `responses` the lake holds, as JSON gives it back."""
    return [list(version) for version in run.lake.versions(RESPONSES)]
