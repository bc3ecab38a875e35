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
        m1::decimal(38, 0) * m2 as lead_unit,
        1.959963984540054 as z
    from compared
),

-- Wilson's interval of each share. It stands in the query of context effectiveness too, word for word, which
-- tests/sql/test_repeated_steps.py holds: a query has no functions, and a table between would need what both compare as
-- tables of their own
centres as (
    select
        *,
        2000000 * abs(lead) + lead_unit as lead_halves,
        2 * lead_unit as lead_whole,
        p1 + z * z / nullif(2 * m1, 0) as centre1,
        p2 + z * z / nullif(2 * m2, 0) as centre2,
        z * sqrt(p1 * (1 - p1) / nullif(m1, 0) + z * z / nullif(4 * m1 * m1, 0)) as reach1,
        z * sqrt(p2 * (1 - p2) / nullif(m2, 0) + z * z / nullif(4 * m2 * m2, 0)) as reach2,
        1 + z * z / nullif(m1, 0) as spread1,
        1 + z * z / nullif(m2, 0) as spread2
    from shares
),

wilson as (
    select
        *,
        (centre1 - reach1) / nullif(spread1, 0) as low1,
        (centre1 + reach1) / nullif(spread1, 0) as high1,
        (centre2 - reach2) / nullif(spread2, 0) as low2,
        (centre2 + reach2) / nullif(spread2, 0) as high2
    from centres
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
    sign(lead) * round((lead_halves - lead_halves % nullif(lead_whole, 0)) / nullif(lead_whole, 0)) / 1e6 as share_change,
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
