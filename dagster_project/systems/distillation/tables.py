"""The tables of distillation: what comes in, what is derived from it, what is counted."""

from dagster_project.contracts.shared import CANDIDATE, UNCHECKED
from dagster_project.contracts.table import Table, by_name
from dagster_project.systems.distillation.columns import COLUMNS, RATES

TABLES = by_name(
    COLUMNS,
    Table(
        "raw_distillation__distillation_examples",
        "One distilled interaction as the newest of three kinds of tables stores it.",
        ("id",),
        """id session_id? created_at query query_context? sam_attempt? sam_confidence? sam_reasoning? claude_response
        reasoning_type? reasoning_steps? tool_usage? corrections? principles? domain subdomain? task_type? complexity?
        quality_score? stored_flags? human_reviewed? reviewer_notes? training_ready? training_format? export_count?
        last_exported_at? extra? occurred_at event_date source_file source_rowid repairs is_written_back prompt_key split
        interaction_key""",
        is_by_day=True,
        unchecked=UNCHECKED,
        said={
            "reasoning_type": "how the teacher reasoned, as stored",
            "complexity": "how hard the task is, 1 to 10 as stored",
        },
    ),
    Table(
        "raw_distillation__examples",
        "One distilled interaction as the second of three kinds of tables stores it.",
        ("id",),
        """id query sam_attempt? claude_response reasoning_type? domain complexity? quality_score? human_reviewed? approved?
        reviewer_notes? reasoning_pattern_id? created_at reviewed_at? exported_at? extra? occurred_at event_date source_file
        source_rowid repairs prompt_key split interaction_key""",
        is_by_day=True,
        unchecked=UNCHECKED,
        said={
            "reasoning_type": "how the teacher reasoned, as stored",
            "complexity": "how hard the task is, 1 to 10 as stored",
            "human_reviewed": "whether anybody reviewed it, 0 or 1 as stored; `approved` says how it went",
        },
    ),
    Table(
        "raw_distillation__raw_interactions",
        "One interaction as the oldest of three kinds of tables stores it.",
        ("id",),
        """id prompt response domain quality_score? processed? created_at extra? occurred_at event_date source_file
        source_rowid repairs prompt_key split interaction_key thought_id""",
        is_by_day=True,
        unchecked=UNCHECKED,
        said={
            "prompt": "the question the teacher was asked",
            "response": "the teacher's answer",
        },
    ),
    Table(
        "raw_distillation__chain_of_thought",
        "The reasoning of an interaction of the oldest kind; it has no full answer.",
        ("id",),
        """id prompt reasoning_steps? final_answer? domain complexity? success? created_at extra? occurred_at event_date
        source_file source_rowid repairs prompt_key split interaction_key""",
        is_by_day=True,
        unchecked=UNCHECKED,
        said={
            "prompt": "the question the teacher was asked",
            "complexity": "how hard the task is, 1 to 10 as stored",
        },
    ),
    Table(
        "raw_distillation__preference_pairs",
        "A good and a bad answer, both written by the teacher.",
        ("id",),
        """id prompt good_response bad_response? reason? domain created_at extra? occurred_at event_date source_file
        source_rowid repairs prompt_key split interaction_key""",
        is_by_day=True,
        unchecked=UNCHECKED,
        said={
            "prompt": "the question the teacher was asked",
            "reason": "why the good answer is better, as stored",
        },
    ),
    Table(
        "raw_distillation__reasoning_patterns",
        "How the teacher reasoned in a row of `examples`.",
        ("id",),
        """id example_id? reasoning_type? reasoning_steps? tool_usage? complexity? confidence? created_at? extra? source_file
        source_rowid repairs""",
        unchecked=UNCHECKED,
        said={
            "example_id": "id of the row of raw_distillation__examples it belongs to; null without one",
            "reasoning_type": "how the teacher reasoned, as stored",
            "complexity": "how hard the task is, 1 to 10 as stored",
        },
    ),
    Table(
        "raw_distillation__corrections",
        "What SAM got wrong in a row of `examples`.",
        ("id",),
        """id example_id? error_type? what_sam_said? what_was_wrong? correct_answer? improvements? lesson_learned? created_at?
        extra? source_file source_rowid repairs""",
        unchecked=UNCHECKED,
        said={
            "example_id": "id of the row of raw_distillation__examples it belongs to; null without one",
            "what_was_wrong": "what is wrong with SAM's answer, in the teacher's words",
        },
    ),
    Table(
        "raw_distillation__review_queue",
        "The source's own review queue; our own decides, this one is kept to look at.",
        ("id",),
        """id example_id? priority? reason? status? assigned_to? created_at? updated_at? extra? source_file source_rowid
        repairs""",
        unchecked=UNCHECKED,
        said={
            "example_id": "id of the row of raw_distillation__examples it belongs to; null without one",
            "reason": "why it is to be reviewed, as stored",
            "status": "where the source's own review stands, as stored",
        },
    ),
    Table(
        "raw_distillation__principles",
        "A principle the source distilled; reference, never an example.",
        ("id",),
        """id domain? principle examples? importance? source_count? verified? created_at? updated_at? extra? source_file
        source_rowid repairs""",
        unchecked=UNCHECKED,
        said={
            "domain": "what the principle is about, as stored",
        },
    ),
    Table(
        "raw_distillation__skill_templates",
        "A skill template of the source; reference, never an example.",
        ("id",),
        "id name? description? pattern? examples? domains? created_at? extra? source_file source_rowid repairs",
        unchecked=UNCHECKED,
        said={
            "pattern": "how the skill is done, as stored",
            "examples": "examples of the skill, a JSON array",
        },
    ),
    Table(
        "core__distillation_sources",
        "One source row of a distilled example; rows of the same interaction are one example.",
        ("example_id", "place"),
        "example_id place table source_id event_date example_date origin",
    ),
    Table(
        "core__distilled_answers",
        "One distilled example as its own texts tell: merged over the source's tables, with flags and score.",
        ("example_id",),
        """example_id source_id origin session_id? occurred_at event_date prompt_key split thread_key answer_hash
        attempt_hash? domain subdomain? task_type? reasoning_type? reasoning_steps? tool_usage? corrections? principles?
        complexity? stored_complexity? step_count error_count principle_count quality_flags source_quality_score?
        quality_score source_review is_source_ready source_training_format? has_query has_answer has_attempt
        changed_fraction? edit_distance_mark? is_hardly_changed is_right_attempt
        is_unseen_attempt is_failed extracted source_rows content_hash""",
        is_by_day=True,
        said={
            "has_query": "the question is not blank",
            "split": "which split the question's own hash gives",
        },
    ),
    Table(
        "core__example_feedback",
        "One active feedback row that is about a distilled example, and how that was found.",
        ("example_id", "feedback_id"),
        "example_id feedback_id found_by",
        empty_without=("core__distilled_answers",),
        said={
            "feedback_id": "the feedback row",
        },
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
        is_for_analysts=True,
        said={
            "feedback_count": "active feedback rows that are about the example",
            "quality_weight": "what it weighs in training: its quality_score, at least 0.7 where a person approved it",
        },
    ),
    Table(
        "core__distillation_candidates",
        "One distilled example as a candidate for a training set: for what format, and what speaks against it.",
        ("id",),
        CANDIDATE,
        said={
            "base_weight": "the same as quality_weight: examples do not grow old",
            "error_type": "always null: of a correction by users only",
        },
    ),
    Table(
        "metric__distillation_daily",
        "One day of distilled examples by domain: how many, of what kind and worth, and what became of them.",
        ("event_date", "domain"),
        f"""event_date domain example_count chain_of_thought_count tool_use_count correction_count direct_count
        multi_step_count meta_cognitive_count instruction_format_count cot_format_count correction_format_count
        preference_format_count pending_count approved_count rejected_count ready_count mean_score
        {" ".join(f"{rate} {rate}_low {rate}_high" for rate in RATES)}""",
        said={
            "correction_count": "examples with the reasoning type correction",
            "pending_count": "examples no reviewer decided",
        },
        days_of="distillation",
    ),
)
