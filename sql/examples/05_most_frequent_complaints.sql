-- What do people complain of most in the last 30 days, and in which system?
select
    c.system,
    coalesce(c.problem, c.kind) as problem,
    count(*) as complaints,
    count(distinct c.user_id) as people
from complaints as c
cross join feedback_stats as f
where c.event_date > (f.as_of - interval 31 day)::date
group by c.system, coalesce(c.problem, c.kind)
order by complaints desc, c.system, problem
