"""AI sessions and their feedback by day, their documents and outputs as they are: rules put together, orphans found.

Feedback belongs to a session the source has, refused rows included, or that the archive keeps (S3). Sessions come and go after
their feedback was read, so every run looks again at the days whose feedback would be judged otherwise now.
"""

from collections.abc import Sequence
from datetime import date

import polars as pl

from dagster_project.code_identity import code_identity
from dagster_project.contracts.source_table import TableSpec
from dagster_project.engines.reading import scan
from dagster_project.intake.account import Account
from dagster_project.intake.dated_tables import DatedIntake
from dagster_project.intake.day_reading import DatedTable
from dagster_project.intake.held_rows import QUARANTINE
from dagster_project.intake.open_files import OpenFile
from dagster_project.intake.whole_tables import as_it_is, read_whole_table
from dagster_project.run.made import Made
from dagster_project.run.mill_run import MillRun
from dagster_project.run.source_tables import made_by_day, made_whole
from dagster_project.systems.sessions import output_edits
from dagster_project.systems.sessions import schema as schemas
from dagster_project.systems.sessions import source as sessions
from dagster_project.systems.sessions.state import SessionState
from dagster_project.systems.sessions.tables import TABLES

SESSIONS, FEEDBACK, OUTPUTS = "raw_sessions__sessions", "raw_sessions__feedback", "raw_sessions__outputs"
WORDS = {
    "error_categories": (*sessions.CATEGORIES, *sessions.WEB_CATEGORIES),
    "output_issues": sessions.ISSUES,
}


def read_by_day(run: MillRun, asset: str) -> list[Made]:
    """One dated table of the system."""
    account = {SESSIONS: _read_sessions, FEEDBACK: _read_feedback}[asset](run)
    shapes = [file.database.shape(sessions.DATED[asset]) for file in run.files("sessions")]
    account.missing_columns = _really_missing(account.missing_columns, [shape.missing for shape in shapes])
    return made_by_day(run, asset, account)


def _read_sessions(run: MillRun) -> Account:
    def canonical(rows: pl.DataFrame, _: OpenFile) -> pl.DataFrame:
        return _sampled(run, sessions.canonical_sessions(rows), "id")

    table = DatedTable(sessions.SESSIONS, canonical, schemas.SESSIONS)
    return _intake(run, SESSIONS, table).bring_up_to_date(set())


def _read_feedback(run: MillRun) -> Account:
    known = known_sessions(run)

    def canonical(rows: pl.DataFrame, _: OpenFile) -> pl.DataFrame:
        rows = _sampled(run, sessions.canonical_feedback(rows), "session_id")
        is_in_sample = pl.col("is_sampled") if "is_sampled" in rows.columns else pl.lit(True)
        return _with_session(rows, known).with_columns(is_in_sample.alias("is_in_sample"))

    table = DatedTable(
        sessions.FEEDBACK, canonical, schemas.FEEDBACK, relations=schemas.TO_SESSIONS, vocabularies=WORDS
    )
    work = _intake(run, FEEDBACK, table)
    return work.bring_up_to_date(_days_with_other_orphans(run, work, known))


def _intake(run: MillRun, asset: str, table: DatedTable) -> DatedIntake:
    return DatedIntake(
        run, asset, table, {asset: as_it_is}, code_identity(__name__), settings=f"{run.config.sample_rate}"
    )


def _really_missing(missing: Sequence[str], by_file: Sequence[Sequence[str]]) -> list[str]:
    """Without those that every file has under their other spelling."""
    other = {**sessions.SPELLINGS, **{new: old for old, new in sessions.SPELLINGS.items()}}
    is_spelled = {c: all(c not in lacks or other[c] not in lacks for lacks in by_file) for c in missing if c in other}
    return [column for column in missing if not is_spelled.get(column)]


def _sampled(run: MillRun, rows: pl.DataFrame, key: str) -> pl.DataFrame:
    rate = run.config.sample_rate
    return rows if rate == 1 else rows.with_columns(sessions.is_sampled(rows[key], rate).alias("is_sampled"))


# --- whose feedback it is ----------------------------------------------------------------------------------------


def known_sessions(run: MillRun) -> pl.DataFrame:
    """`session_id` and `session_tenant_id` of every session: those read, those refused, those the archive keeps.

    One that is known twice is judged by the first: what the source says now.
    """
    kept = scan(run.lake, SESSIONS).select(session_id="id", session_tenant_id="tenant_id")
    refused = scan(run.lake, QUARANTINE, [p for p in run.lake.partitions(QUARANTINE) if p.startswith(f"{SESSIONS}/")])
    tenant = pl.col("row").str.json_path_match("$.tenant_id")
    named = refused.select(session_id="key", session_tenant_id=tenant).drop_nulls("session_id")
    parts = [kept.collect(), named.collect()]
    archived = SessionState(run.lake.home).archived()
    if archived is not None:
        parts.append(archived.select("session_id", session_tenant_id="tenant_id").collect())
    return pl.concat(parts)


