"""Keeps the record of AI sessions (S3): what is frozen, which sessions are archived, what was restated and why.

The state is an input first (`bring_session_state_up_to_date`) and is written last, with the publication. What was published
before is compared with what is about to be; nothing here reads a clock, so a second run adds nothing.
"""

from collections.abc import Mapping
from datetime import date, timedelta
from pathlib import Path

import polars as pl

from dagster_project.code_identity import code_identity
from dagster_project.contracts import TABLES
from dagster_project.contracts.session_columns import REFUSED
from dagster_project.engines import reading
from dagster_project.engines.stored_tables import fit, store, write
from dagster_project.lake import parquet
from dagster_project.lake.lake import Lake
from dagster_project.run.mill_run import MillRun
from dagster_project.systems.sessions.source import is_sampled
from dagster_project.systems.sessions.state import ARCHIVE, FROZEN, RESTATEMENTS, SessionState

FREEZE_AFTER = timedelta(days=90)
DAYS_TOGETHER = 31  # of the archive, in memory at once
RAW, RETIRED, SESSIONS, DAYS, DAILY = (
    "raw_sessions__sessions",
    "core__retired_sessions",
    "core__sessions",
    "core__session_days",
    "metric__session_daily",
)
KEY = ["tenant_id", "workspace_id", "date"]
FIGURES = [name for name in TABLES[FROZEN].columns if name not in KEY]
SAID = """
    rating verdict accuracy_score completeness_score style_match_score error_categories output_issues
    has_missing_context
""".split()


def frozen_through(run: MillRun) -> date:
    """The last day that is 90 days before as_of."""
    return (run.as_of - FREEZE_AFTER).date()


# --- the state as tables -----------------------------------------------------------------------------------------


def bring_session_state_up_to_date(run: MillRun) -> None:
    """Frozen days, and archived sessions that the source no longer has. Written anew each time: they are small."""
    state = SessionState(run.lake.home)
    store(run.lake, FROZEN, [state.frozen().sort(KEY)])
    store(run.lake, RETIRED, [_retired(run, state)])


def _retired(run: MillRun, state: SessionState) -> pl.DataFrame:
    archived = state.archived()
    if archived is None:
        return TABLES[RETIRED].empty()
    files = run.lake.files(RAW)
    if files:
        present = parquet.scan(files).select(session_id="id")
        archived = archived.join(present, on="session_id", how="anti")
    rows = archived.collect(engine="streaming").sort("event_date", "session_id")
    if run.config.sample_rate < 1:
        rows = rows.filter(is_sampled(rows["session_id"], run.config.sample_rate))
    return rows


# --- the archive -------------------------------------------------------------------------------------------------


def bring_archive_up_to_date(run: MillRun) -> int:
    """The sessions of every frozen day, as they are now; returns how many days had to be written.

    A session leaves the archive only when it is at the source under another day: what the source deleted, or what is not in
    today's sample, stays.
    """
    lake, state = run.lake, SessionState(run.lake.home)
    known = state.archive_files()
    made_from = f"{lake.versions(SESSIONS)} {frozen_through(run)} {code_identity(__name__)}"
    sizes = {str(day): path.stat().st_size for day, path in known.items()}
    if lake.catalog.inputs.get(ARCHIVE) == f"{made_from} {sizes}":
        return 0
    written = 0
    days = _days_to_keep(run, known)
    for start in range(0, len(days), DAYS_TOGETHER):
        written += _archive_days(run, state, days[start : start + DAYS_TOGETHER], sizes)
    for partition in [
        p for p in lake.partitions(ARCHIVE) if date.fromisoformat(p.removeprefix("event_date=")) not in days
    ]:
        lake.drop(ARCHIVE, partition)
    lake.catalog.inputs[ARCHIVE] = f"{made_from} {dict(sorted(sizes.items()))}"
    return written


def _days_to_keep(run: MillRun, known: Mapping[date, Path]) -> list[date]:
    files = run.lake.files(SESSIONS)
    days = set(known)
    if files:
        found = parquet.scan(files).select(pl.col("event_date").unique())
        days |= {day for day in found.collect()["event_date"].to_list() if day <= frozen_through(run)}
    return sorted(days)


