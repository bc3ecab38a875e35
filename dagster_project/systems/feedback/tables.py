"""The tables of feedback: what comes in, what is derived from it, what is counted."""

from dagster_project.contracts.meaning import count, long_text
from dagster_project.contracts.shared import CANDIDATE
from dagster_project.contracts.table import Table, by_name
from dagster_project.systems.feedback.columns import COLUMNS

KEYS = """
    feedback_id response_id session_id? user_id? voter_id occurred_at event_date feedback_type effective_type sentiment? comment?
    rating? rating_scale correction_type? flag_type? domain error_type? response_confidence? is_escalated is_processed
    source_quality_weight? what_was_wrong_length? correction_length? comparison_basis_length? has_query has_answer prompt_key
    split response_key voice_key thread_key? answer_key? answer_hash? correction_hash? preferred_hash? record_hash? is_fragment?
    is_respaced? loose_hash? is_unseen_attempt?
"""
LINKS = ("response_key", "thread_key")  # F3, F6, F8: a row's own response, and what was asked
RESPONSE_QUERY, RESPONSE_TEXT = long_text("the user's question"), long_text("the assistant's answer")

TABLES = by_name(
    COLUMNS,
    Table(
        "raw_feedback__entries",
        "One valid feedback row, its texts kept here once (the feedback system's table `feedback`).",
        ("feedback_id",),
        """feedback_id response_id session_id user_id? timestamp response_timestamp? feedback_type rating? correction?
        correction_type? what_was_wrong? preferred_response? comparison_basis? flag_type? flag_details? original_query
        original_response conversation_context? domain? response_confidence? escalated_to_claude? processed?
        training_format? quality_weight? processed_at? created_at? extra? occurred_at event_date rating_scale source_file
        source_rowid repairs is_written_back filled_from?""",
        is_by_day=True,
        said={
            "feedback_type": "rating, correction, preference or flag, in the source's spelling",
            "correction_type": "how the correction relates to the answer, as stored",
            "flag_type": "what was flagged, as stored",
        },
    ),
    Table(
        "raw_feedback__responses",
        "One answer the assistant gave, rated or not, with its texts (the feedback system's table `responses`).",
        ("response_id",),
        """response_id session_id? query? response? timestamp? confidence? escalated? extra? source_file source_rowid repairs
        response_hash""",
        own={"query": RESPONSE_QUERY, "response": RESPONSE_TEXT},
        said={
            "response_id": "the answer",
            "timestamp": "when the answer was given, as the source says",
            "confidence": "how sure the assistant was of the answer, as stored",
        },
    ),
    Table(
        "raw_feedback__stored_aggregates",
        "A file's own aggregate of a response; read only to say how far off it is.",
        ("source_file", "response_id"),
        """response_id thumbs_up_count? thumbs_down_count? correction_count? preference_count? flag_count? extra?
        source_file source_rowid""",
        unchecked=tuple(f"{name}_count" for name in ("thumbs_up", "thumbs_down", "correction", "preference", "flag")),
        said={
            "response_id": "the answer the aggregate is about",
            "thumbs_up_count": "thumbs up, as the source's own aggregate has it; null where it has none",
            "thumbs_down_count": "thumbs down, as the source's own aggregate has it; null where it has none",
            "correction_count": "corrections, as the source's own aggregate has it; null where it has none",
            "preference_count": "preferences, as the source's own aggregate has it; null where it has none",
            "flag_count": "flags, as the source's own aggregate has it; null where it has none",
        },
    ),
    Table(
        "raw_feedback__stored_sessions",
        "A file's own aggregate of a session; read only to say how far off it is.",
        ("source_file", "session_id"),
        """session_id total_responses? feedback_given? positive_count? negative_count? correction_count? extra?
        source_file source_rowid""",
        unchecked=("total_responses", "feedback_given", "positive_count", "negative_count", "correction_count"),
        said={
            "session_id": "the session the aggregate is about",
            "total_responses": "responses of the session, as the source's own aggregate has it; null where it has none",
            "feedback_given": "feedback given, as the source's own aggregate has it; null where it has none",
            "positive_count": "positive ratings, as the source's own aggregate has it; null where it has none",
            "negative_count": "negative ratings, as the source's own aggregate has it; null where it has none",
            "correction_count": "corrections, as the source's own aggregate has it; null where it has none",
        },
    ),
    Table(
        "core__feedback_keys",
        "What the set logic needs of a feedback row, computed once per day while its text is in memory.",
        ("feedback_id",),
        KEYS,
        is_by_day=True,
        links=LINKS,
    ),
    Table(
        "core__voices",
        "One feedback row that does not count because its voter said it again.",
        ("feedback_id",),
        "feedback_id status status_ref",
        kept_by="feedback_id",
    ),
    Table(
        "core__answers",
        "One rated answer of one response that others spoke about too: their votes and objections.",
        ("response_id", "answer_key"),
        "response_id answer_key? up_count down_count has_objection",
        kept_by="response_id",
        said={
            "response_id": "the response the answer was rated as",
        },
    ),
    Table(
        "core__flagged_responses",
        "One response somebody flagged as harmful, as `responses` shows it.",
        ("response_id",),
        "response_id response_key thread_key answer_hash",
        links=LINKS,
        said={
            "response_id": "the answer that was flagged",
            "thread_key": "the same for answers to an equal question in an equal context",
        },
    ),
    Table(
        "core__condemned_answers",
        "One answer, to one prompt in one context, that somebody flagged as harmful: it is never taught.",
        ("thread_key", "answer_hash"),
        "thread_key answer_hash",
        kept_by="thread_key",
    ),
    Table(
        "core__feedback",
        "One feedback row before as_of: who speaks, whether it counts, what it weighs and why.",
        ("feedback_id",),
        """feedback_id response_id session_id? user_id? voter_id occurred_at event_date feedback_type effective_type
        sentiment? comment? rating? rating_scale status status_ref? quality_weight weight_parts tier base_tier base_weight
        source_quality_weight? is_contested? error_type? correction_type? flag_type? domain response_confidence?
        is_escalated is_processed has_query has_answer prompt_key split thread_key? answer_key? answer_hash?
        correction_hash? preferred_hash? record_hash? is_fragment? is_respaced? loose_hash? is_unseen_attempt?""",
        is_view=True,
        is_for_analysts=True,
    ),
    Table(
        "core__feedback_counts",
        "One day, domain and kind of active feedback: how many rows, and what they weigh together.",
        ("event_date", "domain", "effective_type", "sentiment", "error_type", "flag_type"),
        """event_date domain effective_type sentiment? error_type? flag_type? feedback_count processed_count recent_24h
        high_quality_count weight_micros""",
    ),
    Table(
        "core__responses",
        "One rated answer: what its active feedback adds up to, in the columns of the feedback system's feedback_aggregates.",
        ("response_id",),
        """response_id thumbs_up_count thumbs_down_count avg_rating? rating_count correction_count preference_count
        flag_count net_sentiment? confidence_delta? first_feedback_at last_feedback_at session_ids""",
        view="response_feedback",
        is_view=True,
        is_for_analysts=True,
        said={
            "response_id": "the answer",
        },
    ),
    Table(
        "core__feedback_sessions",
        "One known session that gave active feedback, or whose own responses got some, as the feedback system's feedback_sessions.",
        ("session_id",),
        """session_id total_responses? feedback_given feedback_rate? positive_count negative_count rated_count
        correction_count session_quality started_at? last_activity_at? primary_domain? topics""",
        own={"rated_count": count("active rows, over which session_quality is the mean")},
        view="feedback_sessions",
        is_view=True,
        is_for_analysts=True,
        said={
            "session_id": "the conversation session",
            "correction_count": "active corrections in the session",
            "positive_count": "active positive ratings in the session",
            "negative_count": "active negative ratings in the session",
        },
    ),
    Table(
        "core__correction_requests",
        "One answer that was rated down, that nobody has corrected and no person settled yet, heaviest first, with its texts.",
        ("feedback_id",),
        """rank answer_key? feedback_id response_id session_id? user_id? domain negative_count quality_weight occurred_at
        prompt_key is_escalated response_confidence? original_query original_response conversation_context? comments""",
        is_view=True,
        is_for_analysts=True,
        said={
            "feedback_id": "the heaviest feedback row that rated the answer down",
            "negative_count": "how many active ratings of this answer are negative",
            "quality_weight": "what that row weighs in training, by which the list is ordered",
            "answer_key": "the same for equal answers to an equal question in an equal context; null where a text is empty",
        },
    ),
    Table(
        "core__safety_queue",
        "One answer flagged as harmful that no person has settled yet, newest first, with its texts.",
        ("feedback_id",),
        """rank feedback_id response_id session_id? user_id? occurred_at domain quality_weight is_escalated
        response_confidence? original_query original_response conversation_context? flag_details?""",
        is_view=True,
        is_for_analysts=True,
        said={
            "feedback_id": "the feedback row that flags the answer",
        },
    ),
    Table(
        "core__possible_partners",
        "One prompt and context with thumbs both up and down, and one sum of bonuses: the newest thumbs-up answer to it.",
        ("thread_key", "bonuses"),
        """thread_key has_answers feedback_id? event_date? occurred_at? base_weight? type_weight? bonuses? answer_hash?
        loose_hash? is_unseen_attempt?""",
        kept_by="thread_key",
        said={
            "feedback_id": "the newest thumbs-up row; null where all its thumbs-up answers are contested or empty",
            "event_date": "day of that row, UTC",
            "occurred_at": "when it was given (UTC)",
            "base_weight": "what it weighed on its first day",
            "answer_hash": "the same for answers equal to that row's",
            "loose_hash": "the same for answers equal to that row's but for white space outside code",
            "is_unseen_attempt": "that row's answer talks of an attempt the prompt does not show",
        },
    ),
    Table(
        "core__rating_partners",
        "One prompt and context with thumbs both up and down: the answer its thumbs-down answers are paired with.",
        ("thread_key",),
        """thread_key has_answers feedback_id? event_date? occurred_at? quality_weight? base_weight? answer_hash? loose_hash?
        is_unseen_attempt?""",
        said={
            "feedback_id": "the heaviest thumbs-up row; null where all its thumbs-up answers are empty",
            "event_date": "day of that row, UTC",
            "occurred_at": "when it was given (UTC)",
            "quality_weight": "what that row weighs in training, as of the publication",
            "base_weight": "what it weighed on its first day",
            "answer_hash": "the same for answers equal to that row's",
            "loose_hash": "the same for answers equal to that row's but for white space outside code",
            "is_unseen_attempt": "that row's answer talks of an attempt the prompt does not show",
        },
    ),
    Table(
        "core__feedback_candidates",
        "One feedback row as a candidate for a training set: for what format, and what speaks against it.",
        ("id",),
        CANDIDATE,
        is_view=True,
    ),
    Table(
        "core__pair_votes",
        "One explicit pair: how many people say so, and how many say the opposite.",
        ("thread_key", "side_a", "side_b"),
        "thread_key side_a side_b votes_for votes_against",
        is_of_release=True,
    ),
    Table(
        "metric__feedback_daily",
        "One day and domain: active feedback by type and sentiment.",
        ("event_date", "domain"),
        """event_date domain feedback_count rating_count correction_count preference_count flag_count positive_count
        negative_count neutral_count rated_count mean_weight net_sentiment? net_sentiment_low? net_sentiment_high?""",
        said={"rated_count": "positive_count + negative_count"},
        days_of="feedback",
    ),
    Table(
        "metric__feedback_stats",
        "One row: the figures of the feedback system's statistics page (GET /api/feedback/stats) at as_of.",
        ("as_of",),
        """as_of total_feedback rating_count correction_count preference_count flag_count positive_count negative_count
        net_sentiment? processed_count pending_count avg_weight? high_quality_count recent_24h""",
        view="feedback_stats",
    ),
    Table(
        "metric__error_patterns",
        "One week, domain and kind of complaint: how often, and whether its share is rising.",
        ("week_start", "domain", "pattern"),
        """week_start domain pattern signal_count domain_count share baseline_share? share_change? share_change_low?
        share_change_high? verdict rank_score? rank?""",
    ),
    Table(
        "metric__source_aggregates",
        "One column of the source's own aggregate tables: how far it is from what its rows add up to.",
        ("stored_table", "stored_column"),
        "stored_table stored_column compared_count differing_count stored_total true_total",
        empty_without=("raw_feedback__stored_aggregates", "raw_feedback__stored_sessions"),
    ),
)
