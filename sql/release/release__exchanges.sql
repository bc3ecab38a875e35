-- One question with its answer, by the prompt of a candidate it belongs to: its own, or one that was said before it (T3).
-- grain: prompt_key, exchange, is_earlier
-- inputs: core__feedback_keys, core__voices, core__distillation, core__feedback_traits, core__distilled_traits
-- params: as_of

with told as (
    select
        coalesce(core__feedback_traits.masked_prompt_key, core__feedback_keys.prompt_key) as prompt_key,
        core__feedback_traits.exchanges,
        core__feedback_traits.earlier_exchanges
    from core__feedback_keys
    anti join core__voices on core__feedback_keys.feedback_id = core__voices.feedback_id
    join core__feedback_traits on core__feedback_keys.feedback_id = core__feedback_traits.origin_id
    where core__feedback_keys.occurred_at < $as_of

    union all

    select
        coalesce(core__distilled_traits.masked_prompt_key, core__distillation.prompt_key),
        core__distilled_traits.exchanges,
        core__distilled_traits.earlier_exchanges
    from core__distillation
    join core__distilled_traits on core__distillation.example_id = core__distilled_traits.origin_id
),

earlier as (
    select distinct prompt_key, unnest(earlier_exchanges) as exchange
    from told
),

own as (
    select distinct prompt_key, unnest(exchanges) as exchange
    from told
),

-- what was never said before anything ties nothing
met as (
    select prompt_key, exchange, false as is_earlier
    from own
    semi join earlier on own.exchange = earlier.exchange

    union all

    select prompt_key, exchange, true
    from earlier
)

select prompt_key, exchange, is_earlier
from met
order by prompt_key, exchange, is_earlier
