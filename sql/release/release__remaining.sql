-- One candidate that leaves unless it leaks (T3).
-- grain: id
-- inputs: core__contenders, core__recipe_exclusions, core__duplicates, core__near_duplicates, core__prompts
-- params: none

with gone as (
    select id from core__recipe_exclusions
    union all
    select id from core__duplicates
    union all
    select id from core__near_duplicates
)

select
    core__contenders.id, core__contenders.format, core__contenders.source, core__contenders.is_distilled,
    core__contenders.origin_id, core__contenders.partner_id, core__contenders.event_date,
    core__contenders.partner_event_date, core__contenders.has_items, core__contenders.component,
    core__contenders.split in ('validation', 'test') as is_evaluation,
    core__contenders.split in ('validation', 'test') and core__prompts.crossing is not null as is_crossing
from core__contenders
anti join gone on core__contenders.id = gone.id
join core__prompts on core__contenders.prompt_key = core__prompts.prompt_key
where core__contenders.reason is null
order by id
