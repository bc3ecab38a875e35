-- One candidate that does not leave because of another one: its reverse, or a heavier duplicate (T1, T2).
-- grain: id
-- inputs: core__feedback_candidates, core__distillation_candidates
-- params: none

with contenders as not materialized (
    select id, format, thread_key, side_a, side_b, late_reason, quality_weight, occurred_at
    from core__feedback_candidates
    where early_reason is null

    union all

    select id, format, thread_key, side_a, side_b, late_reason, quality_weight, occurred_at
    from core__distillation_candidates
    where early_reason is null
),

-- two pairs that are each other's reverse: neither leaves
pairs as (
    select distinct thread_key, side_a, side_b
    from contenders
    where format = 'preference' and side_a <> side_b
),

reversed_pairs as (
    select forward.thread_key, forward.side_a, forward.side_b
    from pairs as forward
    join pairs as backward
        on forward.thread_key = backward.thread_key
        and forward.side_a = backward.side_b
        and forward.side_b = backward.side_a
),

conflicting as (
    select contenders.id
    from contenders
    semi join reversed_pairs using (thread_key, side_a, side_b)
    where contenders.format = 'preference'
),

leaving as not materialized (
    select contenders.id, format, thread_key, side_a, side_b, quality_weight, occurred_at
    from contenders
    anti join conflicting using (id)
    where late_reason is null
),

repeated as (
    select format, thread_key, side_a, side_b
    from leaving
    group by format, thread_key, side_a, side_b
    having count(*) > 1
),

-- of exact duplicates the heaviest survives, then the newest, then the smallest id
ranked as (
    select
        leaving.id,
        first_value(leaving.id) over (
            partition by leaving.format, leaving.thread_key, leaving.side_a, leaving.side_b
            order by leaving.quality_weight desc, leaving.occurred_at desc, leaving.id
        ) as surviving_id
    from leaving
    semi join repeated using (format, thread_key, side_a, side_b)
)

select id, 'conflicting' as reason, null::varchar as duplicate_of
from conflicting

union all

select id, 'duplicate', surviving_id
from ranked
where id <> surviving_id
order by id
