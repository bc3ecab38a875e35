-- One day of answers to surveys.
-- grain: event_date
-- inputs: core__surveys
-- params: none

select
    event_date,
    count(*) as answer_count,
    count(*) filter (where answer = 'yes') as yes_count,
    count(*) filter (where answer = 'no') as no_count
from core__surveys
group by event_date
order by event_date
