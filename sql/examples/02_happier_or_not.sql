-- Are users happier than four weeks before, overall and per system, and can the difference be chance?
with weeks as (
    select
        m.system,
        m.event_date > (f.as_of - interval 29 day)::date as is_recent,
        sum(m.positive_count) as positive_count,
        sum(m.decided_count) as decided_count
    from metric__satisfaction_daily as m
    cross join feedback_stats as f
    where m.event_date > (f.as_of - interval 57 day)::date
    group by m.system, is_recent
)

select
    now.system,
    before.positive_count / nullif(before.decided_count, 0) as rate_before,
    before.decided_count as n_before,
    now.positive_count / nullif(now.decided_count, 0) as rate_now,
    now.decided_count as n_now,
    rate_now - rate_before as change,
    1.96
        * sqrt(rate_now * (1 - rate_now) / nullif(n_now, 0) + rate_before * (1 - rate_before) / nullif(n_before, 0)) as plus_or_minus
from weeks as now
join weeks as before on before.system = now.system and now.is_recent and not before.is_recent
where now.decided_count > 0 and before.decided_count > 0
order by now.system
