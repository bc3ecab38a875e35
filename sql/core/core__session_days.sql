-- One day of a workspace's AI sessions as they add up now, whatever is frozen (S1, S2).
-- grain: tenant_id, workspace_id, date
-- inputs: core__session_figures
-- params: none

select
    tenant_id, workspace_id, date, total_sessions, positive_ratings, negative_ratings, skipped_ratings, no_feedback_count,
    first_pass_acceptance_rate, average_edit_distance, error_category_counts, avg_accuracy_score, avg_completeness_score,
    avg_style_match_score, reviewed_count, output_issue_counts, missing_context_count, missing_context_rate, sample_rate
from core__session_figures
where not is_slice
order by tenant_id, workspace_id, date
