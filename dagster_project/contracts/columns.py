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
    "decided for a whole component of alike prompts (T3); of low-tier records of the training split augmentation (F5)",
)


GLOSSARY: dict[str, Meaning] = {
    # identifiers
    "feedback_id": text("the source's key of a feedback row (seed 0)"),
    "session_id": text("conversation session; null where unknown (G9), as stored in raw tables"),
    "user_id": text("the person; null where unknown (G9), as stored in raw tables"),
    "source_file": word("the configured database the row was read from"),
    "source_rowid": Meaning(pl.Int64, "SQLite rowid in that database"),
    "extra": long_text("columns of the source we do not know, as JSON"),
    "repairs": Meaning(TEXTS, "what was repaired on reading: <column>:<repair> (G1), filled:<column> (F1)"),
    "is_written_back": flag(
        "processed, training_format, quality_weight and processed_at are as before our write-back (F10)"
    ),
    # times
    "timestamp": epoch("when the feedback or response was given"),
    "created_at": epoch("when the row was inserted"),
    "occurred_at": moment("event time, microseconds"),
    "event_date": Meaning(pl.Date, "UTC calendar day of the event time", is_repetitive=True),
    "as_of": moment("everything before this instant counts (G2)"),
    "release_date": Meaning(pl.Date, "last day the release's as_of covers"),
    "release": word(
        "name of the release, and of its folder under exports: its day, from its second on with a number (T5)"
    ),
    "week_start": Meaning(pl.Date, "Monday of the ISO week"),
    # feedback as stored
    "what_was_wrong": long_text("the user's explanation of the error"),
    "domain": word(f"{', '.join(DOMAINS)}; unknown values count as general outside raw tables (G8)"),
    "confidence": Meaning(pl.Float64, "confidence of the response or of the detector, 1 for explicit signals"),
    "processed": Meaning(pl.Int64, "the source's own flag"),
    "training_format": word("format of an example (D7); in raw tables what the source's own pipeline made of it"),
    "quality_weight": Meaning(pl.Float64, "training weight at as_of (F4); in raw tables the source's stale one"),
    # feedback as derived
    "status": one_of(("active", "duplicate", "superseded"), "one voice per person (F3)"),
    "tier": one_of(TIERS, "of the weight (F5)"),
    "base_weight": fraction("the weight at age 0 (F5); of a pair of ratings the smaller one"),
    "error_type": one_of(ERROR_TYPES, "what kind of error a correction mends (F9)"),
    "has_query": flag("the question is not blank"),
    "has_answer": flag("the answer is not blank"),
    "prompt_key": text("first 16 hex digits of the SHA-256 of the normalised question (G10)"),
    "split": one_of(("train", "validation", "test"), "decided by the prompt alone (T3)"),
    "thread_key": hash_of("same prompt and context (G10); null where the prompt is empty"),
    "answer_hash": hash_of("the answer, normalised (G10); null where it is empty"),
    "is_unseen_attempt": flag("the answer it would teach talks of an attempt the prompt does not show (T1)"),
    # quarantine
    "system": word("source system"),
    "table": word("source table"),
    "key": text("business key as text; null where missing or unreadable"),
    "reasons": Meaning(TEXTS, "why the row was refused, as <kind>:<column> (G5, F1)"),
    "row": long_text("the row as stored, as JSON (G11)"),
    # aggregates
    "correction_count": count("corrections (seed 0)"),
    "feedback_count": count("active feedback rows"),
    "rated_count": count("ratings that are positive or negative"),
    "mean_weight": fraction("mean training weight"),
    "rank": Meaning(pl.Int64, "1 = first", least=1),
    # stats (seed 0's GET /api/feedback/stats)
    "pending_count": count("the others"),
    # error patterns
    "pattern": word("error type of a correction, flag type of a flag, or thumbs_down"),
    # signals
    "signal_id": text("system and key"),
    "kind": word("rating, comment, correction, preference, flag; accepted, rejected; ok, not_ok, neutral"),
    "subject_id": text("what the signal is about"),
    "answer_ref": text(
        "the answer it is about: a turn's key, distillation:<example>, or the system's own <system>:<id>; signals of one "
        "answer share it (N)"
    ),
    "polarity": one_of(("positive", "negative", "neutral"), "what the signal says (N)"),
    "is_explicit": flag("a person said it; false where it was detected"),
    "weight": fraction("F4 for feedback, else the confidence"),
    # training
    "id": text("hash of format, source and origin ids (T1); in raw tables the source's own key"),
    "content_id": text(
        "hash of what the record says (T4): it stays when another row becomes the survivor of the same record"
    ),
    "format": one_of(FORMATS, "training format"),
    "source": word("which rule made the example (F6)"),
    "origin_ids": Meaning(TEXTS, "the feedback rows or the distilled example it was made from"),
    "origin_id": text("the feedback row or distilled example it was made from"),
    "partner_id": text("the thumbs-up row a thumbs-down answer is paired with"),
    "partner_event_date": Meaning(pl.Date, "day of that row"),
    "reason": one_of(REASONS, "why it does not leave (T1); null where it leaves"),
    "early_reason": one_of(REASONS, "reason that comes before looking at other candidates"),
    "late_reason": one_of(REASONS, "reason that comes after the votes on pairs and before what a release looks at"),
    "side_a": hash_of("what T2 compares beside prompt and context: the (chosen) answer, or the record"),
    "side_b": hash_of("the rejected answer, the label, or whether a correction changes nothing"),
    "votes_for": count("people who say so (F13); null where nobody was asked"),
    "votes_against": count("people who say the opposite (F13); null where nobody was asked"),
    "duplicate_of": text("id of the example that leaves instead, or that won the vote"),
    "instruction": long_text("what is asked"),
    "input": long_text("further input, '' where there is none"),
    "output": long_text("what should be answered"),
    "prompt": long_text("the user's question"),
    "chosen": long_text("the better answer"),
    "rejected": long_text("the worse answer"),
    "completion": long_text("the answer that was rated"),
    "label": flag("whether it was rated up"),
    "context": long_text("conversation before the prompt; null without one"),
    "messages": Meaning(TURNS, "the conversation in order, each turn with role and content (T7)", is_long_text=True),
    "component": text("the smallest prompt_key among the prompts this one must share a split with (T3)"),
    "language": word("ISO 639-1 code of what the record is written in; null where nobody can tell (T4)"),
    "is_refusal": flag("the answer it teaches refuses to help; a person chose or liked it all the same (T1)"),
    "detail": text("what the reason names: the item of an evaluation set, or the rule of the recipe (T1)"),
    # distillation as stored (seed 2)
    "query": long_text("the user's question (seed 2)"),
    "response": long_text("the teacher's answer (legacy)"),
    "quality_score": fraction("D5, recomputed; in raw tables the stored one"),
    "example_id": text(
        "distilled example: the winner's id, with its table before it unless that is distillation_examples"
    ),
    # distilled examples
    "quality_flags": Meaning(TEXTS, "stored and detected quality concerns (D4)"),
    "has_attempt": flag("SAM's attempt has a word in it; of a synthetic pair the bad answer"),
    "edit_distance_mark": one_of(
        ("too_long", "out_of_range"),
        "why there is no edit distance: the product of both lengths is over 10^11 (S4), or the stored one is no percentage (S2)",
    ),
    "reviewer": word("who decided"),
    "note": long_text("what the reviewer wrote"),
    "decided_at": moment("when the reviewer decided"),
    "settled_at": moment("when it was settled"),
    "review_reasons": Meaning(TEXTS, "why it waits for review"),
    "is_waiting": flag("nobody decided yet, and somebody should (D8)"),
    "review_priority": Meaning(pl.Int64, "D8's order in one number: the highest is judged first, then the smallest id"),
    "has_feedback": flag("users said something about it"),
    "is_contradicted": flag("users object to the teacher's answer (M1)"),
    "item_id": text("example_id, or feedback_id of a user's correction"),
    "review_verdict": one_of(
        ("approved", "rejected", "disputed"), "what our reviewers say; disputed: they disagree (D8)"
    ),
    # satisfaction of all systems
    "satisfaction_rate": fraction("positive / all signals of the day (N); overall: the mean by fixed shares"),
    "decided_rate": fraction("positive / (positive + negative); null without either"),
    "fixed_share": fraction("of the system in the overall line, as configured; overall: those of systems with signals"),
    **ANONYMISED_COLUMNS,
}
