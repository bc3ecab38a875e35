-- One document in the context of a workspace's sessions: how those were rated beside the others. An association, not an effect (S5).
-- grain: tenant_id, workspace_id, document_id
-- inputs: core__sessions, raw_sessions__context_nodes
-- params: spaces

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
    where array_length(document_ids) > 0
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
    where array_length(error_categories) > 0 and array_length(document_ids) > 0
),

document_complaints as (
    select tenant_id, workspace_id, unnest(document_ids) as document_id, category
    from complaints
),

complaint_counts as (
    select tenant_id, workspace_id, document_id, category, count(*) as n
    from document_complaints
    where category is not null
    group by tenant_id, workspace_id, document_id, category
),

objects as (
    select
        tenant_id,
        workspace_id,
        document_id,
        list_sort(list({category: category, n: n})) as categories
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
        positives - positive_count as n2
    from documents
    join workspaces using (tenant_id, workspace_id)
    left join objects using (tenant_id, workspace_id, document_id)
),

shares as (
    select
        *,
        -- below 5 rated sessions nothing is said
        if(m1 >= 5, positive_count / nullif(m1, 0), null) as p1,
        n2 / nullif(m2, 0) as p2,
        positive_count::decimal(38, 0) * m2 - n2::decimal(38, 0) * m1 as lead,
        m1::decimal(38, 0) * m2 as lead_unit
    from compared
),

-- Newcombe's interval of the difference
newcombe as (
    select
        *,
        difference_low(p1, m1, p2, m2) as low,
        difference_high(p1, m1, p2, m2) as high
    from shares
),

-- a document's type is its own tenant's; ids are unique, but a copy may have a node without a tenant
nodes as (
    select id as document_id, lower(trim(type, $spaces)) as document_type, nullif(trim(name, $spaces), '') as document_name
    from raw_sessions__context_nodes
)

select
    tenant_id,
    workspace_id,
    document_id,
    document_name,
    document_type,
    session_count,
    positive_count,
    negative_count,
    if(p1 is null, null, share(positive_count, m1)) as effectiveness,
    if(p1 is null, null, greatest(six_decimals(wilson_low(p1, m1)), 0)) as effectiveness_low,
    if(p1 is null, null, least(six_decimals(wilson_high(p1, m1)), 1)) as effectiveness_high,
    m2 as other_rated_count,
    share(n2, m2) as other_positive_rate,
    if(p1 is null, null, sign(lead) * wide_share(abs(lead), lead_unit)) as association,
    if(low is null, null, greatest(six_decimals(low), -1)) as association_low,
    if(high is null, null, least(six_decimals(high), 1)) as association_high,
    coalesce(to_json(map_from_entries(categories))::varchar, '{}') as error_category_counts
from newcombe
left join nodes using (document_id)
order by tenant_id, workspace_id, document_id
