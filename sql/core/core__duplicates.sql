-- One candidate that says the very same as another one of its format, masked items aside, and the one that leaves instead (T2).
-- grain: id
-- inputs: core__contenders, core__recipe_exclusions
-- params: none

with remaining as (
    select
        core__contenders.id, core__contenders.format, core__contenders.thread_key, core__contenders.side_a,
        core__contenders.side_b, core__contenders.quality_weight, core__contenders.occurred_at
    from core__contenders
    anti join core__recipe_exclusions on core__contenders.id = core__recipe_exclusions.id
    where core__contenders.reason is null
),

repeated as (
    select format, thread_key, side_a, side_b
    from remaining
    group by format, thread_key, side_a, side_b
    having count(*) > 1
),

-- the heaviest survives, then the newest, then the smallest id
ranked as (
    select
        remaining.id,
        first_value(remaining.id) over (
            partition by remaining.format, remaining.thread_key, remaining.side_a, remaining.side_b
            order by remaining.quality_weight desc, remaining.occurred_at desc, remaining.id
        ) as surviving_id
    from remaining
    semi join repeated using (format, thread_key, side_a, side_b)
)

select id, surviving_id as duplicate_of
from ranked
where id <> surviving_id
order by id
