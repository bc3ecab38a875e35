-- How often do reviewers accept the first version, by customer and week?
select
    tenant_id,
    date_trunc('week', date)::date as week,
    sum(reviewed_count) as reviews,
    round(sum(first_pass_acceptance_rate * reviewed_count) / nullif(sum(reviewed_count), 0), 1) as accepted_percent,
    round(sum(average_edit_distance * with_feedback_count) / nullif(sum(with_feedback_count), 0), 1) as edited_percent
from feedback_metrics_daily
group by tenant_id, week
order by tenant_id, week
