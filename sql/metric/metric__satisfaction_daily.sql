-- One day of one system's signals, and an overall line by fixed shares, never by volume (N).
-- grain: event_date, system
-- inputs: core__signals, core__feedback_counts
-- params: satisfaction_shares

-- active feedback, every row of which is a signal, is counted already: its signals would all be made for it (0.9 s a million rows)
with counted as (
    select event_date, system, polarity, 1 as signal_count
    from core__signals
    where system <> 'feedback'

    union all

    select event_date, 'feedback' as system, feedback_polarity(sentiment) as polarity, feedback_count as signal_count
    from core__feedback_counts
),

systems as (
    select
        event_date,
        system,
        sum(signal_count)::bigint as signal_count,
        coalesce(sum(signal_count) filter (where polarity = 'positive'), 0)::bigint as positive_count,
        coalesce(sum(signal_count) filter (where polarity = 'negative'), 0)::bigint as negative_count,
        coalesce(sum(signal_count) filter (where polarity = 'neutral'), 0)::bigint as neutral_count
    from counted
    group by event_date, system
),

rates as (
    select
        *,
        positive_count + negative_count as decided_count,
        share_low(positive_count, signal_count) as low,
        share_high(positive_count, signal_count) as high,
        share_low(positive_count, positive_count + negative_count) as decided_low,
        share_high(positive_count, positive_count + negative_count) as decided_high,
        millionths(coalesce(json_extract_string($satisfaction_shares, '$.' || system)::double, 0)) as share_units
    from systems
),

-- in whole numbers of 1e-15: the sum must not depend on its order (G2). Millionths first, then what they leave: so 64 bits
-- are enough for some billions of signals a day
coarse_rates as (
    select
        *,
        1000000 * positive_count // nullif(signal_count, 0) as rate_millionths,
        1000000 * positive_count % nullif(signal_count, 0) as rate_rest,
        1000000 * positive_count // nullif(decided_count, 0) as decided_millionths,
        1000000 * positive_count % nullif(decided_count, 0) as decided_rest
    from rates
    where share_units > 0
),

fine_rates as (
    select
        *,
        1000000000 * rate_millionths + (2000000000 * rate_rest + signal_count) // nullif(2 * signal_count, 0) as rate_units,
        1000000000 * decided_millionths
            + (2000000000 * decided_rest + decided_count) // nullif(2 * decided_count, 0) as decided_units
    from coarse_rates
),

-- a weighted mean is as far from its ends as its parts are from theirs, squared and added (MOVER); in whole numbers, because
-- the sum must not depend on its order
distances as (
    select
        *,
        pow(share_units * (positive_count / nullif(signal_count, 0) - low), 2) as below,
        pow(share_units * (high - positive_count / nullif(signal_count, 0)), 2) as above,
        pow(share_units * (positive_count / nullif(decided_count, 0) - decided_low), 2) as decided_below,
        pow(share_units * (decided_high - positive_count / nullif(decided_count, 0)), 2) as decided_above
    from fine_rates
),

overall as (
    select
        event_date,
        'overall' as system,
        sum(signal_count)::bigint as signal_count,
        sum(positive_count)::bigint as positive_count,
        sum(negative_count)::bigint as negative_count,
        sum(neutral_count)::bigint as neutral_count,
        sum(share_units::decimal(38, 0) * rate_units)::double / nullif(sum(share_units), 0) / 1e15 as rate,
        sum(share_units::decimal(38, 0) * decided_units)::double
            / nullif(sum(share_units) filter (where decided_count > 0), 0) / 1e15 as decided,
        sum(decided_count)::bigint as decided_count,
        sqrt(sum(round(1000 * below)::bigint)::double / 1000) / nullif(sum(share_units), 0) as below,
        sqrt(sum(round(1000 * above)::bigint)::double / 1000) / nullif(sum(share_units), 0) as above,
        sqrt(sum(round(1000 * decided_below)::bigint)::double / 1000)
            / nullif(sum(share_units) filter (where decided_count > 0), 0) as decided_below,
        sqrt(sum(round(1000 * decided_above)::bigint)::double / 1000)
            / nullif(sum(share_units) filter (where decided_count > 0), 0) as decided_above,
        sum(share_units)::bigint as share_units
    from distances
    group by event_date
),

lines as (
    select
        event_date, system, signal_count, positive_count, negative_count, neutral_count,
        share(positive_count, signal_count) as satisfaction_rate,
        low,
        high,
        decided_count,
        share(positive_count, decided_count) as decided_rate,
        decided_low,
        decided_high,
        share_units
    from rates
    union all
    select
        event_date, system, signal_count, positive_count, negative_count, neutral_count,
        six_decimals(rate) as satisfaction_rate,
        greatest(six_decimals(rate - below), 0) as low,
        least(six_decimals(rate + above), 1) as high,
        decided_count,
        six_decimals(decided) as decided_rate,
        if(decided is null, null, greatest(six_decimals(decided - decided_below), 0)) as decided_low,
        if(decided is null, null, least(six_decimals(decided + decided_above), 1)) as decided_high,
        share_units
    from overall
)

select
    event_date,
    system,
    signal_count,
    positive_count,
    negative_count,
    neutral_count,
    satisfaction_rate,
    low as satisfaction_rate_low,
    high as satisfaction_rate_high,
    decided_count,
    decided_rate,
    decided_low as decided_rate_low,
    decided_high as decided_rate_high,
    share_units / 1e6 as fixed_share
from lines
order by event_date, system
