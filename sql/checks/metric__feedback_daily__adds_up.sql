-- Days whose counts by type do not add up to their rows, or whose total differs from the active rows (G3).
-- grain: event_date
-- inputs: metric__feedback_daily, core__feedback_keys, core__voices
-- params: as_of

with daily as (
    select
        event_date,
        sum(feedback_count) as counted,
        sum(rating_count + correction_count + preference_count + flag_count) as by_type
    from metric__feedback_daily
    group by event_date
),

-- straight from the keys: the view over them would weigh every row, to be counted
active as (
    select core__feedback_keys.event_date, count(*) as rows_active
    from core__feedback_keys
    anti join core__voices on core__feedback_keys.feedback_id = core__voices.feedback_id
    where core__feedback_keys.occurred_at < $as_of
    group by core__feedback_keys.event_date
)

select event_date, counted, by_type, rows_active
from daily
full join active using (event_date)
where counted is distinct from by_type or counted is distinct from rows_active
order by event_date
