-- Days whose counts by reaction or by origin do not add up to their reactions, or whose total differs from core__reactions (R2).
-- grain: event_date
-- inputs: metric__reaction_daily, core__reactions
-- params: none

with counted as (
    select event_date, count(*) as row_count
    from core__reactions
    where is_active or inactive_reason = 'expired'
    group by event_date
)

select
    coalesce(daily.event_date, counted.event_date) as event_date,
    daily.reaction_count,
    counted.row_count
from metric__reaction_daily as daily
full join counted on daily.event_date = counted.event_date
where daily.reaction_count is distinct from counted.row_count
    or daily.reaction_count <> daily.ok_count + daily.not_ok_count + daily.neutral_count
    or daily.reaction_count <> daily.user_count + daily.machine_count + daily.unknown_count
    or daily.user_count <> daily.user_ok_count + daily.user_not_ok_count + daily.user_neutral_count
    or daily.machine_count <> daily.machine_ok_count + daily.machine_not_ok_count + daily.machine_neutral_count
    or daily.unknown_count <> daily.unknown_ok_count + daily.unknown_not_ok_count + daily.unknown_neutral_count
order by event_date
