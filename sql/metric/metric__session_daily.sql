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
    estimate(total_sessions, sample_rate) as total_sessions_estimate,
    estimate(positive_ratings, sample_rate) as positive_ratings_estimate,
    estimate(negative_ratings, sample_rate) as negative_ratings_estimate,
    estimate(skipped_ratings, sample_rate) as skipped_ratings_estimate,
    estimate(no_feedback_count, sample_rate) as no_feedback_estimate,
    is_frozen
from chosen
order by tenant_id, workspace_id, date
