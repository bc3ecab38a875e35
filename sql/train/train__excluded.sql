-- One candidate that did not leave, with the one reason (T1).
-- grain: release_date, id
-- inputs: core__feedback_candidates, core__distillation_candidates, core__candidate_rivals, core__feedback_traits, core__distilled_traits, core__contenders, core__recipe_exclusions, core__duplicates, core__near_duplicates, core__leaks
-- params: release_date

with candidates as (
    select
        core__feedback_candidates.id, core__feedback_candidates.format, core__feedback_candidates.source,
        core__feedback_candidates.origin_id, core__feedback_candidates.partner_id, core__feedback_candidates.early_reason,
        core__feedback_candidates.late_reason, core__feedback_candidates.quality_weight,
        coalesce(core__feedback_traits.masked_prompt_key, core__feedback_candidates.prompt_key) as prompt_key
    from core__feedback_candidates
    left join core__feedback_traits on core__feedback_candidates.origin_id = core__feedback_traits.origin_id

    union all

    select
        core__distillation_candidates.id, core__distillation_candidates.format, core__distillation_candidates.source,
        core__distillation_candidates.origin_id, core__distillation_candidates.partner_id,
        core__distillation_candidates.early_reason, core__distillation_candidates.late_reason,
        core__distillation_candidates.quality_weight,
        coalesce(core__distilled_traits.masked_prompt_key, core__distillation_candidates.prompt_key)
    from core__distillation_candidates
    left join core__distilled_traits on core__distillation_candidates.origin_id = core__distilled_traits.origin_id
),

-- each candidate is in one of these at most: a reason is settled among those that no earlier one took
settled as (
    select id, reason, duplicate_of, null::varchar as detail
    from core__candidate_rivals

    union all

    select id, reason, null::varchar, detail
    from core__contenders
    where reason is not null

    union all

    select id, 'recipe', null::varchar, detail
    from core__recipe_exclusions

    union all

    select id, 'duplicate', duplicate_of, null::varchar
    from core__duplicates

    union all

    select id, 'near_duplicate', duplicate_of, null::varchar
    from core__near_duplicates

    union all

    select id, 'leak', null::varchar, null::varchar
    from core__leaks
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
        -- a rival's reason comes before a late one
        coalesce(
            candidates.early_reason,
            if(settled.reason in ('conflicting', 'outvoted'), settled.reason, null),
            candidates.late_reason,
            settled.reason
        ) as reason,
        settled.duplicate_of,
        settled.detail
    from candidates
    left join settled on candidates.id = settled.id
)

select
    id,
    format,
    source,
    if(partner_id is null, [origin_id], [origin_id, partner_id]) as origin_ids,
    reason,
    duplicate_of,
    detail,
    quality_weight,
    prompt_key,
    $release_date::date as release_date
from judged
where reason is not null
order by release_date, id
