-- One known session with active feedback (seed 0's feedback_sessions, F11).
-- grain: session_id (unordered)
-- inputs: core__feedback, raw_feedback__responses
-- params: as_of

with active as (
    select session_id, response_id, occurred_at, effective_type, sentiment, domain
    from core__feedback
    where status = 'active' and session_id is not null
),

responses as (
    select session_id, count(*) as total_responses
    from raw_feedback__responses
    where coalesce("timestamp" * 1e6 < epoch_us($as_of), true)
    group by session_id
),

counted as (
    select
        session_id,
        count(distinct response_id) as feedback_given,
        count(*) filter (where sentiment = 'positive') as positive,
        count(*) filter (where sentiment = 'negative') as negative,
        count(*) filter (where effective_type = 'correction') as corrections,
        min(epoch_us(occurred_at)) as first_us,
        max(epoch_us(occurred_at)) as last_us
    from active
    group by session_id
),

domain_counts as (
    select session_id, domain, count(*) as rows_in_domain
    from active
    group by session_id, domain
),

main_domains as (
    select session_id, first(domain order by rows_in_domain desc, domain) as primary_domain
    from domain_counts
    group by session_id
)

select
    counted.session_id,
    responses.total_responses,
    counted.feedback_given,
    round(counted.feedback_given / responses.total_responses, 6) as feedback_rate,
    counted.positive as positive_count,
    counted.negative as negative_count,
    counted.positive + counted.negative as rated_count,
    counted.corrections as correction_count,
    if(
        counted.positive + counted.negative > 0,
        round(counted.positive / (counted.positive + counted.negative), 6),
        0.5
    ) as session_quality,
    counted.first_us / 1e6 as started_at,
    counted.last_us / 1e6 as last_activity_at,
    main_domains.primary_domain,
    null::varchar as topics
from counted
join main_domains using (session_id)
left join responses using (session_id)
