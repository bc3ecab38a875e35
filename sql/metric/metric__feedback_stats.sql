-- One row: the figures of seed 0's GET /api/feedback/stats at as_of (F11).
-- grain: as_of
-- inputs: core__feedback
-- params: as_of

with active as (
    select effective_type, sentiment, is_processed, quality_weight, occurred_at
    from core__feedback
    where status = 'active'
),

counted as (
    select
        count(*) as rows_all,
        count(*) filter (where effective_type = 'rating') as ratings,
        count(*) filter (where effective_type = 'correction') as corrections,
        count(*) filter (where effective_type = 'preference') as preferences,
        count(*) filter (where effective_type = 'flag') as flags,
        count(*) filter (where sentiment = 'positive') as up,
        count(*) filter (where sentiment = 'negative') as down,
        count(*) filter (where is_processed) as processed,
        sum(millionths(quality_weight)) as weight_micros,
        count(*) filter (where quality_weight >= 0.7) as high_quality,
        count(*) filter (where occurred_at >= $as_of::timestamptz - interval 24 hours) as recent
    from active
)

select
    $as_of::timestamptz as as_of,
    rows_all as total_feedback,
    ratings as rating_count,
    corrections as correction_count,
    preferences as preference_count,
    flags as flag_count,
    up as positive_count,
    down as negative_count,
    sign(up - down) * share(abs(up - down), up + down) as net_sentiment,
    processed as processed_count,
    rows_all - processed as pending_count,
    share_of_millionths(weight_micros, rows_all) as avg_weight,
    high_quality as high_quality_count,
    recent as recent_24h
from counted
order by as_of
