"""What is derived, one row per thing: keys, statuses, weights, aggregates. Narrow: long texts stay in raw tables."""

from dagster_project.contracts.columns import RECORD_SPLIT
from dagster_project.contracts.meaning import count
from dagster_project.contracts.reaction_columns import REACTION_CONFIDENCE, REACTION_ORIGIN, REACTION_TURN_ID
from dagster_project.contracts.session_columns import TABLE_OWN as SESSION_OWN
from dagster_project.contracts.table import Table
from dagster_project.contracts.turn_columns import CORRECTION_TYPE, DECIDING_RULE, TURN_KIND

CANDIDATE = """id format source origin_id partner_id? event_date partner_event_date? occurred_at early_reason? late_reason?
    quality_weight base_weight tier domain error_type? label? prompt_key split thread_key? side_a? side_b?"""
SESSION = """session_id tenant_id workspace_id slice_id? user_id? started_at ended_at? event_date feedback_id? submitted_at?
    submitted_by? rating? verdict? edit_distance_pct? edit_distance_mark? output_edit_distance_pct? accuracy_score? completeness_score?
    style_match_score? error_categories output_issues has_missing_context? context_token_count? document_ids"""
SESSION_DAY = """tenant_id workspace_id date total_sessions positive_ratings negative_ratings skipped_ratings
    no_feedback_count first_pass_acceptance_rate? average_edit_distance? error_category_counts avg_accuracy_score?
    avg_completeness_score? avg_style_match_score? reviewed_count output_issue_counts missing_context_count
    missing_context_rate? sample_rate"""

