-- How satisfied are those who react, people and machines apart?
select event_date, user_count, user_satisfaction_rate, user_satisfaction_rate_low, user_satisfaction_rate_high, machine_count,
    machine_satisfaction_rate, machine_satisfaction_rate_low, machine_satisfaction_rate_high
from metric__reaction_daily
order by event_date
