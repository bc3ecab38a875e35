-- One day of a workspace's AI sessions (seed 4's feedback_metrics_daily); a frozen day never loses sessions (S2, S3).
-- grain: tenant_id, workspace_id, date
-- inputs: core__session_days, core__frozen_session_days
-- params: as_of

with days as (
    select
        tenant_id, workspace_id, date, total_sessions, positive_ratings, negative_ratings, skipped_ratings, no_feedback_count,
        first_pass_acceptance_rate, average_edit_distance, error_category_counts, avg_accuracy_score,
        avg_completeness_score, avg_style_match_score, reviewed_count, output_issue_counts, missing_context_count,
        missing_context_rate, sample_rate
    from core__session_days
),

frozen as (
    select
        tenant_id, workspace_id, date, total_sessions, positive_ratings, negative_ratings, skipped_ratings, no_feedback_count,
        first_pass_acceptance_rate, average_edit_distance, error_category_counts, avg_accuracy_score,
        avg_completeness_score, avg_style_match_score, reviewed_count, output_issue_counts, missing_context_count,
        missing_context_rate, sample_rate
    from core__frozen_session_days
    where date < $as_of
),

-- a frozen day is as it adds up now or, where it would lose sessions, as it was (core__frozen_session_days)
chosen as (
    select *, true as is_frozen
    from frozen
    union all
    select *, false as is_frozen
    from days
    anti join frozen using (tenant_id, workspace_id, date)
),

-- the rate as a whole number, so that a count over it is rounded as it is (sql/README.md)
scaled as (
    select *, round(sample_rate * 1e12)::decimal(38, 0) as sample_units
    from chosen
),

estimated as (
    select
        *,
        2 * sample_units as whole,
        2000000000000000000 * total_sessions::decimal(38, 0) + sample_units as total_halves,
        2000000000000000000 * positive_ratings::decimal(38, 0) + sample_units as positive_halves,
        2000000000000000000 * negative_ratings::decimal(38, 0) + sample_units as negative_halves,
        2000000000000000000 * skipped_ratings::decimal(38, 0) + sample_units as skipped_halves,
        2000000000000000000 * no_feedback_count::decimal(38, 0) + sample_units as silent_halves
    from scaled
)

select
    tenant_id,
    workspace_id,
    date,
    total_sessions,
    positive_ratings,
    negative_ratings,
    skipped_ratings,
    no_feedback_count,
    first_pass_acceptance_rate,
    average_edit_distance,
    error_category_counts,
    avg_accuracy_score,
    avg_completeness_score,
    avg_style_match_score,
    reviewed_count,
    output_issue_counts,
    missing_context_count,
    missing_context_rate,
    sample_rate,
    round((total_halves - total_halves % nullif(whole, 0)) / nullif(whole, 0)) / 1e6 as total_sessions_estimate,
    round((positive_halves - positive_halves % nullif(whole, 0)) / nullif(whole, 0)) / 1e6 as positive_ratings_estimate,
    round((negative_halves - negative_halves % nullif(whole, 0)) / nullif(whole, 0)) / 1e6 as negative_ratings_estimate,
    round((skipped_halves - skipped_halves % nullif(whole, 0)) / nullif(whole, 0)) / 1e6 as skipped_ratings_estimate,
    round((silent_halves - silent_halves % nullif(whole, 0)) / nullif(whole, 0)) / 1e6 as no_feedback_estimate,
    is_frozen
from estimated
order by tenant_id, workspace_id, date
