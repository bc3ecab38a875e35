-- What waits for a reviewer, why, and how old is it?
select q.kind, q.review_reasons, count(*) as items, min(q.event_date) as oldest_day,
    max(date_diff('day', q.event_date, f.as_of::date)) as oldest_in_days
from core__review_queue as q
cross join feedback_stats as f
group by q.kind, q.review_reasons
order by items desc, q.kind, q.review_reasons
