"""AI sessions and their reviews (seed 4): what the tables hold, and how a row becomes one of ours.

Only what depends on one row lives here; what it must be is its schema's. Which feedback counts for a session is
`sql/core/core__sessions.sql`'s; which sessions there are, and so which feedback belongs to none, is `intake.py`'s.
"""

from collections.abc import Sequence

import polars as pl
import polars_hash

from dagster_project.columns.instants import instant, repair_milliseconds
from dagster_project.columns.json_columns import json_kinds, says_something, string_items
from dagster_project.contracts.source_table import TableSpec

CATEGORIES = tuple("missing_context wrong_context ignored_constraints hallucination style_mismatch other".split())
WEB_CATEGORIES = ("outdated_info", "wrong_style", "incomplete", "incorrect_pattern")  # mapped in core__sessions (S1)
ISSUES = ("hallucination", "missed_requirement", "style_issue", "security_concern", "performance_concern")
SCORES = ("accuracy_score", "completeness_score", "style_match_score")

SESSIONS = TableSpec(
    system="sessions",
    name="ai_sessions",
    columns={
        "id": "id",
        "tenant_id": "id",
        "workspace_id": "id",
        "slice_id": "id",
        "user_id": "id",
        "context_document_ids": "list",
        "context_node_ids": "list",
        "context_token_count": "integer",
        "context_compiled_at": "time",
        "query_hash": "text",
        "started_at": "time",
        "ended_at": "time",
        "created_at": "time",
    },
    required=("id", "tenant_id", "workspace_id", "user_id", "started_at"),
    key="id",
    event_time="started_at",
    edited=("id", "tenant_id", "workspace_id", "slice_id", "user_id", "started_at", "ended_at", "context_token_count"),
    measured=("context_document_ids", "context_node_ids", "query_hash"),
)
FEEDBACK = TableSpec(
    system="sessions",
    name="session_feedback",
    columns={
        "id": "id",
        "tenant_id": "id",
        "session_id": "id",
        "rating": "text",
        "error_categories": "list",
        "missing_context": "text",
        "comment": "text",
        "accuracy_score": "integer",
        "completeness_score": "integer",
        "style_match_score": "integer",
        "review_verdict": "text",
        "edit_distance": "integer",
        "output_issues": "list",
        "submitted_at": "time",
        "submitted_by": "id",
        "submitted_by_id": "id",
    },
    required=("id", "tenant_id", "session_id", "rating", "submitted_at"),
    key="id",
    event_time="submitted_at",
    edited=tuple(
        """
        id tenant_id session_id rating error_categories accuracy_score completeness_score
        style_match_score review_verdict edit_distance output_issues submitted_at submitted_by
        submitted_by_id
    """.split()
    ),
    measured=("missing_context", "comment"),
)
CONTEXT_NODES = TableSpec(
    system="sessions",
    name="context_nodes",
    columns={
        "id": "id",
        "tenant_id": "id",
        "type": "text",
        "layer": "id",
        "name": "text",
        "token_count": "integer",
        "deleted_at": "time",
    },
    required=("id",),
    key="id",
    edited=("id", "tenant_id", "type", "layer", "token_count", "deleted_at"),
    measured=("name",),
    left_behind=("freshness",),
    is_optional=True,
)
OUTPUTS = TableSpec(
    system="sessions",
    name="session_outputs",
    columns={"session_id": "id", "original": "text", "revised": "text"},
    required=("session_id", "original", "revised"),
    key="session_id",
    edited=("session_id",),
    measured=("original", "revised"),
    is_optional=True,
)
DATED = {"raw_sessions__sessions": SESSIONS, "raw_sessions__feedback": FEEDBACK}
UNDATED = {"raw_sessions__context_nodes": CONTEXT_NODES, "raw_sessions__outputs": OUTPUTS}
# Columns that come under one name or the other; one of the two is enough.
SPELLINGS = {"context_document_ids": "context_node_ids", "submitted_by": "submitted_by_id"}
LISTS = {
    SESSIONS.name: ("context_document_ids", "context_node_ids"),
    FEEDBACK.name: ("error_categories", "output_issues"),
}


