"""Tables that belong to no system, and what tables of several systems have in common."""

import polars as pl

from dagster_project.contracts.meaning import Meaning, count, moment, text, word
from dagster_project.contracts.table import Table

# Of every source row: what else it held, when and where it was read, what was mended.
PLACED = "extra? occurred_at event_date source_file source_rowid repairs"
# Raw tables keep what the source says; vocabularies and ranges are those of the tables made from them.
UNCHECKED = ("reason", "status", "error_type", "quality_score", "complexity", "format", "feedback_confidence")
# A candidate for a training set: for what format, and what speaks against it (T1).
CANDIDATE = """id format source origin_id partner_id? event_date partner_event_date? occurred_at early_reason? late_reason?
    quality_weight base_weight tier domain error_type? label? prompt_key thread_key? side_a? side_b?"""

ALL = (
    Table(
        "quarantine__rows",
        "One refused source row with every reason and its original values; it leaves when the source is mended.",
        ("system", "table", "source_file", "source_rowid"),
        "system table key? source_rowid event_date? reasons row source_file",
        view="quarantine",
        said={
            "event_date": "day on which it happened by what the row says, UTC; null where that cannot be read",
        },
    ),
    Table(
        "core__reviews",
        "One example or user correction our own reviewers judged.",
        ("example_id",),
        "example_id review_verdict reviewer note? decided_at",
        is_for_analysts=True,
        said={
            "example_id": "the distilled example, or the feedback_id of a user's correction",
        },
    ),
    Table(
        "core__review_items",
        "One example or user correction a person may judge: whether it waits for one, and what it is worth to judge it.",
        ("item_id",),
        """item_id kind event_date domain quality_score quality_flags is_contradicted has_attempt has_feedback
        review_reasons is_waiting review_priority""",
        is_view=True,
        said={
            "kind": "what is to be judged: example (a distilled one) or correction (by a user)",
            "quality_score": "how good the example is; of a user's correction its training weight",
            "event_date": "day of the example or correction, UTC",
            "has_attempt": "there is an answer of SAM's, or one that users corrected, to compare with",
        },
    ),
    Table(
        "core__review_queue",
        "One example or user correction that waits for a person, most valuable first.",
        ("item_id",),
        """rank item_id kind event_date domain quality_score quality_flags is_contradicted has_attempt has_feedback
        review_reasons""",
        is_for_analysts=True,
        said={
            "kind": "what is to be judged: example (a distilled one) or correction (by a user)",
            "quality_score": "how good the example is; of a user's correction its training weight",
            "event_date": "day of the example or correction, UTC",
            "has_attempt": "there is an answer of SAM's, or one that users corrected, to compare with",
        },
    ),
    Table(
        "core__settlements",
        "One feedback row of the safety queue or the correction requests that a person has settled.",
        ("feedback_id",),
        "feedback_id reviewer note settled_at",
        is_for_analysts=True,
        said={
            "feedback_id": "the feedback row that was settled",
            "note": "what became of it, in the reviewer's words",
            "reviewer": "who settled it",
        },
    ),
    Table(
        "core__signals",
        "One signal of satisfaction, all systems in one shape.",
        ("signal_id",),
        """signal_id system kind subject_id answer_ref session_id? user_id? tenant_id? workspace_id? domain? event_date
        occurred_at polarity is_explicit confidence weight""",
        view="signals",
        is_view=True,
        is_for_analysts=True,
        said={
            "user_id": "the person who gave it; null where unknown",
            "domain": "what the answer is about: code, reasoning, creative, factual, planning or general; null where its "
            "system does not tell, which feedback alone does",
            "event_date": "day on which the signal was given, UTC",
            "occurred_at": "when the signal was given (UTC)",
            "tenant_id": "the customer; null where its system does not tell, which sessions and reactions do",
            "workspace_id": "the customer's workspace; null but for sessions",
            "session_id": "the session or conversation it was given in, by its system's own key; null where unknown",
        },
    ),
    Table(
        "core__candidate_rivals",
        "One candidate that does not leave because of the votes of others: outvoted, or in conflict.",
        ("id",),
        "id reason duplicate_of?",
        is_of_release=True,
    ),
    Table(
        "metric__daily_restatements",
        "One count of a whole day of feedback, turns, reactions or distilled examples that was published otherwise before.",
        ("entry",),
        "entry restated_as_of previous_as_of metric date domain? column old_value? new_value? why",
        own={
            "metric": word("the daily table whose count changed"),
            "entry": count("number of the entry in the log, which only grows"),
            "restated_as_of": moment("as_of of the publication that restated the day"),
            "previous_as_of": moment("as_of of the publication before that one"),
            "date": Meaning(pl.Date, "day whose count changed, UTC", is_repetitive=True),
            "column": word("which count changed"),
            "old_value": text("what was published; null where the row was not there"),
            "new_value": text("what was published instead; null where the row is gone"),
            "why": word(
                "what changed: new_rows, vanished_rows or changed_rows of that day at the source, other_days (a later voice, "
                "message or review decides), rules; joined by +"
            ),
        },
        said={"domain": "domain the count is of; null where it is of all"},
    ),
    Table(
        "metric__satisfaction_daily",
        "One day of one system's signals, and an overall line by fixed shares, never by volume.",
        ("event_date", "system"),
        """event_date system signal_count positive_count negative_count neutral_count satisfaction_rate
        satisfaction_rate_low satisfaction_rate_high decided_count decided_rate? decided_rate_low? decided_rate_high? fixed_share""",
        own={
            "signal_count": count("signals of the day"),
            "positive_count": count("positive signals"),
            "negative_count": count("negative signals"),
            "neutral_count": count("neutral signals"),
        },
    ),
)
