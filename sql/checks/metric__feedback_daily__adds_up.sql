-- Days whose counts by type do not add up to their rows, or whose total differs from the active rows (G3).
-- grain: event_date
-- inputs: metric__feedback_daily, core__feedback
-- params: none

with daily as (
    select
        event_date,
        sum(feedback_count) as counted,
        sum(rating_count + correction_count + preference_count + flag_count) as by_type
    from metric__feedback_daily
    group by event_date
),

active as (
    select event_date, count(*) as rows_active
    from core__feedback
    where status = 'active'
    group by event_date
)

select event_date, counted, by_type, rows_active
from daily
full join active using (event_date)
where counted is distinct from by_type or counted is distinct from rows_active
order by event_date
