"""What leaves for training: candidates with their reasons, then one release of records per format and split."""

from dagster_project.contracts.formats import FORMATS
from dagster_project.orchestration.tables import python_table, sql_table
from dagster_project.training.anonymised_export import SESSIONS_ADD_UP, make_anonymised
from dagster_project.training.kept_traits import CONTEXTS_ARE_READ, DISTILLED, FEEDBACK, make_traits
from dagster_project.training.prompts import TABLE as PROMPTS
from dagster_project.training.prompts import TEMPLATES, make_prompts
from dagster_project.training.release import CANDIDATES_ADD_UP, NOTHING_LEAKS, make_release
from dagster_project.training.release_reasons import STEPS, make_release_reasons

SESSION_INPUTS = ("sessions", "feedback", "outputs", "context_nodes")

core__possible_partners = sql_table("core__possible_partners")
core__rating_partners = sql_table("core__rating_partners")
core__feedback_candidates = sql_table("core__feedback_candidates")
core__distillation_candidates = sql_table("core__distillation_candidates")
core__pair_votes = sql_table("core__pair_votes")
core__candidate_rivals = sql_table("core__candidate_rivals")

# what is looked at only where a release is made
core__traits = python_table(
    "core__traits",
    make_traits,
    tables=[FEEDBACK, DISTILLED],
    inputs=["raw_feedback__entries", "core__feedback_keys", "core__distilled_answers", "core__distillation_sources"],
    claims=[CONTEXTS_ARE_READ],
)
core__prompts = python_table(
    PROMPTS,
    make_prompts,
    tables=[PROMPTS, TEMPLATES],
    inputs=["core__feedback_keys", "core__voices", "core__distillation", FEEDBACK, DISTILLED],
)
core__release_reasons = python_table(
    "core__release_reasons",
    make_release_reasons,
    tables=STEPS,
    inputs=[
        "core__feedback_candidates",
        "core__distillation_candidates",
        "core__candidate_rivals",
        "core__pair_votes",
        FEEDBACK,
        DISTILLED,
        PROMPTS,
    ],
)
train__excluded = sql_table("train__excluded")
train__anonymised = python_table(
    "train__anonymised",
    make_anonymised,
    inputs=["core__sessions", "core__retired_sessions", *(f"raw_sessions__{name}" for name in SESSION_INPUTS)],
    claims=[SESSIONS_ADD_UP],
)
train__release = python_table(
    "train__release",
    make_release,
    tables=[f"train__{format}" for format in FORMATS],
    inputs=[
        "core__feedback_candidates",
        "core__distillation_candidates",
        "core__pair_votes",
        "core__candidate_rivals",
        *STEPS,
        "train__excluded",
        "train__anonymised",
        "raw_feedback__entries",
        "core__distillation_sources",
    ],
    claims=[CANDIDATES_ADD_UP, NOTHING_LEAKS],
)
