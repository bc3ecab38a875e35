-- What did the sources hold that was refused, and why?
with reasons as (
    select system, "table", event_date, unnest(reasons) as reason
    from quarantine
)

select system, "table", reason, count(*) as rows, min(event_date) as first_day, max(event_date) as last_day
from reasons
group by system, "table", reason
order by rows desc, system, "table", reason
