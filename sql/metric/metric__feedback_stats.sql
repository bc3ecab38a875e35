-- One row: the figures of seed 0's GET /api/feedback/stats at as_of (F11).
-- grain: as_of
-- inputs: core__feedback_counts
-- params: as_of

with counted as (
    select
        coalesce(sum(feedback_count), 0)::bigint as rows_all,
        coalesce(sum(feedback_count) filter (where effective_type = 'rating'), 0)::bigint as ratings,
        coalesce(sum(feedback_count) filter (where effective_type = 'correction'), 0)::bigint as corrections,
        coalesce(sum(feedback_count) filter (where effective_type = 'preference'), 0)::bigint as preferences,
        coalesce(sum(feedback_count) filter (where effective_type = 'flag'), 0)::bigint as flags,
        coalesce(sum(feedback_count) filter (where sentiment = 'positive'), 0)::bigint as up,
        coalesce(sum(feedback_count) filter (where sentiment = 'negative'), 0)::bigint as down,
        coalesce(sum(processed_count), 0)::bigint as processed,
        sum(weight_micros)::bigint as weight_micros,
        coalesce(sum(high_quality_count), 0)::bigint as high_quality,
        coalesce(sum(recent_24h), 0)::bigint as recent
    from core__feedback_counts
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
