-- One workspace with fewer than 20 rated sessions, beside the rates of other tenants where those may be told (S7).
-- grain: tenant_id, workspace_id
-- inputs: core__sessions
-- params: none

with workspaces as (
    select tenant_id, workspace_id, count(*) filter (where rating in ('positive', 'negative')) as rated_count
    from core__sessions
    group by tenant_id, workspace_id
    having rated_count < 20
),

tenants as (
    select
        tenant_id,
        count(*) filter (where rating in ('positive', 'negative')) as rated,
        count(*) filter (where rating = 'positive') as positives,
        count(verdict) as reviewed,
        count(*) filter (where verdict = 'approved') as approved,
        count(edit_distance_pct) filter (where feedback_id is not null) as edits,
        coalesce(sum(edit_distance_pct) filter (where feedback_id is not null), 0)::bigint as edit_sum
    from core__sessions
    group by tenant_id
    having rated > 0
),

-- what the other tenants add up to, for every tenant with such a workspace
seekers as (
    select distinct tenant_id
    from workspaces
),

others as (
    select
        seekers.tenant_id,
        count(tenants.tenant_id) as other_tenant_count,
        coalesce(sum(rated), 0)::bigint as rated,
        max(rated) as largest,
        sum(positives)::bigint as positives,
        sum(reviewed)::bigint as reviewed,
        sum(approved)::bigint as approved,
        sum(edits)::bigint as edits,
        sum(edit_sum)::bigint as edit_sum
    from seekers
    left join tenants on tenants.tenant_id <> seekers.tenant_id
    group by seekers.tenant_id
),

judged as (
    select *, coalesce(other_tenant_count >= 5 and 2 * largest <= rated, false) as has_baseline
    from others
)

select
    workspaces.tenant_id,
    workspaces.workspace_id,
    workspaces.rated_count,
    other_tenant_count,
    share(largest, rated) as largest_tenant_share,
    has_baseline,
    if(has_baseline, rated, null) as baseline_rated_count,
    if(has_baseline, share(positives, rated), null) as baseline_positive_rate,
    if(has_baseline, two_decimals(100 * approved, reviewed), null)
        as baseline_acceptance_rate,
    if(has_baseline, two_decimals(edit_sum, edits), null) as baseline_edit_distance
from workspaces
join judged using (tenant_id)
order by workspaces.tenant_id, workspaces.workspace_id
