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
        positives - positive_count as n2,
        1.959963984540054 as z
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

-- Wilson's interval of each share. It stands in the query of error patterns too, word for word, which
-- tests/sql/test_repeated_steps.py holds: a query has no functions, and a table between would need what both compare as
-- tables of their own
centres as (
    select
        *,
        2000000 * abs(lead) + lead_unit as lead_halves,
        2 * lead_unit as lead_whole,
        p1 + z * z / nullif(2 * m1, 0) as centre1,
        p2 + z * z / nullif(2 * m2, 0) as centre2,
        z * sqrt(p1 * (1 - p1) / nullif(m1, 0) + z * z / nullif(4 * m1 * m1, 0)) as reach1,
        z * sqrt(p2 * (1 - p2) / nullif(m2, 0) + z * z / nullif(4 * m2 * m2, 0)) as reach2,
        1 + z * z / nullif(m1, 0) as spread1,
        1 + z * z / nullif(m2, 0) as spread2
    from shares
),

wilson as (
    select
        *,
        (centre1 - reach1) / nullif(spread1, 0) as low1,
        (centre1 + reach1) / nullif(spread1, 0) as high1,
        (centre2 - reach2) / nullif(spread2, 0) as low2,
        (centre2 + reach2) / nullif(spread2, 0) as high2
    from centres
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
    select id as document_id, lower(trim(type, $spaces)) as document_type
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
    if(
        p1 is null, null, sign(lead) * round((lead_halves - lead_halves % nullif(lead_whole, 0)) / nullif(lead_whole, 0)) / 1e6
    ) as association,
    if(low is null, null, greatest(round(round(low * 1e12) / 1e6) / 1e6, -1)) as association_low,
    if(high is null, null, least(round(round(high * 1e12) / 1e6) / 1e6, 1)) as association_high,
    coalesce(to_json(map_from_entries(categories))::varchar, '{}') as error_category_counts
from newcombe
left join nodes using (document_id)
order by tenant_id, workspace_id, document_id
