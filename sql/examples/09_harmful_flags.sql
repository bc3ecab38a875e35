-- What was flagged as harmful and still waits for a person, and for how many days?
select q.rank, q.occurred_at, date_diff('day', q.occurred_at, f.as_of) as days_waiting, q.domain, q.flag_details,
    q.original_query, q.original_response
from core__safety_queue as q
cross join feedback_stats as f
order by q.rank
limit 20
