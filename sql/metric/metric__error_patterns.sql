-- One week, domain and kind of complaint: how often, and whether its share is rising (F12).
-- grain: week_start, domain, pattern
-- inputs: core__feedback_counts
-- params: none

with complaints as (
    select
        date_trunc('week', event_date)::date as week_start,
        domain,
        case
            when effective_type = 'correction' then error_type
            when effective_type = 'flag' then flag_type
            else 'thumbs_down'
        end as pattern,
        feedback_count
    from core__feedback_counts
    where sentiment = 'negative' or effective_type in ('correction', 'flag')
),

weekly as (
    select week_start, domain, pattern, sum(feedback_count)::bigint as signals
    from complaints
    group by week_start, domain, pattern
),

domain_weekly as (
    select week_start, domain, sum(signals)::bigint as signals
    from weekly
    group by week_start, domain
),

-- what a week says is handed on to each of the 4 after it, for the pattern and for its domain
weeks_after as (
    select days
    from (values (7), (14), (21), (28)) as weeks_after (days)
),

handed_on as (
    select weekly.week_start + weeks_after.days as week_start, weekly.domain, weekly.pattern, weekly.signals
    from weekly
    cross join weeks_after
),

earlier as (
    select week_start, domain, pattern, sum(signals)::bigint as signals
    from handed_on
    group by week_start, domain, pattern
),

domain_earlier as (
    select week_start, domain, sum(signals)::bigint as signals
    from handed_on
    group by week_start, domain
),

compared as (
    select
        weekly.week_start,
        weekly.domain,
        weekly.pattern,
        weekly.signals as n1,
        this_domain.signals as m1,
        coalesce(earlier.signals, 0) as n2,
        coalesce(domain_earlier.signals, 0) as m2
    from weekly
    join domain_weekly as this_domain
        on this_domain.week_start = weekly.week_start and this_domain.domain = weekly.domain
    left join earlier
        on earlier.week_start = weekly.week_start
        and earlier.domain = weekly.domain
        and earlier.pattern = weekly.pattern
    left join domain_earlier
        on domain_earlier.week_start = weekly.week_start and domain_earlier.domain = weekly.domain
),

shares as (
    select
        *,
        n1 / nullif(m1, 0) as p1,
        n2 / nullif(m2, 0) as p2,
        n1::decimal(38, 0) * m2 - n2::decimal(38, 0) * m1 as lead,
        m1::decimal(38, 0) * m2 as lead_unit
    from compared
),

-- Newcombe's interval of their difference
changes as (
    select
        *,
        difference_low(p1, m1, p2, m2) as change_low,
        difference_high(p1, m1, p2, m2) as change_high
    from shares
),

judged as (
    select
        *,
        case
            when n1 < 20 then 'too few'
            when m2 = 0 then 'new'
            when change_low > 0 then 'rising'
            when change_high < 0 then 'falling'
            else 'steady'
        end as verdict,
        if(n1 >= 20 and m2 > 0, six_decimals(n1 * change_low), null) as rank_score
    from changes
)

select
    week_start,
    domain,
    pattern,
    n1 as signal_count,
    m1 as domain_count,
    share(n1, m1) as share,
    share(n2, m2) as baseline_share,
    sign(lead) * wide_share(abs(lead), lead_unit) as share_change,
    six_decimals(change_low) as share_change_low,
    six_decimals(change_high) as share_change_high,
    verdict,
    rank_score,
    if(
        rank_score is null, null,
        row_number() over (partition by week_start order by rank_score desc nulls last, domain, pattern)
    ) as rank
from judged
order by week_start, domain, pattern
