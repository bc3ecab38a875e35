-- What did people say last, with what they had asked and what was answered?
select occurred_at, system, domain, problem, question, answer, said_by_user, better_answer
from complaints
where said_by_user is not null or better_answer is not null
order by occurred_at desc, signal_id
limit 20