def _with_session(rows: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """Beside each feedback whether its session is known, and whose it is. Looks the few up among the many."""
    meant = known.filter(pl.col("session_id").is_in(rows["session_id"].unique().implode()))
    meant = meant.unique("session_id", keep="first", maintain_order=True).with_columns(pl.lit(True).alias("is_known"))
    joined = rows.join(meant, on="session_id", how="left", maintain_order="left")
    return joined.with_columns(pl.col("is_known").fill_null(False))


def _days_with_other_orphans(run: MillRun, work: DatedIntake, known: pl.DataFrame) -> set[date]:
    """Days with feedback whose session has come, gone or changed hands since it was judged."""
    refused = work.quarantined().with_columns(
        pl.col("row").str.json_path_match("$.session_id").alias("session_id"),
        pl.col("row").str.json_path_match("$.tenant_id").alias("tenant_id"),
        *(
            pl.col("reasons").list.contains(reason).alias(f"was {reason}")
            for reason in (schemas.ORPHAN, schemas.OTHER_TENANT)
        ),
    )
    # of a value that could not be read nothing can be said, then or now
    blamed = pl.col("reasons").list.eval(pl.element().str.split(":").list.last())
    is_read = {c: ~blamed.list.contains(c) for c in ("session_id", "tenant_id")}
    now = _with_session(refused, known)
    is_orphan = ~pl.col("is_known") & pl.lit(sessions.is_sampled(now["session_id"], run.config.sample_rate))
    is_mismatch = (pl.col("tenant_id") != pl.col("session_tenant_id")).fill_null(False)
    is_other = (
        pl.when(pl.col(f"was {schemas.ORPHAN}") | is_read["session_id"]).then(
            pl.col(f"was {schemas.ORPHAN}") != is_orphan
        )
        | pl.when(pl.col(f"was {schemas.OTHER_TENANT}") | is_read["tenant_id"]).then(
            pl.col(f"was {schemas.OTHER_TENANT}") != is_mismatch
        )
    ).fill_null(False)
    days = set(now.filter(is_other)["event_date"].drop_nulls().to_list())
    published = [(p, stored.version) for p, stored in sorted(run.lake.published.tables.get(SESSIONS, {}).items())]
    if run.lake.versions(SESSIONS) != published:
        kept = scan(run.lake, FEEDBACK).select("session_id", "tenant_id", "event_date")
        good = (
            known.lazy()
            .unique("session_id", keep="first", maintain_order=True)
            .select("session_id", pl.col("session_tenant_id").alias("tenant_id"), pl.lit(True).alias("is_good"))
        )
        # of a refused session without a readable tenant the tenant is anyone's
        anyone = good.filter(pl.col("tenant_id").is_null()).select("session_id")
        lost = kept.join(good, on=["session_id", "tenant_id"], how="anti").join(anyone, on="session_id", how="anti")
        days |= set(lost.select(pl.col("event_date").unique()).collect(engine="streaming")["event_date"].to_list())
    return days


# --- tables without days -----------------------------------------------------------------------------------------


def read_whole(run: MillRun, asset: str) -> list[Made]:
    """A table of the system that is not kept by day."""
    spec = sessions.UNDATED[asset]
    if asset == OUTPUTS:
        return made_whole(asset, _read_outputs(run, spec))
    code, mend = code_identity(__name__), sessions.canonical_nodes
    account = read_whole_table(run, asset, spec, schemas.CONTEXT_NODES, is_united=True, code=code, mend=mend)
    return made_whole(asset, account)


def _read_outputs(run: MillRun, spec: TableSpec) -> Account:
    measure = code_identity(output_edits.__name__)
    is_kept = str(run.lake.catalog.sources.get(OUTPUTS, {}).get("rules", "")).endswith(measure)
    known = scan(run.lake, OUTPUTS) if is_kept else TABLES[OUTPUTS].empty().lazy()
    kept = known.select(*output_edits.KEPT).collect()

    def mend(rows: pl.DataFrame) -> pl.DataFrame:
        return output_edits.with_edit_distances(_sampled(run, rows, "session_id"), kept)

    return read_whole_table(
        run,
        OUTPUTS,
        spec,
        schemas.OUTPUTS,
        is_united=True,
        code=code_identity(__name__),
        mend=mend,
        settings=f"{run.config.sample_rate} {measure}",
    )
