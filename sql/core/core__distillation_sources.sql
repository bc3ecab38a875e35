-- One source row of a distilled example; rows of the same interaction are one example, and the first of them wins (D2).
-- grain: example_id, place
-- inputs: raw_distillation__distillation_examples, raw_distillation__examples, raw_distillation__raw_interactions, raw_distillation__chain_of_thought, raw_distillation__preference_pairs
-- params: as_of

with thoughts as (
    select id, prompt_key, interaction_key, occurred_at, event_date
    from raw_distillation__chain_of_thought
    where occurred_at < $as_of
),

interactions as (
    select id, prompt_key, interaction_key, thought_id, occurred_at, event_date
    from raw_distillation__raw_interactions
    where occurred_at < $as_of
),

captured as (
    select 1 as generation, 'distillation_examples' as "table", id, prompt_key, interaction_key, occurred_at, event_date
    from raw_distillation__distillation_examples
    where occurred_at < $as_of

    union all

    select 2, 'examples', id, prompt_key, interaction_key, occurred_at, event_date
    from raw_distillation__examples
    where occurred_at < $as_of

    union all

    select 3, 'raw_interactions', id, prompt_key, interaction_key, occurred_at, event_date
    from interactions

    union all

    -- a chain of thought belongs to the interaction whose prompt and response its id was made from
    select
        4, 'chain_of_thought', thoughts.id, interactions.prompt_key, interactions.interaction_key, thoughts.occurred_at,
        thoughts.event_date
    from thoughts
    join interactions on thoughts.id = interactions.thought_id

    union all

    select 5, 'chain_of_thought', thoughts.id, thoughts.prompt_key, thoughts.interaction_key, thoughts.occurred_at,
        thoughts.event_date
    from thoughts
    anti join interactions on thoughts.id = interactions.thought_id
),

-- two interactions with the same prompt and the same first words lead to the same chain of thought
distinct_rows as (
    select
        min(generation) as generation, "table", id, prompt_key, interaction_key, any_value(occurred_at) as occurred_at,
        any_value(event_date) as event_date
    from captured
    group by "table", id, prompt_key, interaction_key
),

placed as (
    select
        generation, "table", id, occurred_at, event_date,
        row_number() over interaction as place,
        first_value("table") over interaction as winning_table,
        first_value(id) over interaction as winning_id,
        first_value(event_date) over interaction as example_date
    from distinct_rows
    window interaction as (
        partition by prompt_key, interaction_key order by generation, occurred_at desc, id
    )
),

named as (
    select
        if(winning_table = 'distillation_examples', winning_id, winning_table || ':' || winning_id) as example_id,
        place, "table", id as source_id, event_date, example_date, winning_table as origin
    from placed

    union all

    -- both sides of these pairs are the teacher's, so they are examples of their own
    select 'preference_pairs:' || id, 1, 'preference_pairs', id, event_date, event_date, 'synthetic_pair'
    from raw_distillation__preference_pairs
    where occurred_at < $as_of
)

select example_id, place, "table", source_id, event_date, example_date, origin
from named
order by example_id, place
