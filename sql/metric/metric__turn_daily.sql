-- One day of turns: what the next messages say of them, and how far the source's own status is off.
-- grain: event_date
-- inputs: core__turns
-- params: none

with turns as (
    select
        event_date, thread_id, feedback_status, correction_type, satisfaction_score, consecutive_rejections, source_status,
        is_disputed
    from core__turns
),

counted as (
    select
        event_date,
        count(*) as turn_count,
        count(distinct thread_id) as session_count,
        count(*) filter (where feedback_status = 'rejected') as rejected_count,
        count(*) filter (where feedback_status = 'accepted') as accepted_count,
        count(*) filter (where feedback_status = 'neutral') as neutral_count,
        count(*) filter (where correction_type = 'explicit') as explicit_count,
        count(*) filter (where correction_type = 'rephrased') as rephrased_count,
        count(*) filter (where correction_type = 'abandonment') as abandonment_count,
        count(satisfaction_score) as satisfaction_count,
        -- scores are added as whole numbers, because floating addition is not repeatable (G2)
        sum(millionths(satisfaction_score)) as satisfaction_sum,
        count(distinct thread_id) filter (where consecutive_rejections >= 2) as repeated_rejection_sessions,
        count(source_status) as source_status_count,
        count(*) filter (where is_disputed) as disputed_count
    from turns
    group by event_date
)

select
    event_date,
    turn_count,
    session_count,
    rejected_count,
    accepted_count,
    neutral_count,
    explicit_count,
    rephrased_count,
    abandonment_count,
    share(rejected_count, turn_count) as rejected_rate,
    share_low(rejected_count, turn_count) as rejected_rate_low,
    share_high(rejected_count, turn_count) as rejected_rate_high,
    share(accepted_count, turn_count) as accepted_rate,
    share_low(accepted_count, turn_count) as accepted_rate_low,
    share_high(accepted_count, turn_count) as accepted_rate_high,
    sign(satisfaction_sum) * share_of_millionths(abs(satisfaction_sum), satisfaction_count)
        as mean_satisfaction,
    satisfaction_count,
    repeated_rejection_sessions,
    source_status_count,
    disputed_count,
    share(disputed_count, source_status_count) as disputed_rate,
    share_low(disputed_count, source_status_count) as disputed_rate_low,
    share_high(disputed_count, source_status_count) as disputed_rate_high
from counted
order by event_date
