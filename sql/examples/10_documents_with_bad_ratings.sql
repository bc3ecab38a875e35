-- Which documents go with bad ratings, by name, and beyond what chance explains?
select
    tenant_id, workspace_id, coalesce(document_name, document_id) as document, document_type, session_count,
    positive_count + negative_count as rated_count, effectiveness, effectiveness_low, effectiveness_high,
    association, association_low, association_high
from documents
where effectiveness is not null
order by association_high, association, tenant_id, workspace_id, document
