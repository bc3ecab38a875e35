-- One prompt of any candidate with texts, as masked texts have it, and one row that asks it (T3).
-- grain: prompt_key
-- inputs: core__feedback_keys, core__voices, core__distillation, core__feedback_traits, core__distilled_traits
-- params: as_of

with asked as (
    select
        coalesce(core__feedback_traits.masked_prompt_key, core__feedback_keys.prompt_key) as prompt_key,
        coalesce(core__feedback_traits.masked_split, core__feedback_keys.split) as own_split,
        core__feedback_traits.event_date,
        core__feedback_traits.origin_id,
        core__feedback_traits.has_items,
        false as is_distilled
    from core__feedback_keys
    anti join core__voices on core__feedback_keys.feedback_id = core__voices.feedback_id
    join core__feedback_traits on core__feedback_keys.feedback_id = core__feedback_traits.origin_id
    where core__feedback_keys.occurred_at < $as_of

    union all

    select
        coalesce(core__distilled_traits.masked_prompt_key, core__distillation.prompt_key),
        coalesce(core__distilled_traits.masked_split, core__distillation.split),
        core__distilled_traits.event_date,
        core__distilled_traits.origin_id,
        core__distilled_traits.has_items,
        true
    from core__distillation
    join core__distilled_traits on core__distillation.example_id = core__distilled_traits.origin_id
)

select prompt_key, own_split, event_date, origin_id, has_items, is_distilled
from asked
qualify row_number() over (partition by prompt_key order by event_date, is_distilled, origin_id) = 1
order by prompt_key