def _archive_days(run: MillRun, state: SessionState, days: list[date], sizes: dict[str, int]) -> int:
    """Write those of these days whose sessions are not as they are archived."""
    lake, written = run.lake, 0
    sessions = parquet.scan(lake.files(SESSIONS))
    now = sessions.filter(pl.col("event_date").is_between(days[0], days[-1])).collect()
    before = TABLES[ARCHIVE].empty()
    if (archived := state.archived(days[0], days[-1])) is not None:
        before = archived.collect()
        here = sessions.select("session_id")
        now = pl.concat([now, before.lazy().join(here, on="session_id", how="anti").collect()])
    now, before = (
        rows.select(*TABLES[ARCHIVE].columns).sort("session_id").partition_by("event_date", as_dict=True)
        for rows in (fit(ARCHIVE, now), before)
    )
    for day in days:
        rows, old = (frames.get((day,), TABLES[ARCHIVE].empty()) for frames in (now, before))
        partition = f"event_date={day}"
        is_as_archived = str(day) in sizes and rows.equals(old)
        if not is_as_archived:
            move = state.stage_day(lake.staging, day, rows)
            run.state_moves.append(move)
            sizes[str(day)] = move[0].stat().st_size
            written += 1
        if not rows.height:
            lake.drop(ARCHIVE, partition)
        elif not is_as_archived or partition not in lake.partitions(ARCHIVE):
            write(lake, ARCHIVE, rows, partition)
    return written


# --- restatements ------------------------------------------------------------------------------------------------


def bring_restatements_up_to_date(run: MillRun) -> pl.DataFrame:
    """Store the log with what this run restates or refuses, and freeze; returns the new entries."""
    lake, state = run.lake, SessionState(run.lake.home)
    log = state.restatements()
    new = log.clear() if run.is_in_the_past else pl.concat([_restated(run), _refused(run, log)])
    new = new.with_columns(pl.int_range(log.height + 1, log.height + 1 + pl.len(), dtype=pl.Int64).alias("entry"))
    store(lake, RESTATEMENTS, [pl.concat([log, new])])
    if new.height:
        run.state_moves.append(state.stage_log(lake.staging, new))
    frozen = state.frozen().sort(KEY)
    daily = reading.read(lake, DAILY).filter("is_frozen").select(*TABLES[FROZEN].columns)
    now = pl.concat([daily, frozen.join(daily, on=KEY, how="anti")]).sort(KEY)
    if not now.equals(frozen):
        run.state_moves.append(state.stage_frozen(lake.staging, now))
        store(lake, FROZEN, [now])  # what the next run finds in the state
    return new


def _published(lake: Lake, table: str) -> pl.LazyFrame | None:
    """A table as it was before this run."""
    if "" not in lake.published.tables.get(table, {}):
        return None
    return parquet.scan(lake.folder / table / "part-0.parquet")


def _restated(run: MillRun) -> pl.DataFrame:
    """Figures of whole days that were published otherwise. A day that as_of cut short is not restated, it goes on."""
    lake = run.lake
    before, published_as_of = _published(lake, DAILY), lake.published.as_of
    empty = TABLES[RESTATEMENTS].empty()
    if before is None or published_as_of is None or lake.versions(DAILY) == [("", _version(lake, DAILY))]:
        return empty
    previous = pl.lit(published_as_of).str.to_datetime(time_unit="us", time_zone="UTC")
    is_whole = (pl.col("date") < previous.dt.date()) & (pl.col("date") < run.as_of.date())
    old = before.filter(is_whole).collect()
    new = reading.read(lake, DAILY).filter(is_whole)
    if not set(TABLES[DAILY].columns) <= set(old.columns):
        return empty  # an earlier version had other figures
    changes = _differences(old, new)
    if changes.is_empty():
        return empty
    why = _reasons(run, changes.select(KEY).unique(), old, new)
    entries = changes.join(why, on=KEY, how="left", maintain_order="left")
    return _as_entries(run, entries.with_columns(previous.alias("previous_as_of")))


def _refused(run: MillRun, log: pl.DataFrame) -> pl.DataFrame:
    """Frozen rows that would lose sessions: what was computed and is not published. Told once."""
    frozen, days = reading.read(run.lake, FROZEN), reading.read(run.lake, DAYS)
    totals = days.select(*KEY, pl.col("total_sessions").alias("total_now"))
    is_smaller = pl.col("total_now").fill_null(0) < pl.col("total_sessions")
    kept = frozen.filter(pl.col("date") < run.as_of.date()).join(totals, on=KEY, how="left").filter(is_smaller)
    if kept.is_empty():
        return TABLES[RESTATEMENTS].empty()
    changes = _differences(kept, days.join(kept, on=KEY, how="semi")).with_columns(pl.lit(REFUSED).alias("why"))
    entries = _as_entries(
        run, changes.with_columns(pl.lit(None, dtype=pl.Datetime("us", "UTC")).alias("previous_as_of"))
    )
    told = log.filter(pl.col("why") == REFUSED)
    return entries.join(told, on=[*KEY, "column", "old_value", "new_value"], how="anti", nulls_equal=True)


