-- One candidate that did not leave, with the one reason (T1).
-- grain: release_date, id (unordered)
-- inputs: core__training_candidates, core__candidate_rivals
-- params: release_date

with judged as (
    select
        core__training_candidates.id,
        core__training_candidates.event_date,
        core__training_candidates.format,
        core__training_candidates.source,
        core__training_candidates.feedback_id,
        core__training_candidates.partner_id,
        case
            when early_reason is not null then early_reason
            when core__candidate_rivals.reason = 'conflicting' then 'conflicting'
            when late_reason is not null then late_reason
            else core__candidate_rivals.reason
        end as reason,
        core__candidate_rivals.duplicate_of
    from core__training_candidates
    left join core__candidate_rivals using (id)
)

select
    id,
    format,
    source,
    if(partner_id is null, [feedback_id], [feedback_id, partner_id]) as origin_ids,
    reason,
    duplicate_of,
    $release_date::date as release_date
from judged
where reason is not null
