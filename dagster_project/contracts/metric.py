"""What is counted: small tables for people, from active rows only."""

from dagster_project.contracts.core import SESSION_DAY
from dagster_project.contracts.meaning import count
from dagster_project.contracts.reaction_columns import NEUTRAL_REACTIONS
from dagster_project.contracts.session_columns import NEGATIVE, POSITIVE, RATED, SESSIONS_COUNTED
from dagster_project.contracts.table import Table

ESTIMATES = """total_sessions_estimate positive_ratings_estimate negative_ratings_estimate skipped_ratings_estimate
    no_feedback_estimate"""

ALL = (
    Table(
        "metric__distillation_daily",
        "One day of distilled examples by domain: how many, of what kind and worth, and what became of them.",
        ("event_date", "domain"),
        """event_date domain example_count chain_of_thought_count tool_use_count correction_count direct_count
        multi_step_count meta_cognitive_count instruction_format_count cot_format_count correction_format_count
        preference_format_count pending_count approved_count rejected_count ready_count mean_score validated_rate
        contradicted_rate repetition_rate incomplete_rate no_reasoning_rate too_short_rate too_long_rate code_only_rate
        refusal_rate uncertain_rate outdated_rate hallucination_risk_rate""",
    ),
    Table(
        "metric__feedback_daily",
        "One day and domain: active feedback by type and sentiment.",
        ("event_date", "domain"),
        """event_date domain feedback_count rating_count correction_count preference_count flag_count positive_count
        negative_count neutral_count mean_weight net_sentiment?""",
    ),
    Table(
        "metric__feedback_stats",
        "One row: the figures of seed 0's GET /api/feedback/stats at as_of.",
        ("as_of",),
        """as_of total_feedback rating_count correction_count preference_count flag_count positive_count negative_count
        net_sentiment? processed_count pending_count avg_weight? high_quality_count recent_24h""",
    ),
    Table(
        "metric__error_patterns",
        "One week, domain and kind of complaint: how often, and whether its share is rising (F12).",
        ("week_start", "domain", "pattern"),
        """week_start domain pattern signal_count domain_count share baseline_share? share_change? share_change_low?
        share_change_high? verdict rank_score? rank?""",
    ),
    Table(
        "metric__turn_daily",
        "One day of turns: what the next messages say of them, and how far the source's own status is off.",
        ("event_date",),
        """event_date turn_count session_count rejected_count accepted_count neutral_count explicit_count rephrased_count
        abandonment_count rejected_rate accepted_rate mean_satisfaction? satisfaction_count repeated_rejection_sessions
        source_status_count disputed_count disputed_rate?""",
        own={
            "rejected_count": count("turns detected as rejected"),
            "neutral_count": count("turns of which nothing clear was said"),
        },
    ),
    Table(
        "metric__detector_calibration",
        "One confidence decile of the detector beside what people said explicitly about the same turns.",
        ("compared_with", "confidence_decile"),
        """compared_with confidence_decile judged_count right_count right_share right_share_low right_share_high
        mean_confidence calibration_error""",
    ),
    Table(
        "metric__session_daily",
        "One day of a workspace's AI sessions (seed 4's feedback_metrics_daily, S2, S3).",
        ("tenant_id", "workspace_id", "date"),
        f"{SESSION_DAY} {ESTIMATES} is_frozen",
    ),
    Table(
        "metric__session_slice_daily",
        "One day of a slice of a workspace: the figures of metric__session_daily as they add up now (S2).",
        ("tenant_id", "workspace_id", "slice_id", "date"),
        f"{SESSION_DAY.replace('workspace_id', 'workspace_id slice_id?')} {ESTIMATES}",
    ),
    Table(
        "metric__restatements",
        "One figure of a day that was published otherwise before: what it was, what it is, and why (S3).",
        ("entry",),
        "entry restated_as_of previous_as_of? tenant_id workspace_id date column old_value? new_value? why",
    ),
    Table(
        "metric__context_effectiveness",
        "One document in the context of a workspace's sessions: how those were rated beside the others (S5).",
        ("tenant_id", "workspace_id", "document_id"),
        """tenant_id workspace_id document_id document_type? session_count positive_count negative_count effectiveness?
        effectiveness_low? effectiveness_high? other_rated_count other_positive_rate? association? association_low?
        association_high? error_category_counts""",
        own={"session_count": SESSIONS_COUNTED, "positive_count": POSITIVE, "negative_count": NEGATIVE},
    ),
    Table(
        "metric__session_baseline",
        "One workspace with fewer than 20 rated sessions, beside the rates of other tenants where those may be told (S7).",
        ("tenant_id", "workspace_id"),
        """tenant_id workspace_id rated_count other_tenant_count largest_tenant_share? has_baseline baseline_rated_count?
        baseline_positive_rate? baseline_acceptance_rate? baseline_edit_distance?""",
        own={"rated_count": RATED},
    ),
    Table(
        "metric__satisfaction_daily",
        "One day of one system's signals, and an overall line by fixed shares, never by volume (semantics N).",
        ("event_date", "system"),
        """event_date system signal_count positive_count negative_count neutral_count satisfaction_rate decided_rate?
        fixed_share""",
        own={
            "signal_count": count("signals of the day"),
            "positive_count": count("positive signals"),
            "negative_count": count("negative signals"),
            "neutral_count": count("neutral signals"),
        },
    ),
    Table(
        "metric__reaction_daily",
        "One day of reactions that count, or did until they expired: by reaction and origin, and satisfaction (R2, R3).",
        ("event_date",),
        """event_date reaction_count ok_count not_ok_count neutral_count user_count user_ok_count user_not_ok_count
        user_neutral_count machine_count machine_ok_count machine_not_ok_count machine_neutral_count unknown_count
        unknown_ok_count unknown_not_ok_count unknown_neutral_count satisfaction_rate user_satisfaction_rate?
        machine_satisfaction_rate? unknown_satisfaction_rate? ok_rate? user_ok_rate? machine_ok_rate? unknown_ok_rate?
        orphan_count expired_count""",
        own={"neutral_count": NEUTRAL_REACTIONS},
    ),
    Table(
        "metric__source_aggregates",
        "One column of the source's own aggregate tables: how far it is from what its rows add up to.",
        ("stored_table", "stored_column"),
        "stored_table stored_column compared_count differing_count stored_total true_total",
    ),
)
