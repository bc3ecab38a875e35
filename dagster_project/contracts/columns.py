"""The glossary: what each column means, its type and its range, said once for every table that has it.

Contracts name columns from here, the warehouse takes its comments from here, Dagster its column schemas. Same quantity,
same name in every table; a column copied from seed 0 keeps that document's name and unit.
"""

from dataclasses import dataclass

import polars as pl

from dagster_project.instants import INSTANT
from dagster_project.signals.error_type import ERROR_TYPES
from dagster_project.sources.feedback import CORRECTION_TYPES, DOMAINS, FEEDBACK_TYPES, FLAG_TYPES

TEXTS = pl.List(pl.String)
TIERS = ("premium", "high", "standard", "low", "very_low")
FORMATS = ("instruction", "cot", "correction", "preference", "unpaired")
REASONS = (
    "flag", "negative_rating", "neutral_rating", "failed", "rejected", "not_ready", "contradicted", "missing_text",
    "contested", "conflicting", "refusal", "tie", "no_contrast", "low_weight", "contaminated", "recipe", "duplicate",
    "near_duplicate", "leak",
)  # fmt: skip
WEIGHT_PARTS = (
    "base", "type", "temporal_factor", "explanation_bonus", "substance_bonus", "full_replacement_bonus", "basis_bonus",
    "escalation_bonus", "overconfidence_bonus",
)  # fmt: skip


@dataclass(frozen=True)
class Meaning:
    """A column's type, what it says, and what its values must satisfy: be one of some words, or lie in a range."""

    dtype: pl.DataType | type[pl.DataType]
    description: str
    words: tuple[str | int, ...] = ()
    least: float | None = None
    most: float | None = None
    is_repetitive: bool = False  # few different values: worth a dictionary in Parquet
    is_long_text: bool = False  # worth neither a dictionary nor statistics


def _text(description: str) -> Meaning:
    return Meaning(pl.String, description)


def _word(description: str) -> Meaning:
    return Meaning(pl.String, description, is_repetitive=True)


def _long(description: str) -> Meaning:
    return Meaning(pl.String, description, is_long_text=True)


def _one_of(words: tuple[str, ...], description: str) -> Meaning:
    return Meaning(pl.String, f"{description}: {', '.join(words)}", words, is_repetitive=True)


def _fraction(description: str) -> Meaning:
    return Meaning(pl.Float64, description, least=0, most=1)


def _count(description: str) -> Meaning:
    return Meaning(pl.Int64, description, least=0)


def _signed_fraction(description: str) -> Meaning:
    return Meaning(pl.Float64, description, least=-1, most=1)


def _is(description: str) -> Meaning:
    return Meaning(pl.Boolean, description)


def _epoch(description: str) -> Meaning:
    return Meaning(pl.Float64, f"{description} (seed 0: Unix seconds)")


def _instant(description: str) -> Meaning:
    return Meaning(INSTANT, f"{description} (UTC)")


def _hash(description: str) -> Meaning:
    return Meaning(pl.UInt64, description)


