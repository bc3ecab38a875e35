-- One day and domain: active feedback by type and sentiment.
-- grain: event_date, domain
-- inputs: core__feedback_counts
-- params: none

with counted as (
    select
        event_date,
        domain,
        sum(feedback_count)::bigint as rows_all,
        coalesce(sum(feedback_count) filter (where effective_type = 'rating'), 0)::bigint as ratings,
        coalesce(sum(feedback_count) filter (where effective_type = 'correction'), 0)::bigint as corrections,
        coalesce(sum(feedback_count) filter (where effective_type = 'preference'), 0)::bigint as preferences,
        coalesce(sum(feedback_count) filter (where effective_type = 'flag'), 0)::bigint as flags,
        coalesce(sum(feedback_count) filter (where sentiment = 'positive'), 0)::bigint as up,
        coalesce(sum(feedback_count) filter (where sentiment = 'negative'), 0)::bigint as down,
        coalesce(sum(feedback_count) filter (where sentiment = 'neutral'), 0)::bigint as neutral,
        sum(weight_micros)::bigint as weight_micros
    from core__feedback_counts
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
    up + down as rated_count,
    share_of_millionths(weight_micros, rows_all) as mean_weight,
    sign(up - down) * share(abs(up - down), up + down) as net_sentiment,
    six_decimals(2 * share_low(up, up + down) - 1) as net_sentiment_low,
    six_decimals(2 * share_high(up, up + down) - 1) as net_sentiment_high
from counted
order by event_date, domain
