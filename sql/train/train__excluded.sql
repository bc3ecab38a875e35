-- One candidate that did not leave, with the one reason (T1).
-- grain: release_date, id
-- inputs: core__feedback_candidates, core__distillation_candidates, core__candidate_rivals
-- params: release_date

with candidates as (
    select id, format, source, origin_id, partner_id, early_reason, late_reason, quality_weight, prompt_key
    from core__feedback_candidates

    union all

    select id, format, source, origin_id, partner_id, early_reason, late_reason, quality_weight, prompt_key
    from core__distillation_candidates
),

judged as (
    select
        candidates.id,
        candidates.format,
        candidates.source,
        candidates.origin_id,
        candidates.partner_id,
        candidates.quality_weight,
        candidates.prompt_key,
        -- a rival's reason comes before a late one; who has a late one has no duplicate (core__candidate_rivals)
        coalesce(early_reason, core__candidate_rivals.reason, late_reason) as reason,
        core__candidate_rivals.duplicate_of
    from candidates
    left join core__candidate_rivals using (id)
)

select
    id,
    format,
    source,
    if(partner_id is null, [origin_id], [origin_id, partner_id]) as origin_ids,
    reason,
    duplicate_of,
    quality_weight,
    prompt_key,
    $release_date::date as release_date
from judged
where reason is not null
order by release_date, id
