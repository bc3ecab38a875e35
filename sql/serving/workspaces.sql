-- One workspace of a customer: its AI sessions and how they were rated, by name where a node of the source is the workspace.
-- grain: tenant_id, workspace_id
-- inputs: core__sessions, raw_sessions__context_nodes
-- params: none

with counted as (
    select
        tenant_id,
        workspace_id,
        min(event_date) as first_day,
        max(event_date) as last_day,
        count(*) as session_count,
        count(*) filter (where rating = 'positive') as positive_count,
        count(*) filter (where rating = 'negative') as negative_count,
        count(*) filter (where rating in ('positive', 'negative')) as rated_count
    from core__sessions
    group by tenant_id, workspace_id
)

select
    counted.tenant_id,
    counted.workspace_id,
    nodes.name as workspace_name,
    counted.first_day,
    counted.last_day,
    counted.session_count,
    counted.positive_count,
    counted.negative_count,
    counted.rated_count,
    share(counted.positive_count, counted.rated_count) as positive_rate,
    share_low(counted.positive_count, counted.rated_count) as positive_rate_low,
    share_high(counted.positive_count, counted.rated_count) as positive_rate_high
from counted
left join raw_sessions__context_nodes as nodes
    on nodes.id = counted.workspace_id and (nodes.tenant_id = counted.tenant_id or nodes.tenant_id is null)
