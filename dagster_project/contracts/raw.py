"""What comes in: every valid row of a source table as it is, and the refused ones beside them."""

from dagster_project.contracts.meaning import long_text
from dagster_project.contracts.reaction_columns import OWN_IN_RAW, REACTION_TURN_ID, ROW_ID
from dagster_project.contracts.session_columns import (
    COMMENT,
    CREATED_AT,
    NAME,
    OUTPUT_HASH,
    SESSION_ID,
    STARTED_AT,
    STORED_RATING,
    STORED_VERDICT,
)
from dagster_project.contracts.table import Table

# Raw tables keep what the source says; vocabularies and ranges are those of the tables made from them.
UNCHECKED = ("reason", "status", "error_type", "quality_score", "complexity", "format", "feedback_confidence")

RESPONSE_QUERY, RESPONSE_TEXT = long_text("the user's question (seed 0)"), long_text("the assistant's answer (seed 0)")
TURN = """turn_key turn_number user_id? session_id? timestamp topic? intent? keywords? validation_outcome?
    strategy_summary? quality_score? user_feedback_status? feedback_confidence? rejection_detected_in?
    source_correction_type? query? response? query_source? response_source?"""
PLACED = "extra? occurred_at event_date source_file source_rowid repairs"

ALL = (
    Table(
        "raw_feedback__entries",
        "One valid feedback row, its texts kept here once (seed 0's table `feedback`).",
        ("feedback_id",),
        """feedback_id response_id session_id user_id? timestamp response_timestamp? feedback_type rating? correction?
        correction_type? what_was_wrong? preferred_response? comparison_basis? flag_type? flag_details? original_query
        original_response conversation_context? domain? response_confidence? escalated_to_claude? processed?
        training_format? quality_weight? processed_at? created_at? extra? occurred_at event_date rating_scale source_file
        source_rowid repairs is_written_back filled_from?""",
        is_by_day=True,
    ),
    Table(
        "raw_feedback__responses",
        "One answer the assistant gave, rated or not, with its texts (seed 0, response tracking).",
        ("response_id",),
        """response_id session_id? query? response? timestamp? confidence? escalated? extra? source_file source_rowid repairs
        response_hash""",
        own={"query": RESPONSE_QUERY, "response": RESPONSE_TEXT},
    ),
    Table(
        "raw_feedback__stored_aggregates",
        "A file's own aggregate of a response; read only to say how far off it is.",
        ("source_file", "response_id"),
        """response_id thumbs_up_count? thumbs_down_count? correction_count? preference_count? flag_count? extra?
        source_file source_rowid""",
        unchecked=tuple(f"{name}_count" for name in ("thumbs_up", "thumbs_down", "correction", "preference", "flag")),
    ),
    Table(
        "raw_feedback__stored_sessions",
        "A file's own aggregate of a session; read only to say how far off it is.",
        ("source_file", "session_id"),
        """session_id total_responses? feedback_given? positive_count? negative_count? correction_count? extra?
        source_file source_rowid""",
        unchecked=("total_responses", "feedback_given", "positive_count", "negative_count", "correction_count"),
    ),
    Table(
        "raw_distillation__distillation_examples",
        "One distilled interaction as the newest generation stores it (seed 2).",
        ("id",),
        """id session_id? created_at query query_context? sam_attempt? sam_confidence? sam_reasoning? claude_response
        reasoning_type? reasoning_steps? tool_usage? corrections? principles? domain subdomain? task_type? complexity?
        quality_score? stored_flags? human_reviewed? reviewer_notes? training_ready? training_format? export_count?
        last_exported_at? extra? occurred_at event_date source_file source_rowid repairs is_written_back prompt_key split
        interaction_key""",
        is_by_day=True,
        unchecked=UNCHECKED,
    ),
    Table(
        "raw_distillation__examples",
        "One distilled interaction as the normalised generation stores it.",
        ("id",),
        """id query sam_attempt? claude_response reasoning_type? domain complexity? quality_score? human_reviewed? approved?
        reviewer_notes? reasoning_pattern_id? created_at reviewed_at? exported_at? extra? occurred_at event_date source_file
        source_rowid repairs prompt_key split interaction_key""",
        is_by_day=True,
        unchecked=UNCHECKED,
    ),
    Table(
        "raw_distillation__raw_interactions",
        "One interaction of the legacy generation.",
        ("id",),
        """id prompt response domain quality_score? processed? created_at extra? occurred_at event_date source_file
        source_rowid repairs prompt_key split interaction_key thought_id""",
        is_by_day=True,
        unchecked=UNCHECKED,
    ),
    Table(
        "raw_distillation__chain_of_thought",
        "The reasoning of a legacy interaction; has no full response.",
        ("id",),
        """id prompt reasoning_steps? final_answer? domain complexity? success? created_at extra? occurred_at event_date
        source_file source_rowid repairs prompt_key split interaction_key""",
        is_by_day=True,
        unchecked=UNCHECKED,
    ),
    Table(
        "raw_distillation__preference_pairs",
        "A good and a bad answer, both written by the teacher.",
        ("id",),
        """id prompt good_response bad_response? reason? domain created_at extra? occurred_at event_date source_file
        source_rowid repairs prompt_key split interaction_key""",
        is_by_day=True,
        unchecked=UNCHECKED,
    ),
    Table(
        "raw_distillation__reasoning_patterns",
        "How the teacher reasoned in a row of `examples`.",
        ("id",),
        """id example_id? reasoning_type? reasoning_steps? tool_usage? complexity? confidence? created_at? extra? source_file
        source_rowid repairs""",
        unchecked=UNCHECKED,
    ),
    Table(
        "raw_distillation__corrections",
        "What SAM got wrong in a row of `examples`.",
        ("id",),
        """id example_id? error_type? what_sam_said? what_was_wrong? correct_answer? improvements? lesson_learned? created_at?
        extra? source_file source_rowid repairs""",
        unchecked=UNCHECKED,
    ),
    Table(
        "raw_distillation__review_queue",
        "The source's own review queue; our own decides, this one is kept to look at.",
        ("id",),
        """id example_id? priority? reason? status? assigned_to? created_at? updated_at? extra? source_file source_rowid
        repairs""",
        unchecked=UNCHECKED,
    ),
    Table(
        "raw_distillation__principles",
        "A principle the source distilled; reference, never an example (D2).",
        ("id",),
        """id domain? principle examples? importance? source_count? verified? created_at? updated_at? extra? source_file
        source_rowid repairs""",
        unchecked=UNCHECKED,
    ),
    Table(
        "raw_distillation__skill_templates",
        "A skill template of the source; reference, never an example (D2).",
        ("id",),
        "id name? description? pattern? examples? domains? created_at? extra? source_file source_rowid repairs",
        unchecked=UNCHECKED,
    ),
    Table(
        "raw_conversations__turns",
        "One turn of a conversation with its texts, wherever they lay (seed 1's table `turns`).",
        ("turn_key",),
        f"{TURN} goals_json? {PLACED}",
        is_by_day=True,
        unchecked=UNCHECKED,
    ),
    Table(
        "raw_conversations__turn_index",
        "One turn of a conversation as the older table `turn_index` has it, with its texts.",
        ("turn_key",),
        f"{TURN} id? doc_path? {PLACED}",
        is_by_day=True,
        unchecked=UNCHECKED,
    ),
    Table(
        "raw_sessions__sessions",
        "One AI session (seed 4's table `ai_sessions`).",
        ("id",),
        f"""id tenant_id workspace_id slice_id? user_id context_document_ids context_token_count? context_compiled_at?
        query_hash? started_at ended_at? created_at? {PLACED}""",
        is_by_day=True,
        own={"started_at": STARTED_AT, "created_at": CREATED_AT},
    ),
    Table(
        "raw_sessions__feedback",
        "One feedback or review of an AI session, by the day it was submitted (seed 4's table `session_feedback`).",
        ("id",),
        f"""id tenant_id session_id rating error_categories missing_context? comment? accuracy_score? completeness_score?
        style_match_score? review_verdict? edit_distance? output_issues submitted_at submitted_by? {PLACED}""",
        is_by_day=True,
        own={
            "rating": STORED_RATING,
            "review_verdict": STORED_VERDICT,
            "session_id": SESSION_ID,
            "comment": COMMENT,
        },
    ),
    Table(
        "raw_sessions__context_nodes",
        "One document that can be in the context of AI sessions (seed 4).",
        ("id",),
        "id tenant_id? type? layer? name? token_count? deleted_at? extra? source_file source_rowid repairs",
        own={"name": NAME},
    ),
    Table(
        "raw_sessions__outputs",
        "How much of an AI session's output was changed afterwards (S4); the texts stay at the source.",
        ("session_id",),
        "session_id output_edit_distance_pct? text_hash? extra? source_file source_rowid repairs",
        own={"session_id": SESSION_ID, "text_hash": OUTPUT_HASH},
    ),
    Table(
        "raw_reactions__reactions",
        "One reaction artifact, as stored and as its text says (seed 3's `conv_messages`).",
        ("reaction_id",),
        f"""reaction_id id tenant? project? user_id? bundle_id? agent_id? conversation_id message_id? turn_id track_id? role
        user_type? text hosted_uri? ts ttl_days? tags reaction? origin? confidence? reaction_text? has_text rn? {PLACED}""",
        is_by_day=True,
        own=OWN_IN_RAW,
    ),
    Table(
        "raw_reactions__turn_logs",
        "One turn log: only that its turn is known (R4).",
        ("turn_log_id",),
        f"turn_log_id id tenant? project? user_id? conversation_id turn_id ts {PLACED}",
        is_by_day=True,
        own={"id": ROW_ID, "turn_id": REACTION_TURN_ID},
    ),
    Table(
        "quarantine__rows",
        "One refused source row with every reason and its original values; it leaves when the source is mended.",
        ("system", "table", "source_file", "source_rowid"),
        "system table key? source_rowid event_date? reasons row source_file",
    ),
)
