-- Who complains most often, and of how much they say is that a part?
select
    user_id,
    count(*) as signals,
    count(*) filter (where polarity = 'negative') as complaints,
    count(*) filter (where polarity = 'negative') / nullif(count(*), 0) as share_of_complaints,
    count(distinct event_date) as days
from signals
where user_id is not null
group by user_id
having complaints > 0
order by complaints desc, user_id
limit 20
