-- Duplicates whose survivor does not leave, and candidates with two rivals (G3, T2).
-- grain: id
-- inputs: core__candidate_rivals, core__feedback_candidates, core__distillation_candidates, core__linked_feedback as core__feedback_keys
-- params: none

-- rivals and survivors share a prompt and context, so both are among the linked rows: 3 s less for a million rows
with candidates as (
    select id
    from core__feedback_candidates
    where early_reason is null and late_reason is null

    union all

    select id
    from core__distillation_candidates
    where early_reason is null and late_reason is null
),

leaving as (
    select id
    from candidates
    anti join core__candidate_rivals using (id)
),

unsettled as (
    select core__candidate_rivals.id
    from core__candidate_rivals
    anti join leaving on core__candidate_rivals.duplicate_of = leaving.id
    where reason = 'duplicate'
),

repeated as (
    select id
    from core__candidate_rivals
    group by id
    having count(*) > 1
)

select id from unsettled
union
select id from repeated
order by id
