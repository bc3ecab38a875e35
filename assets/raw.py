"""What comes in. Each table holds every valid row of its source; refused ones are in quarantine__rows."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from types import MappingProxyType

import dagster as dg
import polars as pl

from dagster_project.conversation_days import bring_conversations_up_to_date
from dagster_project.distillation_days import bring_distillation_up_to_date
from dagster_project.extract import TableSpec
from dagster_project.feedback_days import bring_feedback_up_to_date
from dagster_project.mill_run import STOP, MillRun
from dagster_project.partitions import DAILY
from dagster_project.publish import (
    Mill,
    account_check_specs,
    account_results,
    key_is_once,
    key_is_once_spec,
    retries_if_locked,
    spec,
    table_result,
)
from dagster_project.quarantine import Rule
from dagster_project.raw_tables import Account, bring_snapshot_up_to_date
from dagster_project.reaction_days import bring_reactions_up_to_date
from dagster_project.session_days import bring_session_snapshot_up_to_date, bring_sessions_up_to_date
from dagster_project.sources import conversations, distillation, feedback, reactions, sessions

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


def snapshot_table(
    table: str, source: dg.AssetSpec, table_spec: TableSpec, rules: tuple[Rule, ...], is_united: bool,
    mend: Callable[[pl.DataFrame], pl.DataFrame] = lambda rows: rows,
) -> dg.AssetsDefinition:  # fmt: skip
    """An optional source table that is not kept by day."""

    def bring(mill: MillRun) -> Account:
        return bring_snapshot_up_to_date(mill, table, table_spec, rules, is_united, mend)

    return undated_table(table, source, bring)


def undated_table(table: str, source: dg.AssetSpec, bring: Callable[[MillRun], Account]) -> dg.AssetsDefinition:
    """A source table that is not kept by day, brought up to date by `bring`."""

    @dg.multi_asset(
        name=table, specs=[spec(table, deps=[source], kinds=("polars",))], check_specs=account_check_specs(table)
    )
    def read(context: dg.AssetExecutionContext, mill: Mill) -> Iterator[dg.MaterializeResult]:
        STOP.check()
        with retries_if_locked(context, mill):
            account = bring(mill)
        yield table_result(mill, table, account_results(mill, table, account))

    return read


raw_feedback__responses = snapshot_table(
    "raw_feedback__responses", source_feedback, feedback.RESPONSES, feedback.RESPONSE_RULES, is_united=True
)
raw_feedback__stored_aggregates = snapshot_table(
    "raw_feedback__stored_aggregates",
    source_feedback,
    feedback.STORED_AGGREGATES,
    feedback.STORED_AGGREGATE_RULES,
    is_united=False,
)
raw_feedback__stored_sessions = snapshot_table(
    "raw_feedback__stored_sessions",
    source_feedback,
    feedback.STORED_SESSIONS,
    feedback.STORED_SESSION_RULES,
    is_united=False,
)


def dated_table(
    table: str, source: dg.AssetSpec, bring_up_to_date: Callable[[MillRun], Account], deps: Sequence[object] = (),
    companions: Sequence[str] = (), then: Mapping[str, Callable[[MillRun], Account]] = MappingProxyType({}),
) -> dg.AssetsDefinition:  # fmt: skip
    """A source table that is kept by day, and what is computed with it while its text is in memory.

    `then` are tables by day that are judged by this one: Dagster wants them in the same step.
    """

    @dg.multi_asset(
        name=table,
        specs=[
            spec(table, deps=[source, *deps], kinds=("polars",), by_day=DAILY),
            *(spec(name, deps=[table], kinds=("polars",), by_day=DAILY) for name in companions),
            *(spec(name, deps=[source, table], kinds=("polars",), by_day=DAILY) for name in then),
        ],
        check_specs=[
            check for name in (table, *then) for check in (*account_check_specs(name), key_is_once_spec(name))
        ],
        backfill_policy=dg.BackfillPolicy.single_run(),
    )
    def read(context: dg.AssetExecutionContext, mill: Mill) -> Iterator[dg.MaterializeResult]:
        for name, bring in {table: bring_up_to_date, **then}.items():
            yield from brought(context, mill, name, bring, companions if name == table else ())

    def brought(
        context: dg.AssetExecutionContext, mill: MillRun, table: str, bring: Callable[[MillRun], Account],
        companions: Sequence[str],
    ) -> Iterator[dg.MaterializeResult]:  # fmt: skip
        STOP.check()
        with retries_if_locked(context, mill):
            account = bring(mill)
        if not context.has_partition_key_range and not context.has_partition_key:
            for name in (table, *companions):  # the run chose the days itself (G7): say which ones changed
                for day in account.changed_days:
                    if day <= datetime.now(UTC).date():  # a partition begins when its day does
                        context.log_event(dg.AssetMaterialization(name, partition=str(day)))
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
        snapshot_table(
            table, source_distillation, table_spec, distillation.rules_of(table_spec), is_united=True,
            mend=partial(distillation.mended_json, table=table_spec.name),
        )
        for table, table_spec in distillation.UNDATED.items()
    ),
]  # fmt: skip


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


@dg.multi_asset(
    name="quarantine__rows",
    specs=[
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
def quarantine__rows(mill: Mill) -> Iterator[dg.MaterializeResult]:
    """The tables above wrote their refused rows; here they are counted. Nothing is read from the sources after this."""
    STOP.check()
    mill.close_sources()
    files = mill.lake.files("quarantine__rows")
    reasons: dict[str, int] = {}
    if files:
        counts = pl.scan_parquet(files, hive_partitioning=False).select(pl.col("reasons").explode()).collect()
        reasons = dict(counts["reasons"].value_counts(sort=True).iter_rows())
    yield table_result(mill, "quarantine__rows", more={"reasons": reasons})
