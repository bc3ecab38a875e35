-- One candidate that leaves: nothing speaks against it (T1). It has no `order by`: the release puts its records in an order of its own.
-- grain: id
-- inputs: core__contenders, core__recipe_exclusions, core__duplicates, core__near_duplicates, core__leaks
-- params: none

with excluded as (
    select id from core__recipe_exclusions
    union all
    select id from core__duplicates
    union all
    select id from core__near_duplicates
    union all
    select id from core__leaks
)

select
    core__contenders.id, core__contenders.format, core__contenders.source, core__contenders.origin_id,
    core__contenders.partner_id, core__contenders.event_date, core__contenders.partner_event_date,
    core__contenders.prompt_key, core__contenders.component, core__contenders.split, core__contenders.quality_weight,
    core__contenders.base_weight, core__contenders.tier, core__contenders.domain, core__contenders.language,
    core__contenders.is_refusal, core__contenders.error_type, core__contenders.label, core__contenders.is_distilled,
    core__contenders.has_items, core__contenders.votes_for, core__contenders.votes_against
from core__contenders
anti join excluded on core__contenders.id = excluded.id
where core__contenders.reason is null
