"""The glossary of feedback: what the columns mean that only its tables have."""

import polars as pl

from dagster_project.contracts.columns import TIERS
from dagster_project.contracts.meaning import (
    TEXTS,
    Meaning,
    count,
    epoch,
    flag,
    fraction,
    hash_of,
    long_text,
    one_of,
    signed_fraction,
    text,
    word,
)

# The words a column may hold (G8): closed sets refuse others, open ones map them and count them as drift.
FEEDBACK_TYPES = ("rating", "correction", "preference", "flag")
CORRECTION_TYPES = ("full_replacement", "partial_fix", "addition", "clarification")
FLAG_TYPES = ("harmful", "incorrect", "off_topic", "unhelpful", "repetitive", "incomplete", "other")
WEIGHT_PARTS = tuple(
    """
    base type temporal_factor explanation_bonus substance_bonus full_replacement_bonus basis_bonus
    escalation_bonus overconfidence_bonus
""".split()
)

COLUMNS: dict[str, Meaning] = {
    # identifiers
    "response_id": text("the answer the feedback is about (seed 0)"),
    "voter_id": text("who speaks: user:<id>, else session:<id>, else row:<feedback_id> (F3)"),
    "filled_from": hash_of("the row of `responses` shown to feedback without texts, 0 for none; null with texts (F1)"),
    "response_hash": hash_of("what feedback without texts may take from this row (F1)"),
    # times
    "response_timestamp": epoch("when the answer was generated"),
    "processed_at": epoch("when the source's own pipeline processed it"),
    # feedback as stored
    "feedback_type": word("rating, correction, preference or flag; raw tables keep the spelling of the source"),
    "rating": Meaning(pl.Int64, "-1/+1 (thumbs) or 1..5 (five); the source writes 1 on rows nobody rated"),
    "rating_scale": one_of(("thumbs", "five"), "configured scale of the source"),
    "correction": long_text("the correct answer as the user gave it"),
    "correction_type": word(f"{', '.join(CORRECTION_TYPES)}; null where unknown"),
    "preferred_response": long_text("the answer the user would have preferred"),
    "comparison_basis": long_text("why it is better"),
    "flag_type": word(f"{', '.join(FLAG_TYPES)}"),
    "flag_details": long_text("what the user said about the flag"),
    "original_query": long_text("the user's question"),
    "original_response": long_text("the assistant's answer"),
    "conversation_context": long_text("recent conversation; part of the prompt"),
    "response_confidence": fraction("the assistant's own confidence"),
    "escalated_to_claude": Meaning(pl.Int64, "0/1 as stored", (0, 1)),
    "escalated": Meaning(pl.Int64, "whether the answer was escalated, as stored"),
    # feedback as derived
    "effective_type": one_of(FEEDBACK_TYPES, "what the row really is: a comment on a thumb is a rating (F7)"),
    "sentiment": one_of(("positive", "negative", "neutral"), "of ratings only (F2)"),
    "comment": long_text("the remark of a comment on a thumb (F7)"),
    "status_ref": text("the row that supersedes this one, or of which it is a duplicate"),
    "weight_parts": Meaning(
        pl.Struct(dict.fromkeys(WEIGHT_PARTS, pl.Float64)),
        "how the weight came about: (base + type) * temporal_factor + bonuses, clamped to 0..1 (F4)",
        is_repetitive=True,
    ),
    "base_tier": one_of(TIERS, "of the weight at age 0 (F5)"),
    "source_quality_weight": Meaning(pl.Float64, "the weight the source stored when the row was saved; never decayed"),
    "is_escalated": flag("the answer came from the teacher model"),
    "is_processed": flag("the source's own flag; null counts as pending"),
    "is_contested": flag(
        "people disagree about this answer, or object to it (F8); null where it is no vote that counts"
    ),
    "what_was_wrong_length": count("code points"),
    "correction_length": count("code points"),
    "comparison_basis_length": count("code points"),
    "response_key": hash_of("same response_id"),
    "voice_key": hash_of("same voter, response and content (F3)"),
    "answer_key": hash_of("same prompt, context and answer (G10); null where one of the texts is empty"),
    "correction_hash": hash_of("the correction, normalised (G10)"),
    "preferred_hash": hash_of("the preferred response, normalised (G10)"),
    "record_hash": hash_of("what a correction record says, normalised: the quoted answer and the output (T2)"),
    "is_fragment": flag("the correction is too short to stand in place of the answer (F6); of explicit pairs only"),
    "is_respaced": flag("the better answer differs in white space outside code at most (T1); of explicit pairs only"),
    "loose_hash": hash_of("the rated answer without its white space outside code (T1)"),
    # aggregates
    "thumbs_up_count": count("positive ratings (seed 0)"),
    "thumbs_down_count": count("negative ratings (seed 0)"),
    "rating_count": count("ratings, comments included"),
    "preference_count": count("preferences (seed 0)"),
    "flag_count": count("flags (seed 0)"),
    "positive_count": count("positive ratings (seed 0)"),
    "negative_count": count("negative ratings (seed 0)"),
    "neutral_count": count("neutral ratings"),
    "avg_rating": Meaning(pl.Float64, "mean rating; five-point scale only (seed 0)", least=1, most=5),
    "net_sentiment": signed_fraction("(up - down) / (up + down); null without ratings (seed 0, F11)"),
    "confidence_delta": signed_fraction("up / (up + down) minus the mean confidence of the rated rows (seed 0, F11)"),
    "first_feedback_at": epoch("earliest active feedback"),
    "last_feedback_at": epoch("latest active feedback"),
    "session_ids": Meaning(TEXTS, "known sessions that gave feedback, sorted (seed 0)"),
    "total_responses": count("responses of the session; null where the source does not tell (seed 0)"),
    "feedback_given": count("the session's own responses with active feedback (seed 0)"),
    "feedback_rate": fraction("feedback_given / total_responses (seed 0)"),
    "session_quality": fraction(
        "mean over its rows: 1 thumb up, 0 thumb down or flag, else 0.5; 0.5 without rows (seed 0, F11)"
    ),
    "started_at": epoch("first active feedback of the session"),
    "last_activity_at": epoch("last active feedback of the session"),
    "primary_domain": word("most frequent domain, ties alphabetical (seed 0)"),
    "topics": Meaning(TEXTS, "the domains of its rows, most frequent first (seed 0)"),
    # stats (seed 0's GET /api/feedback/stats)
    "total_feedback": count("active feedback rows"),
    "processed_count": count("rows the source's own flag calls processed"),
    "avg_weight": fraction("mean training weight; null without feedback"),
    "high_quality_count": count("weight >= 0.7"),
    "recent_24h": count("in the 24 hours before as_of"),
    "weight_micros": count("the sum of the rows' weights, in millionths"),
    # error patterns
    "signal_count": count("negative signals in the week"),
    "domain_count": count("negative signals of the domain in the week"),
    "share": fraction("of the domain's negative signals in the week"),
    "baseline_share": fraction("the same over the 4 weeks before; null without signals there"),
    "share_change": signed_fraction("share minus baseline_share"),
    "share_change_low": signed_fraction("lower end of its 95 % interval (Newcombe)"),
    "share_change_high": signed_fraction("upper end of its 95 % interval (Newcombe)"),
    "verdict": one_of(("rising", "falling", "steady", "new", "too few"), "what the interval says"),
    "rank_score": Meaning(pl.Float64, "signal_count times share_change_low; null where too few"),
    # source aggregates compared
    "stored_table": word("the source's own aggregate table"),
    "stored_column": word("its column"),
    "compared_count": count("rows in both"),
    "differing_count": count("rows in which the source is wrong"),
    "stored_total": Meaning(pl.Int64, "sum over the source's rows"),
    "true_total": Meaning(pl.Int64, "sum over ours"),
    # training
    "up_count": count("voters whose latest thumb is up"),
    "down_count": count("voters whose latest thumb is down"),
    "has_objection": flag("somebody corrected it, or flagged it as incorrect"),
    "has_answers": flag("some thumbs-up answer is not empty"),
    # distilled examples
    "comments": Meaning(TEXTS, "what those who rated the answer down wrote, newest first (F7)"),
}
