"""The sessions of an ISO week with feedback submitted in time, as the anonymised export takes them (S6).

In time is before 14 days after the week's end. Of several feedbacks the latest of those counts: `core__sessions` has the latest
before as_of, so where that one came too late, its query is asked again about just these sessions, without what came late.
So a week is the same whether it is made on the day it closes or a year later.
"""

from datetime import date, timedelta

import polars as pl

from dagster_project.columns.spaces import SPACES
from dagster_project.columns.words import word
from dagster_project.contracts import TABLES
from dagster_project.engines import queries, reading
from dagster_project.lake.lake import Lake
from dagster_project.training.anonymised_weeks import WEEK, closes_at

SESSIONS, RAW, FEEDBACK, RETIRED, NODES = (
    "core__sessions",
    "raw_sessions__sessions",
    "raw_sessions__feedback",
    "core__retired_sessions",
    "raw_sessions__context_nodes",
)
KEYS = {RAW: "id"}  # of the session, in the inputs of core__sessions
TAKEN = tuple(
    """
    user_id context_types context_token_count rating error_categories accuracy_score completeness_score
    style_match_score edit_distance_pct
""".split()
)

READ = ("session_id", "submitted_at", "document_ids", *(name for name in TAKEN if name != "context_types"))


class RatedSessions:
    """What the lake, with what this run staged, has of them."""

    def __init__(self, lake: Lake, memory_limit_mb: int) -> None:
        self.lake, self.memory_limit_mb = lake, memory_limit_mb
        self._types = self._document_types()

    def mondays(self) -> list[date]:
        """Of the weeks in which a session began that has feedback."""
        mondays = reading.scan(self.lake, SESSIONS).filter(pl.col("feedback_id").is_not_null())
        found = mondays.select(pl.col("event_date").dt.truncate("1w").unique()).collect(engine="streaming")
        return sorted(found.to_series())

    def of_week(self, monday: date) -> pl.DataFrame:
        """A row per session, with the columns `anonymise` takes."""
        days = pl.col("event_date").is_between(monday, monday + WEEK - timedelta(days=1))
        rated = (
            reading.scan(self.lake, SESSIONS).filter(days & pl.col("feedback_id").is_not_null()).select(READ).collect()
        )
        is_late = pl.col("submitted_at") >= closes_at(monday)
        late = rated.filter(is_late)["session_id"]
        rows = pl.concat([rated.filter(~is_late), self._in_time(monday, late)])
        return rows.join(self._context_types(rows), on="session_id", how="left").select(TAKEN)

    def _in_time(self, monday: date, sessions: pl.Series) -> pl.DataFrame:
        """These sessions of a week with the feedback that counted when it closed, if there was any."""
        if sessions.is_empty():
            return TABLES[SESSIONS].empty().select(READ)
        moment = closes_at(monday)
        is_early = pl.col("submitted_at") < moment
        chosen = queries.query(SESSIONS)
        with queries.engine(self.lake, self.memory_limit_mb) as connection:
            for table in chosen.inputs:
                rows = reading.scan(self.lake, table, self._days_to_look_at(table, monday)).filter(
                    pl.col(KEYS.get(table, "session_id")).is_in(sessions.implode())
                )
                if table == FEEDBACK:
                    rows = rows.filter(is_early)
                elif table == RETIRED:
                    rows = rows.with_columns(pl.when(is_early).then("feedback_id").alias("feedback_id"))
                connection.register(table, rows.collect(engine="streaming").to_arrow())
            found = connection.sql(chosen.sql, params={"as_of": moment, "spaces": SPACES}).pl()
        found = found.select(pl.col(name).cast(dtype) for name, dtype in TABLES[SESSIONS].polars_schema.items())
        return found.filter(pl.col("feedback_id").is_not_null()).select(READ)

    def _days_to_look_at(self, table: str, monday: date) -> list[str] | None:
        """Sessions lie by the day they began, feedback by the day it was given: a week costs a week, not the history."""
        first, end = monday, monday + WEEK
        if table == FEEDBACK:  # it may be dated before its session
            first, end = date.min, closes_at(monday).date()
        elif table != RAW:
            return None
        return [p for p in self.lake.partitions(table) if f"event_date={first}" <= p < f"event_date={end}"]

    def _document_types(self) -> pl.DataFrame:
        nodes = (
            reading.scan(self.lake, NODES)
            .select(pl.col("id").alias("document_ids"), word("type").alias("type"))
            .collect()
        )
        return nodes.filter(pl.col("type") != "")

    def _context_types(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Per session the different types of its documents. Documents nobody knows the type of add none."""
        documents = rows.select("session_id", "document_ids").explode("document_ids")
        types = documents.join(self._types, on="document_ids").group_by("session_id")
        return types.agg(pl.col("type").unique().sort().alias("context_types"))
