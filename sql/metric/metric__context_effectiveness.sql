-- One document in the context of a workspace's sessions: how those were rated beside the others. An association, not an effect (S5).
-- grain: tenant_id, workspace_id, document_id
-- inputs: core__sessions, raw_sessions__context_nodes
-- params: none

with sessions as (
    select
        tenant_id,
        workspace_id,
        document_ids,
        error_categories,
        rating = 'positive' as is_positive,
        rating = 'negative' as is_negative
    from core__sessions
),

workspaces as (
    select
        tenant_id,
        workspace_id,
        count(*) filter (where is_positive) as positives,
        count(*) filter (where is_negative) as negatives
    from sessions
    group by tenant_id, workspace_id
),

uses as (
    select tenant_id, workspace_id, unnest(document_ids) as document_id, is_positive, is_negative
    from sessions
    where len(document_ids) > 0
),

documents as (
    select
        tenant_id,
        workspace_id,
        document_id,
        count(*) as session_count,
        count(*) filter (where is_positive) as positive_count,
        count(*) filter (where is_negative) as negative_count
    from uses
    group by tenant_id, workspace_id, document_id
),

complaints as (
    select tenant_id, workspace_id, document_ids, unnest(error_categories) as category
    from sessions
    where len(error_categories) > 0 and len(document_ids) > 0
),

document_complaints as (
    select tenant_id, workspace_id, unnest(document_ids) as document_id, category
    from complaints
),

complaint_counts as (
    select tenant_id, workspace_id, document_id, category, count(*) as n
    from document_complaints
    group by tenant_id, workspace_id, document_id, category
),

objects as (
    select
        tenant_id,
        workspace_id,
        document_id,
        string_agg(to_json(category)::varchar || ':' || n, ',' order by category) as categories
    from complaint_counts
    group by tenant_id, workspace_id, document_id
),

-- the sessions with the document (1), and those of the same workspace without it (2)
compared as (
    select
        documents.*,
        objects.categories,
        positive_count + negative_count as m1,
        positives + negatives - positive_count - negative_count as m2,
        positives - positive_count as n2,
        1.959964 as z
    from documents
    join workspaces using (tenant_id, workspace_id)
    left join objects using (tenant_id, workspace_id, document_id)
),

shares as (
    select
        *,
        -- below 5 rated sessions nothing is said
        if(m1 >= 5, positive_count / m1, null) as p1,
        if(m2 > 0, n2 / m2, null) as p2,
        positive_count::hugeint * m2 - n2::hugeint * m1 as lead,
        m1::hugeint * m2 as lead_unit
    from compared
),

-- Wilson's interval of each share
wilson as (
    select
        *,
        if(m1 > 0, (p1 + z * z / (2 * m1) - z * sqrt(p1 * (1 - p1) / m1 + z * z / (4 * m1 * m1))) / (1 + z * z / m1), null) as low1,
        if(m1 > 0, (p1 + z * z / (2 * m1) + z * sqrt(p1 * (1 - p1) / m1 + z * z / (4 * m1 * m1))) / (1 + z * z / m1), null) as high1,
        if(m2 > 0, (p2 + z * z / (2 * m2) - z * sqrt(p2 * (1 - p2) / m2 + z * z / (4 * m2 * m2))) / (1 + z * z / m2), null) as low2,
        if(m2 > 0, (p2 + z * z / (2 * m2) + z * sqrt(p2 * (1 - p2) / m2 + z * z / (4 * m2 * m2))) / (1 + z * z / m2), null) as high2
    from shares
),

-- Newcombe's interval of the difference
newcombe as (
    select
        *,
        p1 - p2 - sqrt(pow(p1 - low1, 2) + pow(high2 - p2, 2)) as low,
        p1 - p2 + sqrt(pow(high1 - p1, 2) + pow(p2 - low2, 2)) as high
    from wilson
),

-- a document's type is its own tenant's; ids are unique, but a copy may have a node without a tenant
nodes as (
    select id as document_id, lower(trim(type)) as document_type
    from raw_sessions__context_nodes
)

select
    tenant_id,
    workspace_id,
    document_id,
    document_type,
    session_count,
    positive_count,
    negative_count,
    if(p1 is null, null, ((2000000 * positive_count + m1) // nullif(2 * m1, 0)) / 1e6) as effectiveness,
    if(p1 is null, null, greatest(round(round(low1 * 1e12) / 1e6) / 1e6, 0)) as effectiveness_low,
    if(p1 is null, null, least(round(round(high1 * 1e12) / 1e6) / 1e6, 1)) as effectiveness_high,
    m2 as other_rated_count,
    ((2000000 * n2 + m2) // nullif(2 * m2, 0)) / 1e6 as other_positive_rate,
    if(p1 is null, null, sign(lead) * ((2000000 * abs(lead) + lead_unit) // nullif(2 * lead_unit, 0)) / 1e6) as association,
    if(low is null, null, greatest(round(round(low * 1e12) / 1e6) / 1e6, -1)) as association_low,
    if(high is null, null, least(round(round(high * 1e12) / 1e6) / 1e6, 1)) as association_high,
    '{' || coalesce(categories, '') || '}' as error_category_counts
from newcombe
left join nodes using (document_id)
order by tenant_id, workspace_id, document_id
