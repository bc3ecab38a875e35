-- Days whose sessions are not positive + negative + skipped + without feedback (S1), or fewer than their sessions (S3).
-- grain: tenant_id, workspace_id, date
-- inputs: metric__session_daily, core__sessions
-- params: none

with sessions as (
    select tenant_id, workspace_id, event_date as date, count(*) as session_count
    from core__sessions
    group by tenant_id, workspace_id, event_date
)

select tenant_id, workspace_id, date, total_sessions, session_count
from metric__session_daily
full join sessions using (tenant_id, workspace_id, date)
where total_sessions is distinct from positive_ratings + negative_ratings + skipped_ratings + no_feedback_count
    or coalesce(total_sessions, 0) < session_count
    or (not is_frozen and total_sessions is distinct from session_count)
order by tenant_id, workspace_id, date
