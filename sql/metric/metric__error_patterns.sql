-- One week, domain and kind of complaint: how often, and whether its share is rising (F12).
-- grain: week_start, domain, pattern
-- inputs: core__feedback
-- params: none

with complaints as (
    select
        date_trunc('week', event_date)::date as week_start,
        domain,
        case
            when effective_type = 'correction' then error_type
            when effective_type = 'flag' then flag_type
            else 'thumbs_down'
        end as pattern
    from core__feedback
    where status = 'active' and (sentiment = 'negative' or effective_type in ('correction', 'flag'))
),

weekly as (
    select week_start, domain, pattern, count(*) as signals
    from complaints
    group by week_start, domain, pattern
),

domain_weekly as (
    select week_start, domain, sum(signals)::bigint as signals
    from weekly
    group by week_start, domain
),

-- the 4 weeks before, for the pattern and for its domain
compared as (
    select
        weekly.week_start,
        weekly.domain,
        weekly.pattern,
        weekly.signals as n1,
        this_domain.signals as m1,
        coalesce((
            select sum(earlier.signals)
            from weekly as earlier
            where earlier.domain = weekly.domain and earlier.pattern = weekly.pattern
                and earlier.week_start between weekly.week_start - 28 and weekly.week_start - 7
        ), 0)::bigint as n2,
        coalesce((
            select sum(earlier.signals)
            from domain_weekly as earlier
            where earlier.domain = weekly.domain
                and earlier.week_start between weekly.week_start - 28 and weekly.week_start - 7
        ), 0)::bigint as m2
    from weekly
    join domain_weekly as this_domain
        on this_domain.week_start = weekly.week_start and this_domain.domain = weekly.domain
),

shares as (
    select
        *,
        n1 / m1 as p1,
        if(m2 > 0, n2 / m2, null) as p2,
        n1::hugeint * m2 - n2::hugeint * m1 as lead,
        m1::hugeint * m2 as lead_unit,
        1.959964 as z
    from compared
),

-- Wilson's interval of each share
wilson as (
    select
        *,
        (p1 + z * z / (2 * m1) - z * sqrt(p1 * (1 - p1) / m1 + z * z / (4 * m1 * m1))) / (1 + z * z / m1) as low1,
        (p1 + z * z / (2 * m1) + z * sqrt(p1 * (1 - p1) / m1 + z * z / (4 * m1 * m1))) / (1 + z * z / m1) as high1,
        if(m2 > 0, (p2 + z * z / (2 * m2) - z * sqrt(p2 * (1 - p2) / m2 + z * z / (4 * m2 * m2))) / (1 + z * z / m2), null) as low2,
        if(m2 > 0, (p2 + z * z / (2 * m2) + z * sqrt(p2 * (1 - p2) / m2 + z * z / (4 * m2 * m2))) / (1 + z * z / m2), null) as high2
    from shares
),

-- Newcombe's interval of their difference
changes as (
    select
        *,
        p1 - p2 - sqrt(pow(p1 - low1, 2) + pow(high2 - p2, 2)) as change_low,
        p1 - p2 + sqrt(pow(high1 - p1, 2) + pow(p2 - low2, 2)) as change_high
    from wilson
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
        if(n1 >= 20 and m2 > 0, round(round(n1 * change_low * 1e12) / 1e6) / 1e6, null) as rank_score
    from changes
)

select
    week_start,
    domain,
    pattern,
    n1 as signal_count,
    m1 as domain_count,
    ((2000000 * n1 + m1) // nullif(2 * m1, 0)) / 1e6 as share,
    ((2000000 * n2 + m2) // nullif(2 * m2, 0)) / 1e6 as baseline_share,
    sign(lead) * ((2000000 * abs(lead) + lead_unit) // nullif(2 * lead_unit, 0)) / 1e6 as share_change,
    round(round(change_low * 1e12) / 1e6) / 1e6 as share_change_low,
    round(round(change_high * 1e12) / 1e6) / 1e6 as share_change_high,
    verdict,
    rank_score,
    if(
        rank_score is null, null,
        row_number() over (partition by week_start order by rank_score desc nulls last, domain, pattern)
    ) as rank
from judged
order by week_start, domain, pattern
