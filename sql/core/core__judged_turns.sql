-- One explicit vote on a turn the detector took for rejected or accepted, and whether it agrees (C7): what calibration is made of.
-- grain: signal_id
-- inputs: core__turns, core__signals
-- params: none

with told as (
    -- of a neutral turn the detector claims nothing
    select turn_key, feedback_status, feedback_confidence, reason
    from core__turns
    where feedback_status in ('rejected', 'accepted')
),

said as (
    select
        signal_id, answer_ref, user_id, event_date, occurred_at, polarity,
        if(system = 'feedback', 'ratings', 'reactions') as compared_with
    from core__signals
    where is_explicit
        and polarity in ('positive', 'negative')
        and (kind in ('rating', 'comment') and system = 'feedback' or system = 'reactions')
)

select
    said.signal_id,
    said.compared_with,
    told.turn_key,
    told.feedback_status as detected,
    told.feedback_confidence,
    least(floor(told.feedback_confidence * 10 + 1e-9)::bigint, 9) as confidence_decile,
    told.reason,
    said.polarity,
    said.polarity = if(told.feedback_status = 'accepted', 'positive', 'negative') as is_right,
    said.user_id,
    said.event_date,
    said.occurred_at
from said
join told on said.answer_ref = told.turn_key
order by said.signal_id
