-- How often are answers rejected in conversations, how, and how sure is the share?
select event_date, turn_count, rejected_count, rejected_rate, rejected_rate_low, rejected_rate_high, explicit_count,
    rephrased_count, abandonment_count, repeated_rejection_sessions
from metric__turn_daily
order by event_date
