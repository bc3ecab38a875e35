-- Which customers' workspaces are least happy?
select tenant_id, coalesce(workspace_name, workspace_id) as workspace, rated_count, positive_rate, positive_rate_low,
    positive_rate_high, last_day
from workspaces
where rated_count >= 5
order by positive_rate_high, positive_rate, tenant_id, workspace
