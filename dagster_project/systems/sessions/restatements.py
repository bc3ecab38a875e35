"""The log of restatements (S3): which figures of a whole day were published otherwise before, or were refused, and why.

What was published before is compared with what is about to be; nothing here reads a clock, so a second run adds nothing. The
log is a part of the state and is written with the publication.
"""

import polars as pl

from dagster_project.engines import reading
from dagster_project.engines.reading import scan
from dagster_project.engines.stored_tables import store
from dagster_project.lake import parquet
from dagster_project.lake.lake import Lake
from dagster_project.run.made import Claim, Made, Outcome
from dagster_project.run.mill_run import MillRun
from dagster_project.systems.sessions.columns import REFUSED
from dagster_project.systems.sessions.frozen_days import DAYS, KEY
from dagster_project.systems.sessions.state import FROZEN, RESTATEMENTS, SessionState
from dagster_project.systems.sessions.tables import TABLES

SESSIONS, DAILY = "core__sessions", "metric__session_daily"
NO_FROZEN_DAY_SHRANK = Claim(
    "no_frozen_day_shrank", "no recomputation of a frozen day with fewer sessions had to be refused (S3)", blocks=False
)
FIGURES = [name for name in TABLES[FROZEN].columns if name not in KEY]
SAID = """
    rating verdict accuracy_score completeness_score style_match_score error_categories output_issues
    has_missing_context
""".split()


def make_restatements(run: MillRun) -> list[Made]:
    """The log, with what this run restates or refuses."""
    lake, state = run.lake, SessionState(run.lake.home)
    log = state.restatements()
    new = log.clear() if run.is_in_the_past else pl.concat([_restated(run), _refused(run, log)])
    new = new.with_columns(pl.int_range(log.height + 1, log.height + 1 + pl.len(), dtype=pl.Int64).alias("entry"))
    store(lake, RESTATEMENTS, [pl.concat([log, new])])
    if new.height:
        run.state_moves.append(state.stage_log(lake.staging, new))
    refused = new.filter(pl.col("why") == REFUSED)["date"].unique().sort()
    stayed = Outcome(NO_FROZEN_DAY_SHRANK, refused.is_empty(), {"days": ", ".join(map(str, refused))})
    return [Made(RESTATEMENTS, new.is_empty(), {"new_entries": new.height}, (stayed,))]


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
    """What was computed of frozen days and is not published. Told once."""
    frozen, days = reading.read(run.lake, FROZEN), reading.read(run.lake, DAYS)
    # a frozen day is as it adds up now, or was kept as it was (`frozen_days.py`)
    kept = frozen.filter(pl.col("date") < run.as_of.date())
    kept = kept.join(days, on=kept.columns, how="anti", nulls_equal=True)
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
    now = scan(run.lake, SESSIONS)
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