def _differences(old: pl.DataFrame, new: pl.DataFrame) -> pl.DataFrame:
    """One row per day and figure that differs: `column`, `old_value`, `new_value`."""
    sides = [
        rows.select(*KEY, *(pl.col(c).cast(pl.String) for c in FIGURES)).unpivot(
            index=KEY, variable_name="column", value_name=f"{name}_value"
        )
        for name, rows in (("old", old), ("new", new))
    ]
    both = sides[0].join(sides[1], on=[*KEY, "column"], how="full", coalesce=True)
    return both.filter(pl.col("old_value").ne_missing(pl.col("new_value"))).sort(*KEY, "column")


def _as_entries(run: MillRun, rows: pl.DataFrame) -> pl.DataFrame:
    rows = rows.with_columns(
        pl.lit(run.as_of).cast(pl.Datetime("us", "UTC")).alias("restated_as_of"),
        pl.lit(0, dtype=pl.Int64).alias("entry"),
    )
    return rows.select(*TABLES[RESTATEMENTS].columns)


def _version(lake: Lake, table: str) -> int:
    return lake.published.tables[table][""].version


def _reasons(run: MillRun, days: pl.DataFrame, old: pl.DataFrame, new: pl.DataFrame) -> pl.DataFrame:
    """Why each of these days changed: what became of its sessions and of their feedback."""
    before = _published(run.lake, SESSIONS)
    now = parquet.scan(run.lake.files(SESSIONS))
    wanted = days.lazy()
    columns = ["session_id", "feedback_id", "submitted_at", "edit_distance_pct", "output_edit_distance_pct", *SAID]
    old_sessions, new_sessions = (
        rows.rename({"event_date": "date"}).join(wanted, on=KEY, how="semi").select(*KEY, *columns).collect()
        for rows in (before if before is not None else now.clear(), now)
    )
    both = new_sessions.with_columns(pl.lit(True).alias("is_new")).join(
        old_sessions.with_columns(pl.lit(True).alias("is_old")),
        on=[*KEY, "session_id"],
        how="full",
        coalesce=True,
        suffix=" before",
    )
    rates = new.select(*KEY, "sample_rate").join(
        old.select(*KEY, pl.col("sample_rate").alias("rate_before")), on=KEY, how="inner"
    )
    resampled = rates.filter(pl.col("sample_rate") != pl.col("rate_before")).select(
        *KEY, pl.lit("sample_rate").alias("why")
    )
    stays = pl.col("is_new") & pl.col("is_old")
    given, taken = pl.col("feedback_id").is_not_null(), pl.col("feedback_id before").is_not_null()
    is_same = stays & (pl.col("feedback_id") == pl.col("feedback_id before"))
    is_other = stays & given & taken & (pl.col("feedback_id") != pl.col("feedback_id before"))
    is_later = (pl.col("submitted_at") > pl.col("submitted_at before")) | (
        (pl.col("submitted_at") == pl.col("submitted_at before"))
        & (pl.col("feedback_id") > pl.col("feedback_id before"))
    )
    says_other = pl.any_horizontal(pl.col(c).ne_missing(pl.col(f"{c} before")) for c in SAID)
    other_edits = pl.col("edit_distance_pct").ne_missing(pl.col("edit_distance_pct before"))
    other_output = pl.col("output_edit_distance_pct").ne_missing(pl.col("output_edit_distance_pct before"))
    found = {
        "late_feedback": (stays & given & ~taken) | (is_other & is_later),
        "changed_feedback": is_same & (says_other | (other_edits & ~other_output)),
        "vanished_feedback": (stays & ~given & taken) | (is_other & ~is_later),
        "changed_session": is_same & other_edits & other_output,
        "new_session": pl.col("is_old").is_null(),
        "vanished_session": pl.col("is_new").is_null(),
    }
    told = both.group_by(KEY).agg(condition.fill_null(False).any().alias(reason) for reason, condition in found.items())
    names = pl.concat_list(pl.when(pl.col(reason)).then(pl.lit(reason)) for reason in found).list.drop_nulls()
    reasons = told.select(*KEY, names.alias("why")).explode("why").drop_nulls("why")
    # a day that was sampled otherwise has other sessions for that reason
    comings = reasons.filter(pl.col("why").is_in(["new_session", "vanished_session"])).join(
        resampled, on=KEY, how="semi"
    )
    reasons = (
        pl.concat([reasons.join(comings, on=[*KEY, "why"], how="anti"), resampled])
        .group_by(KEY)
        .agg(pl.col("why").sort().str.join("+"))
    )
    return days.join(reasons, on=KEY, how="left").with_columns(pl.col("why").fill_null("rules"))
