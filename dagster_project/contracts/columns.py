"""The glossary: what each column means, its type and its range, said once for every table that has it.

Contracts name columns from here, the warehouse takes its comments from here, Dagster its column schemas. Same quantity,
same name in every table; a column copied from seed 0 keeps that document's name and unit.
"""

import polars as pl

from dagster_project.columns.error_type import ERROR_TYPES
from dagster_project.contracts.anonymised_columns import ANONYMISED_COLUMNS
from dagster_project.contracts.formats import FORMATS
from dagster_project.contracts.meaning import (
    TEXTS,
    TURNS,
    Meaning,
    count,
    epoch,
    flag,
    fraction,
    hash_of,
    interval,
    long_text,
    moment,
    one_of,
    text,
    word,
)

DOMAINS = ("code", "reasoning", "creative", "factual", "planning", "general")
TIERS = ("premium", "high", "standard", "low", "very_low")
LOW_TIERS = ("low", "very_low")  # which `low_tier` is about; their weights, sql/functions.sql (F5)
REASONS = tuple(
    """
    flag negative_rating neutral_rating failed rejected not_ready contradicted missing_text contested
    fragment conflicting outvoted refusal no_contrast tie unseen_attempt control_tokens low_weight
    contaminated recipe duplicate near_duplicate leak
""".split()
)
RECORD_SPLIT = one_of(
    ("train", "validation", "test", "augmentation"),
    "which part of the release it is in; alike questions share one. Light training records are augmentation",
)


