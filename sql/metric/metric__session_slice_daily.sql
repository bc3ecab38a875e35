-- One day of a slice of a workspace, sessions without a slice under null: the figures as they add up now (S2).
-- grain: tenant_id, workspace_id, slice_id, date
-- inputs: core__session_figures
-- params: none

-- the rate as a whole number, so that a count over it is rounded as it is (sql/README.md)
with scaled as (
    select
        tenant_id, workspace_id, slice_id, date, total_sessions, positive_ratings, negative_ratings, skipped_ratings,
        no_feedback_count, first_pass_acceptance_rate, average_edit_distance, error_category_counts, avg_accuracy_score,
        avg_completeness_score, avg_style_match_score, reviewed_count, output_issue_counts, missing_context_count,
        missing_context_rate, sample_rate, round(sample_rate * 1e12)::decimal(38, 0) as sample_units
    from core__session_figures
    where is_slice
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
    round((total_halves - total_halves % nullif(whole, 0)) / nullif(whole, 0)) / 1e6 as total_sessions_estimate,
    round((positive_halves - positive_halves % nullif(whole, 0)) / nullif(whole, 0)) / 1e6 as positive_ratings_estimate,
    round((negative_halves - negative_halves % nullif(whole, 0)) / nullif(whole, 0)) / 1e6 as negative_ratings_estimate,
    round((skipped_halves - skipped_halves % nullif(whole, 0)) / nullif(whole, 0)) / 1e6 as skipped_ratings_estimate,
    round((silent_halves - silent_halves % nullif(whole, 0)) / nullif(whole, 0)) / 1e6 as no_feedback_estimate
from estimated
order by tenant_id, workspace_id, slice_id, date
