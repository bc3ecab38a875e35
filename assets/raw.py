"""What comes in. Each table holds every valid row of its source; refused ones are in quarantine__rows."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType

import dagster as dg
import polars as pl

from dagster_project.intake.raw_tables import Account
from dagster_project.lake import parquet
from dagster_project.orchestration.partitions import DAILY
from dagster_project.orchestration.steps import step
from dagster_project.orchestration.tables import (
    account_check_specs,
    account_results,
    key_is_once,
    key_is_once_spec,
    spec,
    table_result,
)
from dagster_project.run.mill_run import MillRun
from dagster_project.systems.conversations import source as conversations
from dagster_project.systems.conversations.intake import bring_conversations_up_to_date
from dagster_project.systems.distillation import source as distillation
from dagster_project.systems.distillation.intake import (
    bring_distillation_snapshot_up_to_date,
    bring_distillation_up_to_date,
)
from dagster_project.systems.feedback.intake import bring_feedback_snapshot_up_to_date, bring_feedback_up_to_date
from dagster_project.systems.reactions import source as reactions
from dagster_project.systems.reactions.intake import bring_reactions_up_to_date
from dagster_project.systems.sessions import source as sessions
from dagster_project.systems.sessions.intake import bring_session_snapshot_up_to_date, bring_sessions_up_to_date

source_conversations = dg.AssetSpec(
    "source_conversations", group_name="sources", kinds={"sqlite"}, description="PandaAI's turn_index.db (seed 1)"
)
source_distillation = dg.AssetSpec(
    "source_distillation", group_name="sources", kinds={"sqlite"}, description="SAM's distillation.db (seed 2)"
)
source_feedback = dg.AssetSpec(
    "source_feedback", group_name="sources", kinds={"sqlite"}, description="SAM's feedback.db (seed 0)"
)
source_reactions = dg.AssetSpec(
    "source_reactions", group_name="sources", kinds={"postgres", "sqlite"}, description="conv_messages (seed 3)"
)
source_sessions = dg.AssetSpec(
    "source_sessions",
    group_name="sources",
    kinds={"postgres", "sqlite"},
    description="AI sessions and reviews (seed 4)",
)


def undated_table(table: str, source: dg.AssetSpec, bring: Callable[[MillRun], Account]) -> dg.AssetsDefinition:
    """A source table that is not kept by day, brought up to date by `bring`."""

    @step(table, [spec(table, deps=[source], kinds=("polars",))], account_check_specs(table))
    def read(mill: MillRun) -> Iterator[dg.MaterializeResult]:
        yield table_result(mill, table, account_results(mill, table, bring(mill)))

    return read


def feedback_snapshot(table: str) -> dg.AssetsDefinition:
    return undated_table(table, source_feedback, partial(bring_feedback_snapshot_up_to_date, asset=table))


raw_feedback__responses = feedback_snapshot("raw_feedback__responses")
raw_feedback__stored_aggregates = feedback_snapshot("raw_feedback__stored_aggregates")
raw_feedback__stored_sessions = feedback_snapshot("raw_feedback__stored_sessions")


def dated_table(
    table: str,
    source: dg.AssetSpec,
    bring_up_to_date: Callable[[MillRun], Account],
    deps: Sequence[object] = (),
    companions: Sequence[str] = (),
    then: Mapping[str, Callable[[MillRun], Account]] = MappingProxyType({}),
) -> dg.AssetsDefinition:
    """A source table that is kept by day, and what is computed with it while its text is in memory.

    `then` are tables by day that are judged by this one: Dagster wants them in the same step.
    """

    @step(
        table,
        [
            spec(table, deps=[source, *deps], kinds=("polars",), by_day=DAILY),
            *(spec(name, deps=[table], kinds=("polars",), by_day=DAILY) for name in companions),
            *(spec(name, deps=[source, table], kinds=("polars",), by_day=DAILY) for name in then),
        ],
        [check for name in (table, *then) for check in (*account_check_specs(name), key_is_once_spec(name))],
        backfill_policy=dg.BackfillPolicy.single_run(),
    )
    def read(mill: MillRun) -> Iterator[dg.MaterializeResult]:
        for name, bring in {table: bring_up_to_date, **then}.items():
            yield from brought(mill, name, bring(mill), companions if name == table else ())

    def brought(
        mill: MillRun, table: str, account: Account, companions: Sequence[str]
    ) -> Iterator[dg.MaterializeResult]:
        more = {"days_read": len(account.days_read), "days_changed": len(account.changed_days)}
        results = [
            *account_results(mill, table, account),
            key_is_once(mill, table, is_current=not account.changed_days),
        ]
        yield table_result(mill, table, results, more=more)
        for name in companions:
            yield table_result(mill, name, more=more)

    return read


raw_feedback__entries = dated_table(
    "raw_feedback__entries",
    source_feedback,
    bring_feedback_up_to_date,
    deps=[raw_feedback__responses],
    companions=["core__feedback_keys"],
)
DISTILLATION = [
    *(
        dated_table(table, source_distillation, partial(bring_distillation_up_to_date, asset=table))
        for table in distillation.DATED
    ),
    *(
        undated_table(table, source_distillation, partial(bring_distillation_snapshot_up_to_date, asset=table))
        for table in distillation.UNDATED
    ),
]


CONVERSATIONS = [
    dated_table(table, source_conversations, partial(bring_conversations_up_to_date, asset=table))
    for table in conversations.DATED
]
REACTIONS = [
    dated_table(table, source_reactions, partial(bring_reactions_up_to_date, asset=table)) for table in reactions.DATED
]
raw_sessions__sessions = dated_table(
    "raw_sessions__sessions",
    source_sessions,
    partial(bring_sessions_up_to_date, asset="raw_sessions__sessions"),
    then={"raw_sessions__feedback": partial(bring_sessions_up_to_date, asset="raw_sessions__feedback")},
)
SESSION_SNAPSHOTS = [
    undated_table(table, source_sessions, partial(bring_session_snapshot_up_to_date, asset=table))
    for table in sessions.UNDATED
]


@step(
    "quarantine__rows",
    [
        spec(
            "quarantine__rows",
            deps=[
                raw_feedback__entries,
                raw_feedback__responses,
                raw_feedback__stored_aggregates,
                raw_feedback__stored_sessions,
                *distillation.DATED,
                *distillation.UNDATED,
                *conversations.DATED,
                *reactions.DATED,
                *sessions.DATED,
                *sessions.UNDATED,
            ],
            kinds=("polars",),
        )
    ],
)
def quarantine__rows(mill: MillRun) -> Iterator[dg.MaterializeResult]:
    """The tables above wrote their refused rows; here they are counted. Nothing is read from the sources after this."""
    mill.close_sources()
    files = mill.lake.files("quarantine__rows")
    reasons: dict[str, int] = {}
    if files:
        counts = parquet.scan(files).select(pl.col("reasons").explode()).collect()
        reasons = dict(counts["reasons"].value_counts(sort=True).iter_rows())
    yield table_result(mill, "quarantine__rows", more={"reasons": reasons})