GLOSSARY: dict[str, Meaning] = {
    # identifiers
    "feedback_id": _text("the source's key of a feedback row (seed 0)"),
    "response_id": _text("the answer the feedback is about (seed 0)"),
    "session_id": _text("conversation session; null where unknown (G9), as stored in raw tables"),
    "user_id": _text("the person; null where unknown (G9), as stored in raw tables"),
    "voter_id": _text("who speaks: user:<id>, else session:<id>, else row:<feedback_id> (F3)"),
    "source_file": _word("the configured database the row was read from"),
    "source_rowid": Meaning(pl.Int64, "SQLite rowid in that database"),
    "extra": _long("columns of the source we do not know, as JSON"),
    "repairs": Meaning(TEXTS, "what was repaired on reading, as <column>:<repair> (G1)"),
    "is_written_back": _is(
        "processed, training_format, quality_weight and processed_at are as before our write-back (F10)"
    ),
    # times
    "timestamp": _epoch("when the feedback or response was given"),
    "response_timestamp": _epoch("when the answer was generated"),
    "processed_at": _epoch("when the source's own pipeline processed it"),
    "created_at": _epoch("when the row was inserted"),
    "occurred_at": _instant("event time, microseconds"),
    "event_date": Meaning(pl.Date, "UTC calendar day of the event time", is_repetitive=True),
    "as_of": _instant("everything before this instant counts (G2)"),
    "release_date": Meaning(pl.Date, "last day the release's as_of covers"),
    "week_start": Meaning(pl.Date, "Monday of the ISO week"),
    # feedback as stored
    "feedback_type": _word("rating, correction, preference or flag; raw tables keep the spelling of the source"),
    "rating": Meaning(pl.Int64, "-1/+1 (thumbs) or 1..5 (five); the source writes 1 on rows nobody rated"),
    "rating_scale": _one_of(("thumbs", "five"), "configured scale of the source"),
    "correction": _long("the correct answer as the user gave it"),
    "correction_type": _word(f"{', '.join(CORRECTION_TYPES)}; null where unknown"),
    "what_was_wrong": _long("the user's explanation of the error"),
    "preferred_response": _long("the answer the user would have preferred"),
    "comparison_basis": _long("why it is better"),
    "flag_type": _word(f"{', '.join(FLAG_TYPES)}"),
    "flag_details": _long("what the user said about the flag"),
    "original_query": _long("the user's question"),
    "original_response": _long("the assistant's answer"),
    "conversation_context": _long("recent conversation; part of the prompt"),
    "domain": _word(f"{', '.join(DOMAINS)}; unknown values count as general outside raw tables (G8)"),
    "response_confidence": _fraction("the assistant's own confidence"),
    "confidence": Meaning(pl.Float64, "confidence of the response or of the detector, 1 for explicit signals"),
    "escalated_to_claude": Meaning(pl.Int64, "0/1 as stored", (0, 1)),
    "escalated": Meaning(pl.Int64, "whether the answer was escalated, as stored"),
    "processed": Meaning(pl.Int64, "the source's own flag"),
    "training_format": _word("format of an example (D7); in raw tables what the source's own pipeline made of it"),
    "quality_weight": Meaning(pl.Float64, "training weight at as_of (F4); in raw tables the source's stale one"),
    # feedback as derived
    "effective_type": _one_of(FEEDBACK_TYPES, "what the row really is: a comment on a thumb is a rating (F7)"),
    "sentiment": _one_of(("positive", "negative", "neutral"), "of ratings only (F2)"),
    "comment": _long("the remark of a comment on a thumb (F7)"),
    "status": _one_of(("active", "duplicate", "superseded"), "one voice per person (F3)"),
    "status_ref": _text("the row that supersedes this one, or of which it is a duplicate"),
    "weight_parts": Meaning(
        pl.Struct(dict.fromkeys(WEIGHT_PARTS, pl.Float64)),
        "how the weight came about: (base + type) * temporal_factor + bonuses, clamped to 0..1 (F4)",
        is_repetitive=True,
    ),
    "tier": _one_of(TIERS, "of the weight (F5)"),
    "base_tier": _one_of(TIERS, "of the weight at age 0 (F5)"),
    "source_quality_weight": Meaning(pl.Float64, "the weight the source stored when the row was saved; never decayed"),
    "error_type": _one_of(ERROR_TYPES, "what kind of error a correction mends (F9)"),
    "is_escalated": _is("the answer came from the teacher model"),
    "is_processed": _is("the source's own flag; null counts as pending"),
    "is_contested": _is("people disagree about this answer, or flagged or corrected it (F8); null where not a vote"),
    "has_query": _is("the question is not blank"),
    "has_answer": _is("the answer is not blank"),
    "what_was_wrong_length": _count("code points"),
    "correction_length": _count("code points"),
    "comparison_basis_length": _count("code points"),
    "prompt_key": _text("first 16 hex digits of the SHA-256 of the normalised question (G10)"),
    "split": _one_of(("train", "validation", "test"), "decided by the prompt alone (T3)"),
    "voice_key": _hash("same voter, response and content (F3)"),
    "thread_key": _hash("same prompt and context (G10)"),
    "answer_key": _hash("same prompt, context and answer (G10)"),
    "answer_hash": _hash("the answer, normalised (G10)"),
    "correction_hash": _hash("the correction, normalised (G10)"),
    "preferred_hash": _hash("the preferred response, normalised (G10)"),
    "record_hash": _hash("what a correction record says, normalised: the quoted answer and the output (T2)"),
    # quarantine
    "system": _word("source system"),
    "table": _word("source table"),
    "key": _text("business key as text; null where missing or unreadable"),
    "reasons": Meaning(TEXTS, "why the row was refused, as <kind>:<column> (G5, F1)"),
    "row": _long("the row as stored, as JSON (G11)"),
    # aggregates
    "thumbs_up_count": _count("positive ratings (seed 0)"),
    "thumbs_down_count": _count("negative ratings (seed 0)"),
    "rating_count": _count("ratings, comments included"),
    "correction_count": _count("corrections (seed 0)"),
    "preference_count": _count("preferences (seed 0)"),
    "flag_count": _count("flags (seed 0)"),
    "feedback_count": _count("active feedback rows"),
    "positive_count": _count("positive ratings (seed 0)"),
    "negative_count": _count("negative ratings (seed 0)"),
    "neutral_count": _count("neutral ratings"),
    "rated_count": _count("ratings that are positive or negative"),
    "avg_rating": Meaning(pl.Float64, "mean rating; five-point scale only (seed 0)", least=1, most=5),
    "net_sentiment": _signed_fraction("(up - down) / (up + down); null without ratings (seed 0, F11)"),
    "confidence_delta": _signed_fraction("up / (up + down) minus the mean confidence of the rated rows (seed 0, F11)"),
    "first_feedback_at": _epoch("earliest active feedback"),
    "last_feedback_at": _epoch("latest active feedback"),
    "session_ids": Meaning(TEXTS, "known sessions that gave feedback, sorted (seed 0)"),
    "total_responses": _count("responses of the session; null where the source does not tell (seed 0)"),
    "feedback_given": _count("responses with active feedback (seed 0)"),
    "feedback_rate": Meaning(pl.Float64, "feedback_given / total_responses (seed 0)", least=0),
    "session_quality": _fraction("positive / (positive + negative), 0.5 without ratings (seed 0)"),
    "started_at": _epoch("first active feedback of the session"),
    "last_activity_at": _epoch("last active feedback of the session"),
    "primary_domain": _word("most frequent domain, ties alphabetical (seed 0)"),
    "topics": _text("seed 0's column; the source never fills it"),
    "mean_weight": _fraction("mean training weight"),
    "rank": Meaning(pl.Int64, "1 = first", least=1),
    # stats (seed 0's GET /api/feedback/stats)
    "total_feedback": _count("active feedback rows"),
    "processed_count": _count("rows the source's own flag calls processed"),
    "pending_count": _count("the others"),
    "avg_weight": _fraction("mean training weight; null without feedback"),
    "high_quality_count": _count("weight >= 0.7"),
    "recent_24h": _count("in the 24 hours before as_of"),
    # error patterns
    "pattern": _word("error type of a correction, flag type of a flag, or thumbs_down"),
    "signal_count": _count("negative signals in the week"),
    "domain_count": _count("negative signals of the domain in the week"),
    "share": _fraction("of the domain's negative signals in the week"),
    "baseline_share": _fraction("the same over the 4 weeks before; null without signals there"),
    "share_change": _signed_fraction("share minus baseline_share"),
    "share_change_low": _signed_fraction("lower end of its 95 % interval (Newcombe)"),
    "share_change_high": _signed_fraction("upper end of its 95 % interval (Newcombe)"),
    "verdict": _one_of(("rising", "falling", "steady", "new", "too few"), "what the interval says"),
    "rank_score": Meaning(pl.Float64, "signal_count times share_change_low; null where too few"),
    # source aggregates compared
    "stored_table": _word("the source's own aggregate table"),
    "stored_column": _word("its column"),
    "compared_count": _count("rows in both"),
    "differing_count": _count("rows in which the source is wrong"),
    "stored_total": Meaning(pl.Int64, "sum over the source's rows"),
    "true_total": Meaning(pl.Int64, "sum over ours"),
    # signals
    "signal_id": _text("system and key"),
    "kind": _word("rating, comment, correction, preference, flag"),
    "subject_id": _text("what the signal is about"),
    "polarity": _one_of(("positive", "negative", "neutral"), "semantics N"),
    "is_explicit": _is("a person said it; false where it was detected"),
    "weight": _fraction("F4 for feedback, else the confidence"),
    # training
    "id": _text("hash of format, source and origin ids (T1); in raw tables the source's own key"),
    "format": _one_of(FORMATS, "training format"),
    "source": _word("which rule made the example (F6)"),
    "origin_ids": Meaning(TEXTS, "the feedback rows or the distilled example it was made from"),
    "origin_id": _text("the feedback row or distilled example it was made from"),
    "partner_id": _text("the thumbs-up row a thumbs-down answer is paired with"),
    "partner_event_date": Meaning(pl.Date, "day of that row"),
    "reason": _one_of(REASONS, "why it does not leave (T1); null where it leaves"),
    "early_reason": _one_of(REASONS, "reason that comes before looking at other candidates"),
    "late_reason": _one_of(REASONS, "reason that comes after looking for reversed pairs"),
    "side_a": _hash("what T2 compares beside prompt and context: the (chosen) answer, or the record"),
    "side_b": _hash("the rejected answer, the label, or whether a correction changes nothing"),
    "up_count": _count("active thumbs up"),
    "down_count": _count("active thumbs down"),
    "objection_count": _count("active corrections and flags harmful or incorrect"),
    "duplicate_of": _text("id of the example that leaves instead"),
    "instruction": _long("what is asked"),
    "input": _long("further input, '' where there is none"),
    "output": _long("what should be answered"),
    "prompt": _long("the user's question"),
    "chosen": _long("the better answer"),
    "rejected": _long("the worse answer"),
    "completion": _long("the answer that was rated"),
    "label": _is("whether it was rated up"),
    "context": _long("conversation before the prompt; null without one"),
    # distillation as stored (seed 2)
    "query": _long("the user's question (seed 2)"),
    "query_context": _long("conversation and project before it (seed 2)"),
    "sam_attempt": _long("SAM's own answer before the teacher was asked (seed 2)"),
    "sam_confidence": _fraction("SAM's confidence in it (seed 2)"),
    "sam_reasoning": _long("SAM's own reasoning (seed 2)"),
    "claude_response": _long("the teacher's answer (seed 2)"),
    "response": _long("the teacher's answer (legacy)"),
    "good_response": _long("the better answer of a synthetic pair"),
    "bad_response": _long("the worse answer of a synthetic pair, also written by the teacher"),
    "reasoning_type": _word("how the teacher reasoned (seed 2); null where unknown"),
    "reasoning_steps": _long("JSON array of steps (seed 2)"),
    "tool_usage": _long("JSON array of tool calls (seed 2)"),
    "corrections": _long("JSON object: sam_errors and improvements (seed 2)"),
    "principles": _long("JSON array of principles (seed 2)"),
    "subdomain": _word("e.g. python (seed 2)"),
    "task_type": _word("e.g. debug (seed 2)"),
    "complexity": Meaning(pl.Int64, "1 to 10", least=1, most=10),
    "stored_complexity": Meaning(
        pl.Int64, "the source's own, 1 to 10; what is extracted is not in it", least=1, most=10
    ),
    "quality_score": _fraction("D5, recomputed; in raw tables the stored one"),
    "source_quality_score": Meaning(pl.Float64, "the score the source stored"),
    "human_reviewed": Meaning(
        pl.Int64, "as stored: 1 approved, -1 rejected, 0 pending (in `examples`: 0/1 and `approved`)"
    ),
    "reviewer_notes": _long("as stored"),
    "training_ready": Meaning(pl.Int64, "as stored"),
    "export_count": Meaning(pl.Int64, "as stored"),
    "last_exported_at": _epoch("when the source was last told of an export"),
    "approved": Meaning(pl.Int64, "0/1 as stored"),
    "reasoning_pattern_id": _text("row of reasoning_patterns"),
    "reviewed_at": _epoch("when the source's reviewer decided"),
    "exported_at": _epoch("when the source exported it"),
    "final_answer": _long("the last line of a chain of thought"),
    "success": Meaning(pl.Int64, "0/1 as stored"),
    "example_id": _text(
        "distilled example: the winner's id, with its table before it unless that is distillation_examples"
    ),
    "what_sam_said": _long("the part of SAM's answer that is wrong"),
    "correct_answer": _long("what SAM should have said"),
    "improvements": _long("JSON array of texts"),
    "lesson_learned": _long("in the teacher's words"),
    "priority": Meaning(pl.Int64, "as stored"),
    "assigned_to": _word("as stored"),
    "updated_at": _epoch("when the row was last changed"),
    "principle": _long("a rule of thumb"),
    "examples": _long("JSON array"),
    "importance": Meaning(pl.Float64, "as stored"),
    "source_count": Meaning(pl.Int64, "as stored"),
    "verified": Meaning(pl.Int64, "as stored"),
    "name": _text("of a skill"),
    "description": _long("of a skill"),
    "domains": _long("JSON array"),
    "thought_id": _text("md5(prompt + response[:100])[:12]: the id of its chain of thought (sources.md)"),
    "interaction_key": _hash("the normalised response (G10): with prompt_key it identifies an interaction (D2)"),
    # distilled examples
    "example_date": Meaning(pl.Date, "day of the example's winning row", is_repetitive=True),
    "place": _count("precedence of a source row within its example, 1 = winner (D2)"),
    "source_id": _text("the source row's own key"),
    "origin": _word("the table of the winner, or synthetic_pair"),
    "source_review": Meaning(pl.Int64, "the source's verdict: 1 approved, -1 rejected, 0 pending or a machine's (D6)"),
    "stored_flags": _long("JSON array of quality concerns, seed 2's quality_flags as stored"),
    "quality_flags": Meaning(TEXTS, "stored and detected quality concerns (D4)"),
    "extracted": Meaning(
        TEXTS, "columns whose value was extracted from the text (D3), and reconstructed_response (D2)"
    ),
    "source_rows": Meaning(TEXTS, "<table>:<id> of every source row, the winner first (D2)"),
    "step_count": _count("reasoning steps"),
    "error_count": _count("errors of SAM named in the corrections"),
    "principle_count": _count("principles"),
    "source_training_format": _word("the format the source stored"),
    "has_attempt": _is("SAM's attempt has a word in it; of a synthetic pair the bad answer"),
    "changed_fraction": _fraction("share of characters in which attempt and answer differ (S4)"),
    "attempt_hash": _hash("SAM's attempt (G10)"),
    "is_failed": _is("a chain of thought alone that did not succeed"),
    "feedback_verdict": _one_of(("validated", "contradicted"), "what users say of the teacher's answer (M1)"),
    "review_status": _one_of(("pending", "approved", "rejected"), "by our own review, else the source's (D6, D8)"),
    "is_own_review": _is("our own review decided"),
    "is_ready": _is("may leave for training (D6)"),
    "reviewer": _word("who decided"),
    "note": _long("what the reviewer wrote"),
    "decided_at": _instant("when the reviewer decided"),
    "review_reasons": Meaning(TEXTS, "why it waits for review"),
    "has_feedback": _is("users said something about it"),
    "is_contradicted": _is("users object to the teacher's answer (M1)"),
    "item_id": _text("example_id, or feedback_id of a user's correction"),
    "review_verdict": _one_of(
        ("approved", "rejected", "disputed"), "what our reviewers say; disputed: they disagree (D8)"
    ),
    "content_hash": _text("the texts a reviewer sees; another hash, and an approval lapses"),
    "example_count": _count("distilled examples"),
    "chain_of_thought_count": _count("examples of this reasoning type"),
    "tool_use_count": _count("examples of this reasoning type"),
    "direct_count": _count("examples of this reasoning type"),
    "multi_step_count": _count("examples of this reasoning type"),
    "meta_cognitive_count": _count("examples of this reasoning type"),
    "instruction_format_count": _count("examples whose format is instruction"),
    "cot_format_count": _count("examples whose format is cot"),
    "correction_format_count": _count("examples whose format is correction"),
    "preference_format_count": _count("examples whose format is preference"),
    "approved_count": _count("examples that are approved"),
    "rejected_count": _count("examples that are rejected"),
    "ready_count": _count("examples that are ready"),
    "mean_score": _fraction("mean quality_score"),
    "validated_rate": _fraction("share of examples users validated (M1)"),
    "contradicted_rate": _fraction("share of examples users contradicted (M1)"),
    "repetition_rate": _fraction("share of examples flagged repetition (D4)"),
    "incomplete_rate": _fraction("share of examples flagged incomplete (D4)"),
    "no_reasoning_rate": _fraction("share of examples flagged no_reasoning (D4)"),
    "too_short_rate": _fraction("share of examples flagged too_short (D4)"),
    "too_long_rate": _fraction("share of examples flagged too_long (D4)"),
    "code_only_rate": _fraction("share of examples flagged code_only (D4)"),
    "refusal_rate": _fraction("share of examples flagged refusal (D4)"),
    "uncertain_rate": _fraction("share of examples flagged uncertain (D4)"),
    "outdated_rate": _fraction("share of examples flagged outdated (D4)"),
    "hallucination_risk_rate": _fraction("share of examples flagged hallucination_risk (D4)"),
}
