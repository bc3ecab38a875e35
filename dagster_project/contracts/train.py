"""What leaves for training: the records of a release with all their columns, and the candidates left out."""

from dagster_project.contracts.anonymised_columns import ANONYMISED_COLUMNS, RATING
from dagster_project.contracts.columns import RECORD_SPLIT
from dagster_project.contracts.table import Table

ANONYMIZED = "contextCategories tokenBudgetUtilization? rating errorCategories qualityScores? editDistance?"
# What leaves in files of that name: seed 4's interface, nothing beside it.
ANONYMIZED_FEEDBACK = Table(
    "anonymized_feedback", "One rated session.", ("rating",), ANONYMIZED, own={**ANONYMISED_COLUMNS, "rating": RATING}
)
IDENTITY = (
    "id content_id source origin_ids prompt_key split quality_weight base_weight tier domain release release_date"
)
OWN = {"split": RECORD_SPLIT}

ALL = (
    Table(
        "train__instruction",
        "One instruction example: a question and an answer people liked.",
        ("release", "id"),
        f"instruction input output context? {IDENTITY}",
        own=OWN,
    ),
    Table(
        "train__cot",
        "One example of reasoning: a question and the teacher's answer with its steps.",
        ("release", "id"),
        f"instruction input output context? {IDENTITY}",
        own=OWN,
    ),
    Table(
        "train__correction",
        "One correction example: an answer, what was wrong with it, and the corrected one.",
        ("release", "id"),
        f"instruction input output error_type? context? {IDENTITY}",
        own=OWN,
    ),
    Table(
        "train__preference",
        "One preference pair: a better and a worse answer to the same prompt.",
        ("release", "id"),
        f"prompt chosen rejected votes_for? votes_against? context? {IDENTITY}",
        own=OWN,
    ),
    Table(
        "train__unpaired",
        "One answer with a thumb: what KTO trainers take.",
        ("release", "id"),
        f"prompt completion label context? {IDENTITY}",
        own=OWN,
    ),
    Table(
        "train__excluded",
        "One candidate that did not leave, with the one reason (T1).",
        ("release_date", "id"),
        "id format source origin_ids reason duplicate_of? quality_weight prompt_key release_date",
    ),
    Table(
        "train__anonymised",
        "One rated session as far as at least k users of its week share all of it (S6); rows may be equal.",
        ("release_date",),
        f"{ANONYMIZED} release_date",
        own={**ANONYMISED_COLUMNS, "rating": RATING},
    ),
)