ALL = (
    Table(
        "core__feedback_keys",
        "What the set logic needs of a feedback row, computed once per day while its text is in memory.",
        ("feedback_id",),
        """feedback_id response_id session_id? user_id? voter_id occurred_at event_date feedback_type effective_type
        sentiment? comment? rating? rating_scale correction_type? flag_type? domain error_type? response_confidence?
        is_escalated is_processed source_quality_weight? what_was_wrong_length? correction_length?
        comparison_basis_length? has_query has_answer prompt_key split voice_key thread_key? answer_key? answer_hash?
        correction_hash? preferred_hash? record_hash? is_fragment? is_respaced? loose_hash? is_unseen_attempt?""",
        is_by_day=True,
    ),
    Table(
        "core__voices",
        "One feedback row that does not count because its voter said it again (F3).",
        ("feedback_id",),
        "feedback_id status status_ref",
    ),
    Table(
        "core__answers",
        "One rated answer of one response that others spoke about too: their votes and objections (F8).",
        ("response_id", "answer_key"),
        "response_id answer_key? up_count down_count has_objection",
    ),
    Table(
        "core__flagged_responses",
        "One response somebody flagged as harmful, as `responses` shows it (F8).",
        ("response_id",),
        "response_id thread_key answer_hash",
    ),
    Table(
        "core__condemned_answers",
        "One answer, to one prompt in one context, that somebody flagged as harmful: it is never taught (F8).",
        ("thread_key", "answer_hash"),
        "thread_key answer_hash",
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
    ),
    Table(
        "core__distillation_sources",
        "One source row of a distilled example; rows of the same interaction are one example (D2).",
        ("example_id", "place"),
        "example_id place table source_id event_date example_date origin",
    ),
    Table(
        "core__distilled_answers",
        "One distilled example as its own texts tell: merged over generations, extracted, flagged, scored (D2-D5).",
        ("example_id",),
        """example_id source_id origin session_id? occurred_at event_date prompt_key split thread_key answer_hash
        attempt_hash? domain subdomain? task_type? reasoning_type? reasoning_steps? tool_usage? corrections? principles?
        complexity? stored_complexity? step_count error_count principle_count quality_flags source_quality_score?
        quality_score source_review is_source_ready source_training_format? has_query has_answer has_attempt
        changed_fraction? edit_distance_mark? is_hardly_changed is_unseen_attempt is_failed extracted source_rows content_hash""",
        is_by_day=True,
    ),
    Table(
        "core__reviews",
        "One example or user correction our own reviewers judged (D8).",
        ("example_id",),
        "example_id review_verdict reviewer note? decided_at",
    ),
    Table(
        "core__distillation",
        "One distilled example: its worth, what users say of it, whether it may leave and as what.",
        ("example_id",),
        """example_id source_id origin session_id? occurred_at event_date prompt_key split thread_key answer_hash
        attempt_hash? domain subdomain? task_type? reasoning_type? complexity? step_count quality_score
        source_quality_score? quality_flags quality_weight review_status is_own_review is_ready training_format
        feedback_verdict? feedback_count has_query has_answer has_attempt changed_fraction? edit_distance_mark?
        is_hardly_changed is_unseen_attempt is_failed extracted source_rows""",
    ),
    Table(
        "core__review_queue",
        "One example or user correction that waits for a person, most valuable first (D8).",
        ("item_id",),
        """rank item_id kind event_date domain quality_score quality_flags is_contradicted has_attempt has_feedback
        review_reasons""",
    ),
    Table(
        "core__responses",
        "One rated answer: what its active feedback adds up to (seed 0's feedback_aggregates, F11).",
        ("response_id",),
        """response_id thumbs_up_count thumbs_down_count avg_rating? rating_count correction_count preference_count
        flag_count net_sentiment? confidence_delta? first_feedback_at last_feedback_at session_ids""",
    ),
    Table(
        "core__feedback_sessions",
        "One known session that gave active feedback, or whose own responses got some (seed 0's feedback_sessions, F11).",
        ("session_id",),
        """session_id total_responses? feedback_given feedback_rate? positive_count negative_count rated_count
        correction_count session_quality started_at? last_activity_at? primary_domain? topics""",
        own={"rated_count": count("active rows, over which session_quality is the mean")},
    ),
    Table(
        "core__settlements",
        "One feedback row of the safety queue or the correction requests that a person has settled (F12).",
        ("feedback_id",),
        "feedback_id reviewer note settled_at",
    ),
    Table(
        "core__correction_requests",
        "One answer that was rated down, that nobody has corrected and no person settled yet, heaviest first (F12).",
        ("feedback_id",),
        """rank answer_key? feedback_id response_id session_id? user_id? domain negative_count quality_weight occurred_at
        prompt_key is_escalated response_confidence? original_query original_response conversation_context? comments""",
    ),
    Table(
        "core__safety_queue",
        "One active flag `harmful` that no person has settled yet, newest first (F12).",
        ("feedback_id",),
        """rank feedback_id response_id session_id? user_id? occurred_at domain quality_weight is_escalated
        response_confidence? original_query original_response conversation_context? flag_details?""",
    ),
    Table(
        "core__turn_pairs",
        "One turn and what the next message says of it (C1-C3), made once per day while the texts are in memory.",
        ("turn_key",),
        """turn_key turn_id turn_number user_id? session_id? thread_id occurred_at event_date prompt_key? next_turn_key?
        next_turn_id? next_at? similarity? feedback_status feedback_confidence correction_type? reason source_status?
        source_confidence? source_correction_type? intent?
        validation_outcome? quality_score? strategy_summary? query_source? response_source?
        refers_back said_status? said_confidence? said_reason? text_hash source_file""",
        is_by_day=True,
        unchecked=("quality_score",),
        own={"correction_type": CORRECTION_TYPE, "reason": DECIDING_RULE},
    ),
    Table(
        "core__turn_references",
        "One of the five turns a message may mean that points at an earlier turn, best first (C6).",
        ("message_turn_key", "rank"),
        "message_turn_key rank turn_key score similarity event_date",
        is_by_day=True,
    ),
    Table(
        "core__turns",
        "One turn before as_of: what the next message says of it, its scores, whether a planner may reuse it (C1-C5).",
        ("turn_key",),
        """turn_key user_id? turn_number turn_id session_id? thread_id occurred_at event_date feedback_status
        feedback_confidence correction_type? detected_in_turn? detected_at? similarity? reason source_status?
        source_confidence? source_correction_type? is_disputed? satisfaction_score? ranking_score is_reusable consecutive_rejections
        validation_outcome? quality_score? intent? strategy_summary? prompt_key? query_source? response_source?
        source_file""",
        unchecked=("quality_score",),
        own={"correction_type": CORRECTION_TYPE, "reason": DECIDING_RULE},
    ),
    Table(
        "core__strategies",
        "One turn with a strategy, best first; rejected ones are listed last and must not be reused (C4).",
        ("turn_key",),
        """rank turn_key user_id? turn_id session_id? occurred_at intent? strategy_summary feedback_status is_reusable
        ranking_score quality_score?""",
        unchecked=("quality_score",),
    ),
    Table(
        "core__machine_signals",
        "One detected rejection or acceptance with a confidence of 0.70 or more, and the turn it is about (C6).",
        ("message_turn_key",),
        """message_turn_key target_turn_key target_kind kind confidence reason occurred_at user_id? session_id? targets""",
        own={"kind": TURN_KIND, "reason": DECIDING_RULE},
    ),
    Table(
        "core__retired_sessions",
        "One archived AI session that the source no longer has, as it was archived (S3).",
        ("session_id",),
        SESSION,
        own=SESSION_OWN,
    ),
    Table(
        "core__sessions",
        "One AI session before as_of with the feedback that counts for it (S1-S4); archived ones stay.",
        ("session_id",),
        SESSION,
        own=SESSION_OWN,
    ),
    Table(
        "archive__sessions",
        "One AI session of a frozen day, kept when the source deletes it (S3).",
        ("session_id",),
        SESSION,
        is_by_day=True,
        own=SESSION_OWN,
    ),
    Table(
        "core__frozen_session_days",
        "One frozen day of a workspace as the state remembers it (S3).",
        ("tenant_id", "workspace_id", "date"),
        SESSION_DAY,
    ),
    Table(
        "core__session_days",
        "One day of a workspace's AI sessions as they add up now, whatever is frozen (S1, S2).",
        ("tenant_id", "workspace_id", "date"),
        SESSION_DAY,
    ),
    Table(
        "core__reactions",
        "One reaction before as_of: who says what of which turn, whether it counts and why not (R1, R4).",
        ("reaction_id",),
        """reaction_id tenant? project? conversation_id turn_id user_id? origin? reaction? confidence? occurred_at event_date
        is_active inactive_reason? is_orphan rn? source_file""",
        own={"origin": REACTION_ORIGIN, "confidence": REACTION_CONFIDENCE, "turn_id": REACTION_TURN_ID},
    ),
    Table(
        "core__signals",
        "One signal of satisfaction, all systems in one shape (semantics N).",
        ("signal_id",),
        """signal_id system kind subject_id session_id? user_id? occurred_at polarity is_explicit confidence weight""",
    ),
    Table(
        "core__rating_partners",
        "One prompt and context with thumbs both up and down: the answer its thumbs-down answers are paired with (F6).",
        ("thread_key",),
        """thread_key has_answers feedback_id? event_date? occurred_at? quality_weight? base_weight? answer_hash? loose_hash?
        is_unseen_attempt?""",
    ),
    Table(
        "core__feedback_candidates",
        "One feedback row as a candidate for a training set: for what format, and what speaks against it (T1).",
        ("id",),
        CANDIDATE,
        own={"split": RECORD_SPLIT},
    ),
    Table(
        "core__distillation_candidates",
        "One distilled example as a candidate for a training set: for what format, and what speaks against it (T1, D7).",
        ("id",),
        CANDIDATE,
        own={"split": RECORD_SPLIT},
    ),
    Table(
        "core__pair_votes",
        "One explicit pair: how many people say so, and how many say the opposite (F13).",
        ("thread_key", "side_a", "side_b"),
        "thread_key side_a side_b votes_for votes_against",
    ),
    Table(
        "core__candidate_rivals",
        "One candidate that does not leave because of others: outvoted, in conflict, or a duplicate (F13, T2).",
        ("id",),
        "id reason duplicate_of?",
    ),
)
