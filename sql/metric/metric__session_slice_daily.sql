-- One day of a slice of a workspace, sessions without a slice under null: the figures as they add up now (S2).
-- grain: tenant_id, workspace_id, slice_id, date
-- inputs: core__session_figures
-- params: none

select
    tenant_id,
    workspace_id,
    slice_id,
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
    positive_ratings + negative_ratings as rated_count,
    share(positive_ratings, positive_ratings + negative_ratings) as positive_rate,
    share_low(positive_ratings, positive_ratings + negative_ratings) as positive_rate_low,
    share_high(positive_ratings, positive_ratings + negative_ratings) as positive_rate_high,
    -- of approvals only their percentage is kept
    100 * share_low(first_pass_acceptance_rate / 100 * reviewed_count, reviewed_count) as first_pass_acceptance_rate_low,
    100 * share_high(first_pass_acceptance_rate / 100 * reviewed_count, reviewed_count) as first_pass_acceptance_rate_high,
    total_sessions - no_feedback_count as with_feedback_count,
    share_low(missing_context_count, total_sessions - no_feedback_count) as missing_context_rate_low,
    share_high(missing_context_count, total_sessions - no_feedback_count) as missing_context_rate_high,
    estimate(total_sessions, sample_rate) as total_sessions_estimate,
    estimate(positive_ratings, sample_rate) as positive_ratings_estimate,
    estimate(negative_ratings, sample_rate) as negative_ratings_estimate,
    estimate(skipped_ratings, sample_rate) as skipped_ratings_estimate,
    estimate(no_feedback_count, sample_rate) as no_feedback_estimate
from core__session_figures
where is_slice
order by tenant_id, workspace_id, slice_id, date
