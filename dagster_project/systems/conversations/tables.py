"""The tables of conversations: what comes in, what is derived from it, what is counted."""

from dagster_project.contracts.meaning import count
from dagster_project.contracts.shared import PLACED, UNCHECKED
from dagster_project.contracts.table import Table, by_name
from dagster_project.systems.conversations.columns import (
    COLUMNS,
    CORRECTION_TYPE,
    DECIDING_RULE,
    LABEL,
    LABEL_VERDICT,
    TURN_KIND,
)

TURN = """turn_key turn_number user_id? session_id? timestamp topic? intent? keywords? validation_outcome?
    strategy_summary? quality_score? user_feedback_status? feedback_confidence? rejection_detected_in?
    source_correction_type? query? response? query_source? response_source?"""

TABLES = by_name(
    COLUMNS,
    Table(
        "raw_conversations__turns",
        "One turn of a conversation with its texts, wherever they were found (the conversation system's table `turns`).",
        ("turn_key",),
        f"{TURN} goals_json? {PLACED}",
        is_by_day=True,
        unchecked=UNCHECKED,
        said={
            "feedback_confidence": "the source's own confidence in user_feedback_status, as stored",
            "source_correction_type": "how the user rejected the answer as the source itself has it, as stored; null where it says nothing",
        },
    ),
    Table(
        "raw_conversations__turn_index",
        "One turn of a conversation with its texts, as the older table `turn_index` has it.",
        ("turn_key",),
        f"{TURN} id? doc_path? {PLACED}",
        is_by_day=True,
        unchecked=UNCHECKED,
        said={
            "feedback_confidence": "the source's own confidence in user_feedback_status, as stored",
            "source_correction_type": "how the user rejected the answer as the source itself has it, as stored; null where it says nothing",
        },
    ),
    Table(
        "core__turn_pairs",
        "One turn and what the next message says of it, made once per day while the texts are in memory.",
        ("turn_key",),
        """turn_key turn_id turn_number user_id? session_id? thread_id occurred_at event_date prompt_key? next_turn_key?
        next_turn_id? next_at? similarity? feedback_status feedback_confidence nominal_confidence confidence_low
        correction_type? reason source_status?
        source_confidence? source_correction_type? intent?
        validation_outcome? quality_score? strategy_summary? query_source? response_source?
        refers_back said_status? said_confidence? said_confidence_low? said_reason? text_hash source_file""",
        is_by_day=True,
        unchecked=("quality_score",),
        own={"correction_type": CORRECTION_TYPE, "reason": DECIDING_RULE},
        said={
            "quality_score": "the source's own score of the answer, as stored; null where it has none",
            "session_id": "the conversation session; null where unknown",
        },
    ),
    Table(
        "core__turn_references",
        "One of the five turns a message may mean that points at an earlier turn, best first.",
        ("message_turn_key", "rank"),
        "message_turn_key rank turn_key score similarity event_date",
        is_by_day=True,
        said={
            "turn_key": "the turn the message may mean",
            "similarity": "how alike the message is to that turn's query and response, -1..1",
            "event_date": "day of the message that points back, UTC",
            "rank": "place among the turns the message may mean, 1 is the likeliest",
        },
    ),
    Table(
        "core__answer_refs",
        "One active feedback row or reaction that is about a turn or a distilled example: the answer it is about.",
        ("signal_id",),
        "signal_id turn_key? answer_ref",
        empty_without=("core__turn_pairs", "core__example_feedback"),
        said={
            "turn_key": "the turn it is about; null where it is about a distilled example",
        },
    ),
    Table(
        "core__turn_labels",
        "One turn of whose answer somebody said explicitly what it was worth: what the detector's head is fitted on and judged by.",
        ("turn_key",),
        "turn_key thread_id label_id label label_kind labelled_at is_chosen",
        empty_without=("core__answer_refs", "core__label_verdicts"),
        own={"label": LABEL},
    ),
    Table(
        "core__detector_head",
        "One head over the detector's rules, by the fold of conversations it did not see; none where none is in use.",
        ("fold",),
        "fold bias weights objects_from? objects_low",
    ),
    Table(
        "core__head_verdicts",
        "One turn of which the next message says something, and what the head makes of the rules' verdict.",
        ("turn_key",),
        """turn_key next_turn_key feedback_status feedback_confidence nominal_confidence confidence_low correction_type? reason
        rejection_chance event_date""",
        is_by_day=True,
        own={"correction_type": CORRECTION_TYPE, "reason": DECIDING_RULE},
    ),
    Table(
        "core__turns",
        "One turn before as_of: what the next message says of it, its scores, whether a planner may reuse it.",
        ("turn_key",),
        """turn_key user_id? turn_number turn_id session_id? thread_id occurred_at event_date feedback_status
        feedback_confidence nominal_confidence confidence_low correction_type? detected_in_turn? detected_at? user_said?
        planner_note? similarity? reason rejection_chance?
        source_status? source_confidence? source_correction_type? is_disputed? satisfaction_score? ranking_score is_reusable
        consecutive_rejections validation_outcome? quality_score? intent? strategy_summary? prompt_key? query_source? response_source?
        source_file""",
        unchecked=("quality_score",),
        own={"correction_type": CORRECTION_TYPE, "reason": DECIDING_RULE},
        is_for_analysts=True,
        said={
            "quality_score": "the source's own score of the answer, as stored; null where it has none",
            "occurred_at": "when the turn began (UTC)",
            "event_date": "day on which the turn began, UTC",
        },
    ),
    Table(
        "core__strategies",
        "One turn with a strategy, best first; rejected ones are listed last and must not be reused.",
        ("turn_key",),
        """rank turn_key user_id? turn_id session_id? occurred_at intent? strategy_summary feedback_status is_reusable
        ranking_score quality_score?""",
        unchecked=("quality_score",),
        is_for_analysts=True,
        said={
            "quality_score": "the source's own score of the answer, as stored; null where it has none",
        },
    ),
    Table(
        "core__machine_signals",
        "One detected rejection or acceptance that is sure enough, and the turn it is about.",
        ("message_turn_key",),
        """message_turn_key target_turn_key target_kind kind confidence confidence_low reason occurred_at user_id? session_id? targets""",
        own={"kind": TURN_KIND, "reason": DECIDING_RULE},
        is_for_analysts=True,
        said={
            "occurred_at": "when the message came (UTC)",
            "confidence": "how sure the detector is of it",
            "session_id": "the conversation session of the message; null where unknown",
        },
    ),
    # Which labels hold is decided where verdicts are (review/labels.py): texts that changed, a turn that is gone, or a tie
    # take a verdict out of this table and not out of the state.
    Table(
        "core__label_verdicts",
        "One turn that people judged with `gristmill label`, as far as it is still there with the texts they saw.",
        ("turn_key",),
        "turn_key user_id? turn_number session_id? source_file verdict judged_at reviewer event_date",
        own={"verdict": LABEL_VERDICT},
    ),
    Table(
        "core__label_queue",
        "One pair of a response and the next message that is worth a person's label, in the order of what labels teach.",
        ("turn_key",),
        """rank turn_key user_id? turn_number session_id? thread_id event_date next_turn_key next_at lesson feedback_status
        feedback_confidence reason similarity? source_status? source_file""",
        is_view=True,
        own={"reason": DECIDING_RULE},
    ),
    Table(
        "metric__turn_daily",
        "One day of turns: what the next messages say of them, and how far the source's own status is off.",
        ("event_date",),
        """event_date turn_count session_count rejected_count accepted_count neutral_count explicit_count rephrased_count
        abandonment_count rejected_rate rejected_rate_low rejected_rate_high accepted_rate accepted_rate_low accepted_rate_high
        mean_satisfaction? satisfaction_count repeated_rejection_sessions source_status_count disputed_count disputed_rate?
        disputed_rate_low? disputed_rate_high?""",
        own={
            "rejected_count": count("turns detected as rejected"),
            "neutral_count": count("turns of which nothing clear was said"),
        },
        days_of="conversations",
    ),
    Table(
        "core__judged_turns",
        "One explicit vote on a turn the detector took for rejected or accepted, and whether it agrees.",
        ("signal_id",),
        """signal_id compared_with turn_key detected feedback_confidence confidence_decile reason polarity is_right user_id?
        event_date occurred_at""",
        view="judged_turns",
        empty_without=("core__turns",),
        is_for_analysts=True,
        own={"reason": DECIDING_RULE},
        said={
            "signal_id": "the vote, as in signals",
            "polarity": "what the vote says of the turn",
            "user_id": "the person who voted; null where unknown",
            "event_date": "day of the vote, UTC",
            "occurred_at": "when the vote was given (UTC)",
        },
    ),
    Table(
        "metric__detector_class_calibration",
        "One class of the detector's verdicts and one tenth of its confidence, beside what people said of the same turns.",
        ("compared_with", "detected", "confidence_decile"),
        """compared_with detected confidence_decile judged_count right_count right_share right_share_low right_share_high
        mean_confidence""",
        view="calibration_by_class",
    ),
    Table(
        "metric__detector_calibration",
        "One confidence decile of the detector beside what people said explicitly about the same turns.",
        ("compared_with", "confidence_decile"),
        """compared_with confidence_decile judged_count right_count right_share right_share_low right_share_high
        mean_confidence calibration_error""",
    ),
    Table(
        "metric__detector_head",
        "How well rules or head do on labels of one kind they did not see, what the head is fitted on, and whether it is in use.",
        ("judge", "label"),
        """judge label is_in_use state label_count rejected_label_count accepted_label_count neutral_label_count rating_count
        reaction_count verdict_count first_labelled_at? last_labelled_at? objects_from? held_out_count precision? precision_low?
        precision_high? recall? recall_low? recall_high? f1? f1_low? f1_high? calibration_error? squared_error?""",
        own={"label": LABEL},
    ),
)