GLOSSARY: dict[str, Meaning] = {
    # identifiers
    "feedback_id": text("the source's key of a feedback row"),
    "session_id": text("the conversation session; null where unknown"),
    "user_id": text("the person; null where unknown"),
    "source_file": word("the configured database the row was read from"),
    "source_rowid": Meaning(pl.Int64, "number of the row in that database (of Postgres a number by its key)"),
    "extra": long_text("columns of the source we do not know, as JSON"),
    "repairs": Meaning(
        TEXTS, "what was repaired on reading: <column>:<repair>, or filled:<column> where another row gave the value"
    ),
    "is_written_back": flag("we marked this row at the source; the marks are shown here as they were before that"),
    # times
    "timestamp": epoch("when it happened, as the source says"),
    "created_at": epoch("when the row was inserted"),
    "occurred_at": moment("when it happened"),
    "event_date": Meaning(pl.Date, "day on which it happened, UTC", is_repetitive=True),
    "as_of": moment("everything before this instant counts"),
    "release_date": Meaning(pl.Date, "last day the release covers, UTC"),
    "release": word("name of the release and of its folder under exports: 20260131, the second of a day 20260131.2"),
    "week_start": Meaning(pl.Date, "Monday of the week, UTC"),
    # feedback as stored
    "what_was_wrong": long_text("the user's explanation of the error"),
    "domain": word(
        f"what it is about: {', '.join(DOMAINS)}, which is also what is none of them; of distilled examples analysis, too"
    ),
    "confidence": Meaning(pl.Float64, "how sure the detector is; 1 where a person said it"),
    "processed": Meaning(pl.Int64, "whether the source's own pipeline took it, 0 or 1 as stored"),
    "training_format": word("the training format it would leave in: instruction, cot, correction or preference"),
    "quality_weight": Meaning(pl.Float64, "what it weighs in training, as of the publication: 0..1"),
    # feedback as derived
    "status": one_of(
        ("active", "duplicate", "superseded"), "whether the row counts; of what one person says twice one row does"
    ),
    "tier": one_of(TIERS, "what a quality_weight of this size is called, the heaviest first"),
    "base_weight": fraction(
        "what it weighed on its first day, before any decay; of a pair of ratings the smaller weight"
    ),
    "error_type": one_of(ERROR_TYPES, "what kind of error the correction mends"),
    "has_query": flag("the question is not blank"),
    "has_answer": flag("the answer is not blank"),
    "prompt_key": text(
        "the same for questions that are the same but for case and white space (first 16 hex digits of a SHA-256)"
    ),
    "split": one_of(("train", "validation", "test"), "which split the question's own hash gives"),
    "thread_key": hash_of(
        "the same for rows with equal question and conversation before it; null where the question is empty"
    ),
    "answer_hash": hash_of("the same for equal answers; null where it is empty"),
    "is_unseen_attempt": flag("the answer it would teach talks of an attempt the prompt does not show"),
    "tenant_id": word("the customer"),
    "workspace_id": word("the customer's workspace"),
    # quarantine
    "system": word("which of the source systems: feedback, distillation, conversations, reactions, sessions"),
    "table": word("table of the source"),
    "key": text("the row's own key as text; null where missing or unreadable"),
    "reasons": Meaning(TEXTS, "why the row was refused, as <kind>:<column>"),
    "row": long_text("the row as stored, as JSON"),
    # aggregates
    "correction_count": count("active corrections"),
    "feedback_count": count("active feedback rows: each person's voice once"),
    "rated_count": count("ratings that are positive or negative"),
    "mean_weight": fraction("mean training weight of the feedback_count rows, as of the publication"),
    "rank": Meaning(pl.Int64, "place in the list, 1 is first", least=1),
    # stats (seed 0's GET /api/feedback/stats)
    "pending_count": count("feedback rows the source's own pipeline has not taken yet"),
    # error patterns
    "pattern": word("what was complained of: error type of a correction, flag type of a flag, or thumbs_down"),
    # signals
    "signal_id": text("the signal: <system>:<key of the row that says it>"),
    "kind": word(
        "what was given. Feedback: rating, comment, correction, preference, flag. Conversations: accepted, rejected. "
        "Reactions: ok, not_ok, neutral. Sessions: rating, verdict"
    ),
    "subject_id": text("what it is about by its system's own key: a response, turn or session"),
    "answer_ref": text(
        "the answer it is about: a turn's key, distillation:<example>, or the system's own <system>:<id>; signals of one "
        "answer share it"
    ),
    "polarity": one_of(("positive", "negative", "neutral"), "what the signal says"),
    "is_explicit": flag("a person said it; false where it was detected"),
    "weight": fraction("training weight of feedback as of the publication; of all others the confidence"),
    # training
    "id": text("the candidate or record: the same in every release (hash of format, source and origin ids)"),
    "content_id": text("the same for records that say the same, whichever row they were made from"),
    "format": one_of(FORMATS, "training format"),
    "source": word("how the record came about: feedback_positive, feedback_correction, distillation_cot and the like"),
    "origin_ids": Meaning(TEXTS, "the feedback rows or the distilled example it was made from"),
    "origin_id": text("the feedback row or distilled example it was made from"),
    "partner_id": text("the thumbs-up row a thumbs-down answer is paired with; null where it is no such pair"),
    "partner_event_date": Meaning(pl.Date, "day of that row, UTC"),
    "reason": one_of(REASONS, "why it does not leave; null where it leaves"),
    "early_reason": one_of(REASONS, "reason that comes before looking at other candidates"),
    "late_reason": one_of(REASONS, "reason that comes after the votes on pairs and before what a release looks at"),
    "side_a": hash_of(
        "hash of what is taught, by which exact duplicates are found: the (chosen) answer, or the record"
    ),
    "side_b": hash_of(
        "hash of its other half: the rejected answer, the label, or whether a correction changes nothing"
    ),
    "votes_for": count("people who preferred this side; null where it is no pair people voted on"),
    "votes_against": count("people who preferred the other side; null where it is no pair people voted on"),
    "duplicate_of": text("id of the record that leaves instead, or that won the vote"),
    "instruction": long_text("the question, or the task put to the model"),
    "input": long_text("what the task is about; '' where there is nothing beside it"),
    "output": long_text("what should be answered"),
    "prompt": long_text("the user's question"),
    "chosen": long_text("the better answer"),
    "rejected": long_text("the worse answer"),
    "completion": long_text("the answer that was rated"),
    "label": flag("whether it was rated up"),
    "context": long_text("conversation before the prompt; null without one"),
    "messages": Meaning(TURNS, "the conversation in order, each turn with role and content", is_long_text=True),
    "component": text("questions with the same value are alike and share a split: the smallest prompt_key among them"),
    "language": word("language it is written in, a two-letter code; null where nobody can tell"),
    "is_refusal": flag("the answer it teaches refuses to help; a person chose or liked it all the same"),
    "detail": text(
        "more about the reason: the item of an evaluation set, or the rule of the recipe; null where there is no more"
    ),
    # distillation as stored (seed 2)
    "query": long_text("the user's question"),
    "response": long_text("the assistant's answer"),
    "quality_score": fraction("how good the distilled example is, computed anew from its texts"),
    "example_id": text(
        "the distilled example: the id of the row that gives it, with its table before it unless that is distillation_examples"
    ),
    # distilled examples
    "quality_flags": Meaning(
        TEXTS,
        "quality concerns, stored by the source or found in the text: repetition, incomplete, refusal and the like",
    ),
    "has_attempt": flag("SAM's attempt has a word in it; of a synthetic pair the bad answer"),
    "edit_distance_mark": one_of(
        ("too_long", "out_of_range"),
        "why there is no edit distance: the texts are too long to compare, or the stored one is no percentage",
    ),
    "reviewer": word("who decided"),
    "note": long_text("what the reviewer wrote"),
    "decided_at": moment("when the reviewer decided"),
    "settled_at": moment("when it was settled"),
    "review_reasons": Meaning(TEXTS, "why a person should judge it"),
    "is_waiting": flag("nobody decided yet, and somebody should"),
    "review_priority": Meaning(
        pl.Int64, "the order of the queue in one number: the highest is judged first, then the smallest id"
    ),
    "has_feedback": flag("users gave feedback on it"),
    "is_contradicted": flag("users object to the teacher's answer"),
    "item_id": text("what is to be judged: an example_id, or the feedback_id of a user's correction"),
    "review_verdict": one_of(("approved", "rejected", "disputed"), "what our reviewers say; disputed: they disagree"),
    # satisfaction of all systems
    "satisfaction_rate": fraction(
        "positive_count / signal_count; of the overall line the mean of the systems by their fixed shares"
    ),
    "decided_rate": fraction(
        "positive_count / decided_count, neutral ones left out; null without either; overall: the mean by fixed shares"
    ),
    "fixed_share": fraction(
        "how much the system counts in the overall line, as configured; of that line itself the sum over the systems with signals"
    ),
    **interval("satisfaction_rate", "signal_count"),
    "decided_count": count("positive_count + negative_count"),
    **interval("decided_rate", "decided_count"),
    **ANONYMISED_COLUMNS,
}
# What a column of several tables means in raw tables, which hold what the source says.
AS_STORED: dict[str, str] = {
    "session_id": "the conversation session, as stored; '' and 'default' stand for an unknown one",
    "user_id": "the person, as stored; '' and 'default' stand for an unknown one",
    "domain": "what it is about, as stored",
    "id": "the source's own key of the row",
    "quality_weight": "the weight the source stored when the row was saved; out of date, what counts is worked out anew",
    "training_format": "the training format the source's own pipeline gave it, as stored; null where it gave none",
    "quality_score": "the quality score the source stored; null where it did not",
    "reason": "a reason, as stored",
    "status": "where it stands, as stored",
    "error_type": "what kind of error it was, as stored",
    "confidence": "how sure the source was, as stored",
}
