"""What is derived, one row per thing. Each is one query in sql/core, but for what looks at texts or at the state."""

from dagster_project.orchestration.tables import python_table, sql_table
from dagster_project.review.decision_tables import LOG_IS_READABLE, make_reviews, make_settlements
from dagster_project.review.label_tables import LABELS_ARE_READABLE, make_label_verdicts
from dagster_project.systems.conversations.detector_head import make_detector_head
from dagster_project.systems.conversations.head_verdicts import make_head_verdicts
from dagster_project.systems.conversations.turn_pairs import make_turn_pairs
from dagster_project.systems.conversations.turn_references import make_turn_references
from dagster_project.systems.distillation.answers import make_distilled_answers
from dagster_project.systems.feedback.flagged_responses import make_flagged_responses
from dagster_project.systems.sessions.archive import make_archive
from dagster_project.systems.sessions.frozen_days import make_frozen_days
from dagster_project.systems.sessions.retired_sessions import make_retired_sessions

core__voices = sql_table("core__voices")
core__answers = sql_table("core__answers")
core__flagged_responses = python_table(
    "core__flagged_responses", make_flagged_responses, inputs=["core__feedback_keys", "raw_feedback__responses"]
)
core__condemned_answers = sql_table("core__condemned_answers")
core__feedback = sql_table("core__feedback")
core__feedback_counts = sql_table("core__feedback_counts")
core__responses = sql_table("core__responses")
core__feedback_sessions = sql_table("core__feedback_sessions")
core__settlements = python_table("core__settlements", make_settlements, inputs=[])
core__correction_requests = sql_table("core__correction_requests")
core__safety_queue = sql_table("core__safety_queue")
core__reactions = sql_table("core__reactions")
core__answer_refs = sql_table("core__answer_refs")
core__signals = sql_table("core__signals")

TURNS = ("raw_conversations__turns", "raw_conversations__turn_index")
core__turn_pairs = python_table("core__turn_pairs", make_turn_pairs, inputs=TURNS)
core__turn_references = python_table("core__turn_references", make_turn_references, inputs=["core__turn_pairs", *TURNS])
core__label_verdicts = python_table(
    "core__label_verdicts",
    make_label_verdicts,
    inputs=["core__turn_pairs", *TURNS],
    claims=[LABELS_ARE_READABLE],
)
core__turn_labels = sql_table("core__turn_labels")
core__detector_head = python_table(
    "core__detector_head",
    make_detector_head,
    inputs=["core__turn_labels", "core__turn_pairs", "core__turn_references", *TURNS],
    tables=["core__detector_head", "metric__detector_head"],
)
core__head_verdicts = python_table(
    "core__head_verdicts",
    make_head_verdicts,
    inputs=["core__detector_head", "core__turn_labels", "core__turn_pairs", "core__turn_references", *TURNS],
)
core__turns = sql_table("core__turns")
core__label_queue = sql_table("core__label_queue")
core__judged_turns = sql_table("core__judged_turns")
core__strategies = sql_table("core__strategies")
core__machine_signals = sql_table("core__machine_signals")

core__distillation_sources = sql_table("core__distillation_sources")
core__distilled_answers = python_table(
    "core__distilled_answers",
    make_distilled_answers,
    inputs=[
        "core__distillation_sources",
        "raw_distillation__distillation_examples",
        "raw_distillation__examples",
        "raw_distillation__raw_interactions",
        "raw_distillation__chain_of_thought",
        "raw_distillation__preference_pairs",
        "raw_distillation__reasoning_patterns",
        "raw_distillation__corrections",
    ],
)
core__reviews = python_table(
    "core__reviews", make_reviews, inputs=["core__distilled_answers", "raw_feedback__entries"], claims=[LOG_IS_READABLE]
)
core__example_feedback = sql_table("core__example_feedback")
core__distillation = sql_table("core__distillation")
core__review_items = sql_table("core__review_items")
core__review_queue = sql_table("core__review_queue")

core__retired_sessions = python_table(
    "core__retired_sessions", make_retired_sessions, inputs=["raw_sessions__sessions"]
)
core__sessions = sql_table("core__sessions")
core__session_figures = sql_table("core__session_figures")
core__session_days = sql_table("core__session_days")
core__frozen_session_days = python_table("core__frozen_session_days", make_frozen_days, inputs=["core__session_days"])
archive__sessions = python_table("archive__sessions", make_archive, inputs=["core__sessions"])
