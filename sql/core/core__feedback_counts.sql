-- One day, domain and kind of active feedback: how many rows, and what they weigh together; what metrics of feedback are made of.
-- grain: event_date, domain, effective_type, sentiment, error_type, flag_type
-- inputs: core__feedback
-- params: as_of

-- metrics look at this table and not at the rows themselves: those are weighed once in a run (a second each time for a million)
with active as (
    select
        event_date, domain, effective_type, sentiment, error_type, flag_type, is_processed, occurred_at,
        millionths(quality_weight) as weight_micros
    from core__feedback
    where status = 'active'
)

select
    event_date,
    domain,
    effective_type,
    sentiment,
    error_type,
    flag_type,
    count(*) as feedback_count,
    count(*) filter (where is_processed) as processed_count,
    count(*) filter (where occurred_at >= $as_of::timestamptz - interval 24 hours) as recent_24h,
    count(*) filter (where weight_micros >= 700000) as high_quality_count,
    sum(weight_micros)::bigint as weight_micros
from active
group by event_date, domain, effective_type, sentiment, error_type, flag_type
order by event_date, domain, effective_type, sentiment, error_type, flag_type
