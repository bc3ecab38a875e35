"""What comes in: every valid row of a source table as it is, and the refused ones beside them."""

from dagster_project.contracts.table import Table

ALL = (
    Table(
        "raw_feedback__entries",
        "One valid feedback row, its texts kept here once (seed 0's table `feedback`).",
        ("feedback_id",),
        """feedback_id response_id session_id user_id? timestamp response_timestamp? feedback_type rating? correction?
        correction_type? what_was_wrong? preferred_response? comparison_basis? flag_type? flag_details? original_query
        original_response conversation_context? domain? response_confidence? escalated_to_claude? processed?
        training_format? quality_weight? processed_at? created_at? extra? occurred_at event_date rating_scale source_file
        source_rowid repairs is_written_back""",
        is_by_day=True,
    ),
    Table(
        "raw_feedback__responses",
        "One answer the assistant gave, rated or not (seed 0, response tracking); texts stay at the source.",
        ("response_id",),
        "response_id session_id? timestamp? confidence? escalated? extra? source_file source_rowid repairs",
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
        "quarantine__rows",
        "One refused source row with every reason and its original values; it leaves when the source is mended.",
        ("system", "table", "source_file", "source_rowid"),
        "system table key? source_rowid event_date? reasons row source_file",
    ),
)
