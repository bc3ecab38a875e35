-- One day of one system's signals, and an overall line by fixed shares, never by volume (semantics N).
-- grain: event_date, system
-- inputs: core__signals
-- params: satisfaction_shares

with systems as (
    select
        (occurred_at at time zone 'UTC')::date as event_date,
        system,
        count(*) as signal_count,
        count(*) filter (where polarity = 'positive') as positive_count,
        count(*) filter (where polarity = 'negative') as negative_count,
        count(*) filter (where polarity = 'neutral') as neutral_count
    from core__signals
    group by event_date, system
),

rates as (
    select
        *,
        positive_count / signal_count as rate,
        positive_count / nullif(positive_count + negative_count, 0) as decided,
        coalesce(json_extract($satisfaction_shares::json, '$.' || system)::double, 0) as fixed_share
    from systems
),

-- decimals: the sum must not depend on its order (G2)
overall as (
    select
        event_date,
        'overall' as system,
        sum(signal_count)::bigint as signal_count,
        sum(positive_count)::bigint as positive_count,
        sum(negative_count)::bigint as negative_count,
        sum(neutral_count)::bigint as neutral_count,
        sum((fixed_share * rate)::decimal(18, 12))::double / sum(fixed_share::decimal(18, 12))::double as rate,
        sum((fixed_share * decided)::decimal(18, 12))::double
            / nullif(sum(if(decided is null, 0, fixed_share)::decimal(18, 12))::double, 0) as decided,
        sum(fixed_share::decimal(18, 12))::double as fixed_share
    from rates
    where fixed_share > 0
    group by event_date
),

lines as (
    select event_date, system, signal_count, positive_count, negative_count, neutral_count, rate, decided, fixed_share
    from rates
    union all
    select event_date, system, signal_count, positive_count, negative_count, neutral_count, rate, decided, fixed_share
    from overall
)

select
    event_date,
    system,
    signal_count,
    positive_count,
    negative_count,
    neutral_count,
    round(rate, 6) as satisfaction_rate,
    round(decided, 6) as decided_rate,
    round(fixed_share, 6) as fixed_share
from lines
order by event_date, system
