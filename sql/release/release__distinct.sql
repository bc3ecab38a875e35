-- One candidate that is left after exact duplicates, best first, with what tells whether it says nearly the same as another (T6).
-- grain: format, place
-- inputs: core__contenders, core__recipe_exclusions, core__duplicates, core__feedback_traits, core__distilled_traits
-- params: format

with gone as (
    select id from core__recipe_exclusions
    union all
    select id from core__duplicates
),

remaining as (
    select
        core__contenders.id, core__contenders.format, core__contenders.label, core__contenders.source,
        core__contenders.is_distilled, core__contenders.origin_id, core__contenders.partner_id, core__contenders.event_date,
        core__contenders.partner_event_date, core__contenders.has_items, core__contenders.quality_weight,
        core__contenders.occurred_at
    from core__contenders
    anti join gone on core__contenders.id = gone.id
    where core__contenders.reason is null and core__contenders.format = $format
),

traits as (
    select origin_id, false as is_distilled, asked_form, answer_form, better_form, note_form
    from core__feedback_traits

    union all

    select origin_id, true, asked_form, answer_form, better_form, note_form
    from core__distilled_traits
),

-- what it teaches, and what that is set against
formed as (
    select
        remaining.id,
        remaining.format,
        remaining.label,
        remaining.source,
        remaining.is_distilled,
        remaining.origin_id,
        remaining.partner_id,
        remaining.event_date,
        remaining.partner_event_date,
        remaining.has_items,
        remaining.quality_weight,
        remaining.occurred_at,
        traits.asked_form as prompt_form,
        case
            when remaining.partner_id is not null then partners.answer_form
            when remaining.source = 'feedback_correction' then traits.note_form
            when remaining.source in ('feedback_positive', 'feedback_rating') then traits.answer_form
            else traits.better_form
        end as target_form,
        -- which text of its own row, where no partner's answer is it: signatures are too large to go through a query
        case
            when remaining.source = 'feedback_correction' then 'note'
            when remaining.source in ('feedback_positive', 'feedback_rating') then 'answer'
            else 'better'
        end as target_role,
        if(remaining.format in ('preference', 'correction'), traits.answer_form, null) as rejected_form
    from remaining
    join traits on remaining.origin_id = traits.origin_id and remaining.is_distilled = traits.is_distilled
    left join core__feedback_traits as partners on remaining.partner_id = partners.origin_id
)

select
    id, format, label, source, is_distilled, origin_id, partner_id, event_date, partner_event_date, has_items,
    row_number() over (partition by format order by quality_weight desc, occurred_at desc, id) as place,
    prompt_form, target_form, target_role, rejected_form
from formed
order by format, place
