-- One format and split of one training release: how many records it has (T5).
-- grain: release, format, split
-- inputs: train__instruction, train__cot, train__correction, train__preference, train__unpaired
-- params: none

with records as (
    select release, release_date, 'instruction' as format, split, quality_weight
    from train__instruction
    union all
    select release, release_date, 'cot' as format, split, quality_weight
    from train__cot
    union all
    select release, release_date, 'correction' as format, split, quality_weight
    from train__correction
    union all
    select release, release_date, 'preference' as format, split, quality_weight
    from train__preference
    union all
    select release, release_date, 'unpaired' as format, split, quality_weight
    from train__unpaired
),

counted as (
    -- the second release of a day is called 20260131.2
    select
        release,
        release_date,
        coalesce(split_part(release, '.', 2)::varchar, '') as number,
        format,
        split,
        count(*) as record_count,
        sum(millionths(quality_weight)) as weight_sum
    from records
    group by release, release_date, format, split
),

newest as (
    select release_date, length(number) as digits, number
    from counted
    qualify row_number() over (partition by true order by release_date desc, length(number) desc, number desc) = 1
)

select
    counted.release,
    counted.release_date,
    newest.release_date is not null as is_newest,
    counted.format,
    counted.split,
    counted.record_count,
    share_of_millionths(counted.weight_sum, counted.record_count) as mean_weight
from counted
left join newest on newest.release_date = counted.release_date and newest.number = counted.number
