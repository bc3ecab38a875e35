-- One candidate that did not leave in the newest release of a day, with the one reason and the release's name (T1, T5).
-- grain: release, id
-- inputs: train__excluded, train__instruction, train__cot, train__correction, train__preference, train__unpaired
-- params: none

with named as (
    select release_date, release
    from train__instruction
    union
    select release_date, release
    from train__cot
    union
    select release_date, release
    from train__correction
    union
    select release_date, release
    from train__preference
    union
    select release_date, release
    from train__unpaired
),

-- the second release of a day is called 20260131.2
newest_of_days as (
    select release_date, release
    from named
    qualify row_number() over (partition by release_date order by length(release) desc, release desc) = 1
),

last_day as (
    select max(release_date) as release_date
    from train__excluded
)

select
    coalesce(newest_of_days.release, strftime(excluded.release_date, '%Y%m%d')) as release,
    excluded.release_date,
    last_day.release_date is not null as is_newest,
    excluded.id,
    excluded.format,
    excluded.source,
    excluded.origin_ids,
    excluded.reason,
    excluded.duplicate_of,
    excluded.detail,
    excluded.quality_weight,
    excluded.prompt_key
from train__excluded as excluded
left join newest_of_days on newest_of_days.release_date = excluded.release_date
left join last_day on last_day.release_date = excluded.release_date
