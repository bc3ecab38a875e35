-- Is the data fresh: what is the last day of each system, and up to when does the publication go?
select
    s.system,
    max(s.event_date) as last_day,
    any_value(f.as_of) as published_as_of,
    count(*) filter (where s.event_date > (f.as_of - interval 7 day)::date) as signals_of_last_7_days
from signals as s
cross join feedback_stats as f
group by s.system
order by s.system
