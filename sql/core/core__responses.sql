-- One rated answer: what its active feedback adds up to (seed 0's feedback_aggregates, F11).
-- grain: response_id
-- inputs: core__feedback
-- params: none

with active as (
    select
        response_id, session_id, occurred_at, effective_type, sentiment, rating, rating_scale, response_confidence
    from core__feedback
    where status = 'active'
),

counted as (
    select
        response_id,
        count(*) filter (where sentiment = 'positive') as up,
        count(*) filter (where sentiment = 'negative') as down,
        count(*) filter (where effective_type = 'rating') as ratings,
        count(*) filter (where effective_type = 'correction') as corrections,
        count(*) filter (where effective_type = 'preference') as preferences,
        count(*) filter (where effective_type = 'flag') as flags,
        sum(rating) filter (where effective_type = 'rating' and rating_scale = 'five')
            / count(*) filter (where effective_type = 'rating' and rating_scale = 'five') as mean_rating,
        -- fractions are added as integers, because floating addition in parallel is not repeatable (G2)
        sum(round(response_confidence * 1e12)::hugeint)
            filter (where effective_type = 'rating' and response_confidence is not null) as confidence_sum,
        count(response_confidence) filter (where effective_type = 'rating') as confidence_count,
        min(epoch_us(occurred_at)) as first_us,
        max(epoch_us(occurred_at)) as last_us,
        list_sort(list(distinct session_id) filter (where session_id is not null)) as sessions
    from active
    group by response_id
)

select
    response_id,
    up as thumbs_up_count,
    down as thumbs_down_count,
    round(mean_rating, 6) as avg_rating,
    ratings as rating_count,
    corrections as correction_count,
    preferences as preference_count,
    flags as flag_count,
    if(up + down > 0, round((up - down) / (up + down), 6), null) as net_sentiment,
    if(
        up + down > 0 and confidence_count > 0,
        round(up / (up + down) - confidence_sum::double / 1e12 / confidence_count, 6),
        null
    ) as confidence_delta,
    first_us / 1e6 as first_feedback_at,
    last_us / 1e6 as last_feedback_at,
    coalesce(sessions, []) as session_ids
from counted
order by response_id
