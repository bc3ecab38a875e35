"""What is derived, one row per thing. Each is one query in sql/core, but for what looks at texts or at the state."""

from collections.abc import Iterator

import dagster as dg

from dagster_project.orchestration.steps import step
from dagster_project.orchestration.tables import spec, sql_table, table_result
from dagster_project.review.standing import bring_reviews_up_to_date, bring_settlements_up_to_date
from dagster_project.run.mill_run import MillRun
from dagster_project.systems.conversations.turn_pairs import bring_turn_pairs_up_to_date
from dagster_project.systems.conversations.turn_references import bring_references_up_to_date
from dagster_project.systems.distillation.answers import bring_distilled_answers_up_to_date
from dagster_project.systems.feedback.flagged_responses import bring_flagged_responses_up_to_date
from dagster_project.systems.sessions.record import bring_archive_up_to_date, bring_session_state_up_to_date

# nothing is made before all sources are read and let go of, which is what quarantine__rows does last
core__voices = sql_table("core__voices", after=["quarantine__rows"])
core__answers = sql_table("core__answers")


@step(
    "core__flagged_responses",
    [
        spec(
            "core__flagged_responses",
            deps=["core__feedback_keys", "raw_feedback__responses", "quarantine__rows"],
            kinds=("polars",),
        )
    ],
)
def core__flagged_responses(mill: MillRun) -> Iterator[dg.MaterializeResult]:
    bring_flagged_responses_up_to_date(mill)
    yield table_result(mill, "core__flagged_responses")


core__condemned_answers = sql_table("core__condemned_answers")
core__feedback = sql_table("core__feedback")
core__responses = sql_table("core__responses")
core__feedback_sessions = sql_table("core__feedback_sessions")


@step("core__settlements", [spec("core__settlements", deps=["quarantine__rows"], kinds=("polars",))])
def core__settlements(mill: MillRun) -> Iterator[dg.MaterializeResult]:
    """What the state remembers of the safety queue and the correction requests: an input like the sources."""
    bring_settlements_up_to_date(mill)
    yield table_result(mill, "core__settlements")


core__correction_requests = sql_table("core__correction_requests")
core__safety_queue = sql_table("core__safety_queue")
core__reactions = sql_table("core__reactions", after=["quarantine__rows"])
core__signals = sql_table("core__signals")
core__distillation_sources = sql_table("core__distillation_sources", after=["quarantine__rows"])


@step(
    "core__turn_pairs",
    [
        spec(
            "core__turn_pairs",
            deps=["raw_conversations__turns", "raw_conversations__turn_index", "quarantine__rows"],
            kinds=("polars",),
        )
    ],
)
def core__turn_pairs(mill: MillRun) -> Iterator[dg.MaterializeResult]:
    made = bring_turn_pairs_up_to_date(mill)
    yield table_result(mill, "core__turn_pairs", is_current=made == 0, more={"made_again": made})


@step(
    "core__turn_references",
    [
        spec(
            "core__turn_references",
            deps=["core__turn_pairs", "raw_conversations__turns", "raw_conversations__turn_index"],
            kinds=("polars",),
        )
    ],
)
def core__turn_references(mill: MillRun) -> Iterator[dg.MaterializeResult]:
    made = bring_references_up_to_date(mill)
    yield table_result(mill, "core__turn_references", is_current=made == 0, more={"made_again": made})


core__turns = sql_table("core__turns")
core__strategies = sql_table("core__strategies")
core__machine_signals = sql_table("core__machine_signals")


@step(
    "core__distilled_answers",
    [
        spec(
            "core__distilled_answers",
            deps=[
                core__distillation_sources,
                "raw_distillation__distillation_examples",
                "raw_distillation__examples",
                "raw_distillation__raw_interactions",
                "raw_distillation__chain_of_thought",
                "raw_distillation__preference_pairs",
                "raw_distillation__reasoning_patterns",
                "raw_distillation__corrections",
            ],
            kinds=("polars",),
        )
    ],
)
def core__distilled_answers(mill: MillRun) -> Iterator[dg.MaterializeResult]:
    made = bring_distilled_answers_up_to_date(mill)
    yield table_result(mill, "core__distilled_answers", is_current=made == 0, more={"made_again": made})


@step(
    "core__reviews",
    [
        spec("core__reviews", deps=["core__distilled_answers", "raw_feedback__entries"], kinds=("polars",)),
    ],
    [
        dg.AssetCheckSpec(
            "log_is_readable", asset="core__reviews", description="every line of state/reviews.jsonl is one (D8, G12)"
        )
    ],
)
def core__reviews(mill: MillRun) -> Iterator[dg.MaterializeResult]:
    problems = bring_reviews_up_to_date(mill)
    readable = dg.AssetCheckResult(
        asset_key="core__reviews",
        check_name="log_is_readable",
        severity=dg.AssetCheckSeverity.WARN,
        passed=not problems,
        metadata={"left_out": len(problems), "lines": "\n".join(problems)},
    )
    yield table_result(mill, "core__reviews", [readable])


core__distillation = sql_table("core__distillation")
core__review_queue = sql_table("core__review_queue")


@step(
    "session_state",
    [
        spec(table, deps=["raw_sessions__sessions", "quarantine__rows"], kinds=("polars",))
        for table in ("core__frozen_session_days", "core__retired_sessions")
    ],
)
def session_state(mill: MillRun) -> Iterator[dg.MaterializeResult]:
    """What the state remembers of AI sessions: an input like the sources."""
    bring_session_state_up_to_date(mill)
    for table in ("core__frozen_session_days", "core__retired_sessions"):
        yield table_result(mill, table)


core__sessions = sql_table("core__sessions", after=["quarantine__rows"])
core__session_days = sql_table("core__session_days")


@step("archive__sessions", [spec("archive__sessions", deps=["core__sessions"], kinds=("polars",))])
def archive__sessions(mill: MillRun) -> Iterator[dg.MaterializeResult]:
    written = bring_archive_up_to_date(mill)
    yield table_result(mill, "archive__sessions", is_current=written == 0, more={"days_written": written})
