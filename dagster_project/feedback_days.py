"""The feedback table by day: its rules put together, its keys computed while the text is in memory."""

from datetime import date

import polars as pl

from dagster_project.intake import DatedTable, OpenFile
from dagster_project.mill_run import MillRun
from dagster_project.quarantine import Rule
from dagster_project.raw_tables import QUARANTINE, Account, DatedIntake, unknown_words
from dagster_project.signals.feedback_keys import feedback_keys
from dagster_project.sources import feedback
from dagster_project.tables import store_days
from dagster_project.writeback_ledger import FEEDBACK, read_ledger, undo_own_writes

ENTRIES, KEYS, RESPONSES = "raw_feedback__entries", "core__feedback_keys", "raw_feedback__responses"
ORPHAN = "orphan:response_id"
VOCABULARIES = {
    "domain": feedback.DOMAINS, "correction_type": feedback.CORRECTION_TYPES, "flag_type": feedback.FLAG_TYPES,
}  # fmt: skip
KEYS_CODE = (
    "sources/feedback.py", "signals/text_keys.py", "signals/feedback_keys.py", "signals/error_type.py",
    "training/templates.py", "writeback_ledger.py",
)  # fmt: skip


def bring_feedback_up_to_date(run: MillRun) -> Account:
    known = known_responses(run)
    rules = list(feedback.ENTRY_RULES)
    if known is not None:
        is_known = pl.col("response_id").is_in(known.implode())
        rules.append(Rule(ORPHAN, pl.col("response_id").is_not_null() & (pl.col("response_id") != "") & ~is_known))

    ledger = read_ledger(run.lake.home, FEEDBACK)

    def canonical(rows: pl.DataFrame, file: OpenFile) -> pl.DataFrame:
        own = undo_own_writes(FEEDBACK, ledger, rows, file.label)
        return feedback.canonical(own, file.options["rating_scale"])

    def store_kept(rows: pl.DataFrame) -> None:
        store_days(run.lake, ENTRIES, rows)
        store_days(run.lake, KEYS, feedback_keys(rows, run.config.split_key))
        run.report(ENTRIES, rows.height)

    table = DatedTable(feedback.ENTRIES, canonical, rules, feedback.REWRITTEN)
    scales = {file.label: file.options["rating_scale"] for file in run.files("feedback")}
    settings = f"{run.config.split_key} {scales}"
    work = DatedIntake(run, ENTRIES, table, store_kept, companions=[KEYS], code=KEYS_CODE, settings=settings)
    account = work.bring_up_to_date(_days_with_other_orphans(run, work, known))
    stored = run.lake.catalog.sources[ENTRIES]
    known_words = run.lake.published.sources.get(ENTRIES, {}).get("unknown_words")
    is_changed = account.changed_days or known_words is None
    stored["unknown_words"] = unknown_words(run, ENTRIES, VOCABULARIES) if is_changed else known_words
    account.unknown_words = stored["unknown_words"]
    run.accounts[ENTRIES] = account
    return account


def known_responses(run: MillRun) -> pl.Series | None:
    """Ids the source's `responses` table knows, refused rows of it included; null where there is no such table (F1)."""
    if not run.files("feedback", feedback.RESPONSES.name):
        return None
    files = run.lake.files(RESPONSES)
    kept = pl.read_parquet(files, columns=["response_id"])["response_id"] if files else pl.Series([], dtype=pl.String)
    partitions = [p for p in run.lake.partitions(QUARANTINE) if p.startswith(f"{RESPONSES}/")]
    refused = [pl.read_parquet(path, columns=["key"])["key"] for path in run.lake.files(QUARANTINE, partitions)]
    return pl.concat([kept, *refused]).drop_nulls().unique().rename("response_id")


def _days_with_other_orphans(run: MillRun, work: DatedIntake, known: pl.Series | None) -> set[date]:
    """Days on which a row became an orphan, or ceased to be one, because the table of responses changed."""
    refused = work.quarantined().with_columns(
        pl.col("row").str.json_path_match("$.response_id").alias("response_id"),
        pl.col("reasons").list.contains(ORPHAN).alias("was_orphan"),
    )
    is_judged = (
        pl.col("was_orphan") | ~pl.col("reasons").list.eval(pl.element().str.ends_with(":response_id")).list.any()
    )
    is_orphan = pl.lit(False) if known is None else ~pl.col("response_id").is_in(known.implode())
    changed = refused.filter(is_judged & (pl.col("was_orphan") != is_orphan))
    days = set(changed["event_date"].drop_nulls().to_list())
    files = run.lake.files(KEYS)
    if known is not None and files and run.lake.versions(RESPONSES) != _published_versions(run):
        keys = pl.scan_parquet(files, hive_partitioning=False).select("response_id", "event_date")
        lost = keys.join(known.to_frame().lazy(), on="response_id", how="anti").select(pl.col("event_date").unique())
        days |= set(lost.collect(engine="streaming")["event_date"].to_list())
    return days


def _published_versions(run: MillRun) -> list[tuple[str, int]]:
    return [(p, stored.version) for p, stored in sorted(run.lake.published.tables.get(RESPONSES, {}).items())]
