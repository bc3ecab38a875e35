"""What an AI session and its feedback must be (S1, G8). Whose feedback it must be stands at the end."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from dagster_project.columns.instants import INSTANT
from dagster_project.columns.words import word
from dagster_project.contracts.checks import Named, filled, holds, source_schema
from dagster_project.contracts.source_table import TableSpec
from dagster_project.intake.relations import Relation
from dagster_project.systems.sessions import source as sessions
from dagster_project.systems.sessions.columns import RATINGS, VERDICTS


def _time(column: str) -> list[Named]:
    return [
        holds(f"missing:{column}", pl.col("has_time")),
        holds(f"out_of_range:{column}", ~pl.col("has_time") | pl.col("occurred_at").is_not_null()),
    ]


def _lists(spec: TableSpec) -> list[Named]:
    return [holds(f"bad_json:{column}", ~pl.col(f"{column} is bad")) for column in sessions.LISTS[spec.name]]


def _derived(spec: TableSpec, *times: str) -> Mapping[str, Any]:
    lists = sessions.LISTS[spec.name]
    return {
        "has_time": pl.Boolean,
        "occurred_at": INSTANT,
        **dict.fromkeys(times, INSTANT),
        **dict.fromkeys(lists, pl.List(pl.String)),
        **{f"{column} is bad": pl.Boolean for column in lists},
    }


SESSIONS = source_schema(
    sessions.SESSIONS,
    [
        *(filled(column) for column in ("id", "tenant_id", "workspace_id", "user_id")),
        *_time("started_at"),
        *_lists(sessions.SESSIONS),
    ],
    derived=_derived(sessions.SESSIONS, "started_at", "ended_at", "context_compiled_at", "created_at"),
)
_has_rating = pl.col("rating").is_not_null() & (word("rating") != "")
FEEDBACK = source_schema(
    sessions.FEEDBACK,
    [
        *(filled(column) for column in ("id", "tenant_id", "session_id")),
        holds("missing:rating", _has_rating),
        holds("unknown:rating", word("rating").is_in([*RATINGS, ""])),
        holds("unknown:review_verdict", word("review_verdict").is_in([*VERDICTS, ""])),
        *_time("submitted_at"),
        *_lists(sessions.FEEDBACK),
    ],
    derived=_derived(sessions.FEEDBACK, "submitted_at"),
)
CONTEXT_NODES = source_schema(sessions.CONTEXT_NODES, [filled("id")], derived={"deleted_at": INSTANT})
OUTPUTS = source_schema(sessions.OUTPUTS, [filled("session_id")], without=["original", "revised"])

ORPHAN = "orphan:session_id"  # feedback on no session at all (S1)
OTHER_TENANT = "mismatch:tenant_id"  # feedback by another tenant than its session's (S1)
# A session's feedback to the session: whether it is known, whose it is, and whether a sample would have it (S7).
TO_SESSIONS = (
    Relation(ORPHAN, (pl.col("session_id") != "") & ~pl.col("is_known") & pl.col("is_in_sample")),
    Relation(OTHER_TENANT, (pl.col("tenant_id") != "") & (pl.col("tenant_id") != pl.col("session_tenant_id"))),
)
