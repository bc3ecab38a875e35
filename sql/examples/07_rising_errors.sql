-- Which kinds of complaint are on the rise, and how sure is that?
select week_start, domain, pattern, signal_count, domain_count, share, baseline_share, share_change, share_change_low,
    share_change_high, verdict
from metric__error_patterns
order by week_start desc, rank nulls last, domain, pattern