def is_sampled(ids: pl.Series, rate: float) -> pl.Series:
    """Whether a session belongs to the sample (S7): its hash's place in [0, 1) is below the rate, so samples are nested."""
    digits = ids.alias("id").to_frame().select(polars_hash.col("id").chash.sha2_256().str.head(8).alias("digits"))
    place = pl.col("digits").str.to_integer(base=16, dtype=pl.Int64) / 2**32
    return digits.select((place < rate).fill_null(True).alias("is_sampled")).to_series()


def with_lists(rows: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """JSON arrays as lists of texts, empty where there is none; `<column> is bad` where the text is no JSON array."""
    filled = rows.select(says_something(c) for c in columns)
    parsed: list[pl.Series] = []
    for column in columns:
        if not filled[column].any():
            parsed += [
                pl.Series(column, [[]], dtype=pl.List(pl.String)).new_from_index(0, rows.height),
                pl.repeat(False, rows.height, dtype=pl.Boolean, eager=True).alias(f"{column} is bad"),
            ]
            continue
        is_array = (json_kinds(rows.select(pl.col(column).alias("a")))["a"] == "ARRAY").fill_null(False)
        arrays = rows.select(pl.when(is_array).then(pl.col(column))).to_series()
        items = string_items(arrays).cast(pl.List(pl.String))
        empty = pl.lit([], dtype=pl.List(pl.String))
        parsed += [
            items.to_frame(column).select(pl.col(column).fill_null(empty)).to_series(),
            (filled[column] & ~is_array).alias(f"{column} is bad"),
        ]
    return rows.with_columns(parsed)


def _with_instants(rows: pl.DataFrame, times: Sequence[str]) -> pl.DataFrame:
    """Times as instants (G1); one outside the valid range is null, and `repairs` says so. The first is the event's."""
    rows = repair_milliseconds(rows, times)
    found = {c: instant(pl.col(c)) for c in times}
    notes = [pl.when(pl.col(c).is_not_null() & found[c].is_null()).then(pl.lit(f"{c}:out_of_range")) for c in times[1:]]
    rows = rows.with_columns(
        pl.col(times[0]).is_not_null().alias("has_time"),
        found[times[0]].alias("occurred_at"),
        pl.concat_list("repairs", *notes).list.drop_nulls().alias("repairs"),
    )
    rows = rows.with_columns(moment.alias(c) for c, moment in found.items())
    return rows.with_columns(pl.col("occurred_at").dt.date().alias("event_date"))


def canonical_sessions(rows: pl.DataFrame) -> pl.DataFrame:
    rows = _with_instants(rows, ("started_at", "ended_at", "context_compiled_at", "created_at"))
    rows = with_lists(rows, LISTS[SESSIONS.name])
    documents = pl.when(pl.col("context_document_ids").list.len() > 0).then("context_document_ids")
    return rows.with_columns(documents.otherwise("context_node_ids").alias("context_document_ids"))


def canonical_feedback(rows: pl.DataFrame) -> pl.DataFrame:
    """Scores and edit distances outside 0..100 are nothing, and `repairs` says so (S2)."""
    rows = with_lists(_with_instants(rows, ("submitted_at",)), LISTS[FEEDBACK.name])
    odd = {c: (~pl.col(c).is_between(0, 100)).fill_null(False) for c in (*SCORES, "edit_distance")}
    notes = [pl.when(is_odd).then(pl.lit(f"{c}:out_of_range")) for c, is_odd in odd.items()]
    return rows.with_columns(
        pl.coalesce("submitted_by", "submitted_by_id").alias("submitted_by"),
        pl.concat_list("repairs", *notes).list.drop_nulls().alias("repairs"),
        *(pl.when(~is_odd).then(pl.col(c)).alias(c) for c, is_odd in odd.items()),
    )


def canonical_nodes(rows: pl.DataFrame) -> pl.DataFrame:
    rows = repair_milliseconds(rows, ("deleted_at",))
    return rows.with_columns(instant(pl.col("deleted_at")).alias("deleted_at"))
