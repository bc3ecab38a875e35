-- One day and domain: active feedback by type and sentiment.
-- grain: event_date, domain
-- inputs: core__feedback
-- params: none

with active as (
    select event_date, domain, effective_type, sentiment, quality_weight
    from core__feedback
    where status = 'active'
),

counted as (
    select
        event_date,
        domain,
        count(*) as rows_all,
        count(*) filter (where effective_type = 'rating') as ratings,
        count(*) filter (where effective_type = 'correction') as corrections,
        count(*) filter (where effective_type = 'preference') as preferences,
        count(*) filter (where effective_type = 'flag') as flags,
        count(*) filter (where sentiment = 'positive') as up,
        count(*) filter (where sentiment = 'negative') as down,
        count(*) filter (where sentiment = 'neutral') as neutral,
        sum(millionths(quality_weight)) as weight_micros
    from active
    group by event_date, domain
)

select
    event_date,
    domain,
    rows_all as feedback_count,
    ratings as rating_count,
    corrections as correction_count,
    preferences as preference_count,
    flags as flag_count,
    up as positive_count,
    down as negative_count,
    neutral as neutral_count,
    share_of_millionths(weight_micros, rows_all) as mean_weight,
    sign(up - down) * share(abs(up - down), up + down) as net_sentiment
from counted
order by event_date, domain
