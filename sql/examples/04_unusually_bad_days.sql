-- Which days were bad even if one allows for chance: the upper end of the interval lies below the usual share?
with usual as (
    select system, sum(positive_count) / nullif(sum(decided_count), 0) as usual_rate
    from metric__satisfaction_daily
    group by system
)

select m.event_date, m.system, m.decided_count, m.decided_rate, m.decided_rate_low, m.decided_rate_high, u.usual_rate
from metric__satisfaction_daily as m
join usual as u on u.system = m.system
where m.decided_rate_high < u.usual_rate
order by m.event_date desc, m.system
