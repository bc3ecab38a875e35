-- How did the sentiment of feedback go, week by week and domain by domain?
select
    date_trunc('week', event_date)::date as week,
    domain,
    sum(rated_count) as ratings,
    (sum(positive_count) - sum(negative_count)) / nullif(sum(rated_count), 0) as net_sentiment
from metric__feedback_daily
group by week, domain
order by week, domain
