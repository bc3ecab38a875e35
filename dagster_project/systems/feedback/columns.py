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
    interval,
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
    "response_id": text("the answer the feedback is about"),
    "voter_id": text("who speaks: user:<id>, where unknown session:<id>, where that is unknown row:<feedback_id>"),
    "filled_from": hash_of(
        "hash of the row of `responses` that gave feedback without texts its texts, 0 for none; null where it came with texts"
    ),
    "response_hash": hash_of("another value, and feedback that took its texts from this row is read again"),
    # times
    "response_timestamp": epoch("when the answer was generated"),
    "processed_at": epoch("when the source's own pipeline processed it"),
    # feedback as stored
    "feedback_type": word("rating, correction, preference or flag, as stored"),
    "rating": Meaning(pl.Int64, "-1/+1 (thumbs) or 1..5 (five); the source writes 1 on rows nobody rated"),
    "rating_scale": one_of(("thumbs", "five"), "the scale the ratings of this source have, as configured"),
    "correction": long_text("the correct answer as the user gave it"),
    "correction_type": word(
        f"how the correction relates to the answer: {', '.join(CORRECTION_TYPES)}; null where unknown"
    ),
    "preferred_response": long_text("the answer the user would have preferred"),
    "comparison_basis": long_text("why the preferred answer is better, in the user's words"),
    "flag_type": word(f"what was flagged: {', '.join(FLAG_TYPES)}; null where it is no flag"),
    "flag_details": long_text("what the user said about the flag"),
    "original_query": long_text("the user's question"),
    "original_response": long_text("the assistant's answer"),
    "conversation_context": long_text("the conversation before the question; null without one"),
    "response_confidence": fraction(
        "how sure the assistant was of its answer, as it said itself; null where it did not"
    ),
    "escalated_to_claude": Meaning(pl.Int64, "whether a teacher model gave the answer, 0 or 1 as stored", (0, 1)),
    "escalated": Meaning(pl.Int64, "whether a teacher model gave the answer, as stored"),
    # feedback as derived
    "effective_type": one_of(FEEDBACK_TYPES, "what the row really is: a comment on a thumb is a rating"),
    "sentiment": one_of(("positive", "negative", "neutral"), "what a rating says; null where the row is no rating"),
    "comment": long_text("what the user wrote beside a thumb; null where the row is no such remark"),
    "status_ref": text("feedback_id of the row that counts instead; null where this one does"),
    "weight_parts": Meaning(
        pl.Struct(dict.fromkeys(WEIGHT_PARTS, pl.Float64)),
        "how quality_weight came about: (base + type) * temporal_factor + bonuses, at least 0 and at most 1",
        is_repetitive=True,
    ),
    "base_tier": one_of(TIERS, "the tier of base_weight"),
    "source_quality_weight": Meaning(pl.Float64, "the weight the source stored when the row was saved; never decayed"),
    "is_escalated": flag("the answer came from the teacher model"),
    "is_processed": flag("the source's own flag; null counts as pending"),
    "is_contested": flag(
        "whether others disagree about this answer or object to it; null where the row is no vote that counts"
    ),
    "what_was_wrong_length": count("length of what_was_wrong, in characters"),
    "correction_length": count("length of the correction, in characters"),
    "comparison_basis_length": count("length of comparison_basis, in characters"),
    "response_key": hash_of("the same for rows about one response (hash of response_id)"),
    "voice_key": hash_of("the same for rows in which one person says one thing about one response"),
    "answer_key": hash_of(
        "the same for equal answers to an equal question in an equal context; null where question or answer is empty"
    ),
    "correction_hash": hash_of("the same for equal corrections"),
    "preferred_hash": hash_of("the same for equal preferred answers"),
    "record_hash": hash_of("the same for equal correction records: the quoted answer and the correction"),
    "is_fragment": flag(
        "the correction is too short to stand in place of the answer; null where it is no correction or preference"
    ),
    "is_respaced": flag(
        "the better answer differs from the other in white space outside code at most; null where it is no correction or preference"
    ),
    "loose_hash": hash_of("the same for answers that are equal but for white space outside code"),
    # aggregates
    "thumbs_up_count": count("active thumbs up, or ratings of 4 and 5"),
    "thumbs_down_count": count("active thumbs down, or ratings of 1 and 2"),
    "rating_count": count("active ratings, comments on a thumb included"),
    "preference_count": count("active preferences"),
    "flag_count": count("active flags"),
    "positive_count": count("active positive ratings"),
    "negative_count": count("active negative ratings"),
    "neutral_count": count("active neutral ratings"),
    "avg_rating": Meaning(pl.Float64, "mean rating, 1..5; null on the thumbs scale", least=1, most=5),
    "net_sentiment": signed_fraction(
        "(positive - negative) / (positive + negative) of the ratings: -1 all down, 1 all up; null without either"
    ),
    **interval("net_sentiment", "rated_count", -1, 1),
    "confidence_delta": signed_fraction(
        "share of positive ratings minus the assistant's mean confidence in the rated answers; null where either is missing"
    ),
    "first_feedback_at": epoch("earliest active feedback"),
    "last_feedback_at": epoch("latest active feedback"),
    "session_ids": Meaning(TEXTS, "known sessions in which the response got feedback, sorted"),
    "total_responses": count("responses the session had; null where the source does not tell"),
    "feedback_given": count("the session's own responses with active feedback"),
    "feedback_rate": fraction("feedback_given / total_responses; null where total_responses is"),
    "session_quality": fraction(
        "mean over its active rows (rated_count): 1 for a thumb up, 0 for a thumb down or flag, 0.5 for others; 0.5 without rows"
    ),
    "started_at": epoch("first active feedback of the session"),
    "last_activity_at": epoch("last active feedback of the session"),
    "primary_domain": word("the most frequent domain of its rows, of equals the first by name"),
    "topics": Meaning(TEXTS, "the domains of its rows, most frequent first"),
    # stats (seed 0's GET /api/feedback/stats)
    "total_feedback": count("active feedback rows: each person's voice once"),
    "processed_count": count("active rows the source's own pipeline has taken"),
    "avg_weight": fraction("mean training weight of all active rows, as of the publication; null without feedback"),
    "high_quality_count": count("active rows that weigh 0.7 or more, as of the publication"),
    "recent_24h": count("active rows of the 24 hours before as_of"),
    "weight_micros": count("the sum of the rows' weights, in millionths"),
    # error patterns
    "signal_count": count("negative signals in the week"),
    "domain_count": count("negative signals of the domain in the week"),
    "share": fraction("signal_count / domain_count"),
    "baseline_share": fraction("the same share over the 4 weeks before; null without signals there"),
    "share_change": signed_fraction("share minus baseline_share"),
    "share_change_low": signed_fraction("lower end of share_change's 95 % interval (Newcombe)"),
    "share_change_high": signed_fraction("upper end of share_change's 95 % interval (Newcombe)"),
    "verdict": one_of(
        ("rising", "falling", "steady", "new", "too few"),
        "whether the kind of complaint is on the rise, by share_change and its interval",
    ),
    "rank_score": Meaning(
        pl.Float64,
        "signal_count times share_change_low, by which the rows are ranked; null where there are too few signals",
    ),
    # source aggregates compared
    "stored_table": word("which of the source's own aggregate tables"),
    "stored_column": word("which column of it"),
    "compared_count": count("rows both have"),
    "differing_count": count("of those, rows in which the source's figure is not what its feedback adds up to"),
    "stored_total": Meaning(pl.Int64, "sum of the source's figures"),
    "true_total": Meaning(pl.Int64, "sum of what its feedback adds up to"),
    # training
    "up_count": count("people whose latest thumb is up"),
    "down_count": count("people whose latest thumb is down"),
    "has_objection": flag("somebody corrected it, or flagged it as incorrect"),
    "type_weight": fraction("what the row's type adds to its weight"),
    "bonuses": fraction("what the row's bonuses add to its weight"),
    "has_answers": flag("some thumbs-up answer is not empty"),
    # distilled examples
    "comments": Meaning(TEXTS, "what those who rated the answer down wrote, newest first"),
}
